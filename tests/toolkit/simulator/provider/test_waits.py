"""Readiness rules, waitFor, JSONPath."""

from typing import Any

import pytest

from toolkit.engine.prediction.inputs import ObjectType
from toolkit.engine.prediction.values import Properties
from toolkit.simulator.provider.awaiters import awaiter_for
from toolkit.simulator.provider.jsonpath import BadPathError, compile_path
from toolkit.simulator.provider.observations import Seen, pod_ready, pod_warnings
from toolkit.simulator.provider.readiness import CHECKERS
from toolkit.simulator.provider.wait_annotation import BadWaitError, split_value, timeout, wait_rule

LIVE: Properties = {
    "status": {
        "state": "AtLatestKnown",
        "ready": True,
        "count": 8,
        "conditions": [
            {"type": "Created", "status": "True", "n": 1},
            {"type": "Failed", "status": "True", "n": 2, "message": "no memory"},
            {"type": "Ready", "status": "False", "message": "not yet"},
        ],
        "configuration": {"name": "rendered", "source": [{"name": "00-worker"}, {"name": "50-ours"}]},
        "a.b": {"c d": 1},
    }
}


def requested(wait: str, **annotations: str) -> Properties:
    """Return inputs with a waitFor annotation."""
    return {"metadata": {"name": "n", "annotations": {"pulumi.com/waitFor": wait, **annotations}}}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (".status.state", ["AtLatestKnown"]),
        ("$.status.nothing", []),
        ('.status.conditions[?(@.type=="Succeeded" || @.type=="Failed")].type', ["Failed"]),
        ("$.status.conditions[?@.type == 'Failed' && @.status == 'True'].n", [2]),
        ('.status.conditions[?(!(@.type=="Created") && @.n > 1)].n', [2]),
        ("$.status.conditions[?@.message].type", ["Failed", "Ready"]),
        ('.status.configuration.source[?(@.name=="50-ours")].name', ["50-ours"]),
        ('.status.configuration.source[?search(@.name, "-w")].name', ["00-worker"]),
        ('.status.configuration.source[?(match(@.name, "[0-9]+-ours") || match(@.name, "00"))].name', ["50-ours"]),
        ('.status.conditions[?(@.n && search(@.n, "1"))].n', []),
        (".status.configuration.source[0].name", ["00-worker"]),
        (".status.configuration.source[-1].name", ["50-ours"]),
        (".status.configuration.source[1:].name", ["50-ours"]),
        (".status.configuration.source[*].name", ["00-worker", "50-ours"]),
        (".status['a.b'][\"c d\"]", [1]),
        ("$..source[0].name", ["00-worker"]),
        (".status.configuration.source[5].name", []),
        ("$.status.conditions[?@.n == null].type", []),
    ],
)
def test_jsonpath(path: str, expected: list[Any]) -> None:
    """A JSONPath selects what RFC 9535 says."""
    assert compile_path(path)(LIVE) == expected


@pytest.mark.parametrize(
    "path",
    [
        *("status", ".status[", ".a[?(@.b==)]", ".a[?length(@.b)>1]", ".a b", ".a[?(1)]", ".a[?@.b=1]", ".a-b"),
        *('.a[?@.b=="\\d"]', ".a[?(@.b && @.c==1 && @.d)]", '.a[?(@.b && search(@.b, "c") && @.d)]'),
    ],
)
def test_what_is_no_jsonpath(path: str) -> None:
    """An expression that is not a JSONPath is refused by Check."""
    with pytest.raises(BadPathError):
        compile_path(path)


@pytest.mark.parametrize(
    ("wait", "ready"),
    [
        ("condition=Created", True),
        ("condition=Ready", False),
        ("condition=Ready=False", True),
        ("condition=Nobody", False),
        ("jsonpath={.status.state}", True),
        ("jsonpath={.status.state}=AtLatestKnown", True),
        ("jsonpath={.status.state}=Other", False),
        ("jsonpath={.status.ready}=true", True),
        ("jsonpath={.status.count}=8", True),
        ("jsonpath={.status.conditions}", True),
        ("jsonpath={.status.conditions}=x", False),
        ('jsonpath={.status.conditions[?(@.type=="Succeeded" || @.type=="Failed")].type}', True),
        ('jsonpath={.status.conditions[?(@.type=="Succeeded")].status}=True', False),
        ('jsonpath={.status.conditions[?(@.type!="Created" && @.n>=2)].type}=Failed', True),
        ("jsonpath={.status.conditions[?(@.n<=0)].type}", False),
        ('jsonpath={.status.conditions[?search(@.type, "^F.{5}$")].type}=Failed', True),
        ('["condition=Created", "jsonpath={.status.state}=AtLatestKnown"]', True),
        ('["condition=Created", "condition=Ready"]', False),
    ],
)
def test_wait_for(wait: str, ready: bool) -> None:
    """A waitFor expression holds for the objects for which it holds with the official provider."""
    rule = wait_rule(requested(wait))
    assert rule is not None
    assert rule(Seen(LIVE)).ready is ready


@pytest.mark.parametrize(
    "wait",
    [
        "Ready",
        "[]",
        "jsonpath=.status",
        "jsonpath={.a}=",
        "jsonpath={.a}=x=y",
        "jsonpath={.a",
        "jsonpath={a b}",
        "jsonpath={.a}={.b}",
    ],
)
def test_bad_waits(wait: str) -> None:
    """A mistyped annotation is an error."""
    with pytest.raises(BadWaitError):
        wait_rule(requested(wait))


def test_value_is_split_outside_the_braces() -> None:
    """Signs of equality and braces of a filter do not end the path."""
    assert split_value('{.a[?(@.b=="x")].c}=y') == ('.a[?(@.b=="x")].c', "y")
    assert split_value("{ .a[?(@.b!='}=')].c }") == (".a[?(@.b!='}=')].c", "")


def test_a_status_of_an_older_generation_does_not_count() -> None:
    """What a controller said before it saw the change is not an answer to it."""
    rule = wait_rule(requested("jsonpath={.status.phase}=Ready"))
    assert rule is not None
    status = {"phase": "Ready", "observedGeneration": 1}
    assert not rule(Seen({"metadata": {"generation": 2}, "status": status})).ready


def test_annotations_win() -> None:
    """Waits can be switched off or replaced, the nearest timeout counts, and other kinds are not awaited."""
    job, live = ObjectType("batch", "v1", "Job"), {"metadata": {"name": "n"}}
    known = awaiter_for(job, {}, live, None)
    assert known is not None
    assert (known.checker, known.timed_out) == (CHECKERS["batch", "Job"], "'n' timed out waiting to be Ready")
    assert awaiter_for(job, requested("condition=A", **{"pulumi.com/skipAwait": "true"}), live, None) is None
    own = awaiter_for(job, {}, requested("condition=A"), None)
    assert own is not None
    assert own.checker is not known.checker
    assert awaiter_for(ObjectType("", "v1", "ConfigMap"), {}, live, None) is None
    limited = requested("condition=A", **{"pulumi.com/timeoutSeconds": "7"})
    assert (timeout(limited, 0, 600), timeout(limited, 3, 600), timeout({}, 0, 600)) == (7, 3, 600)
    assert timeout(requested("condition=A", **{"pulumi.com/timeoutSeconds": "soon"}), 0, 600) == 600


def observed(status: Properties, spec: Properties | None = None) -> Properties:
    """Return an object of the first generation, whose controller has seen it."""
    return {
        "metadata": {"generation": 1, "name": "n", "uid": "u", "annotations": {REVISION: "1"}},
        "spec": spec or {},
        "status": {"observedGeneration": 1, **status},
    }


REVISION = "deployment.kubernetes.io/revision"
AVAILABLE = {"conditions": [{"type": "Available", "status": "True"}]}
REPLICAS = {"replicas": 1, "readyReplicas": 1, "currentReplicas": 1, "currentRevision": "r", "updateRevision": "r"}
NODES = dict.fromkeys(
    ("desiredNumberScheduled", "currentNumberScheduled", "updatedNumberScheduled", "numberAvailable", "numberReady"), 2
)
OWNED = {"name": "n-1", "ownerReferences": [{"uid": "u"}], "annotations": {REVISION: "1"}}
SET = {"metadata": OWNED, "spec": {"replicas": 1}, "status": {"readyReplicas": 1}}
SELECTING = {"selector": {"a": "b"}}
ENDS = {"metadata": {"name": "n"}, "subsets": [{"addresses": [{"ip": "i"}]}]}


@pytest.mark.parametrize(
    ("kind", "live", "related", "ready"),
    [
        (("apps", "Deployment"), observed(AVAILABLE), {"ReplicaSet": [SET]}, True),
        (("apps", "Deployment"), observed(AVAILABLE), {"ReplicaSet": [{**SET, "status": {}}]}, False),
        (("apps", "Deployment"), observed({}), {"ReplicaSet": [SET]}, False),
        (("apps", "DaemonSet"), observed(NODES), {}, True),
        (("apps", "DaemonSet"), observed({**NODES, "numberReady": 1}), {}, False),
        (("apps", "DaemonSet"), {"metadata": {"generation": 1}, "status": NODES}, {}, False),
        (("apps", "StatefulSet"), observed(REPLICAS, {"replicas": 1}), {}, True),
        (("apps", "StatefulSet"), observed({**REPLICAS, "updateRevision": "s"}, {"replicas": 1}), {}, False),
        (("", "PersistentVolume"), {"status": {"phase": "Available"}}, {}, True),
        (("", "PersistentVolume"), {}, {}, False),
        (("", "PersistentVolumeClaim"), {"status": {"phase": "Pending"}}, {}, False),
        (
            ("", "PersistentVolumeClaim"),
            {"status": {"phase": "Pending"}},
            {"StorageClass": [{"volumeBindingMode": "WaitForFirstConsumer"}]},
            True,
        ),
        (("", "ResourceQuota"), {"spec": {"hard": {"a": "1"}}, "status": {"hard": {"a": "1"}}}, {}, True),
        (("", "ResourceQuota"), {"spec": {"hard": {"a": "1"}}}, {}, False),
        (("", "Service"), observed({}, {"clusterIP": "None", **SELECTING}), {}, True),
        (("", "Service"), observed({}, SELECTING), {"Endpoints": [ENDS]}, True),
        (("", "Service"), observed({}, {"type": "LoadBalancer"}), {}, False),
        (("batch", "Job"), {"status": {"startTime": "t", "active": 1}}, {}, False),
    ],
)
def test_readiness(kind: tuple[str, str], live: Properties, related: dict[str, list[Properties]], ready: bool) -> None:
    """Updates go on when a workload is up, and not before."""
    checker = CHECKERS[kind]
    everything = {**{each.kind: [] for each in checker.related}, "StorageClass": [], **related}
    assert checker.observe(Seen(live, everything)).ready is ready


def test_a_failed_job_ends_its_wait() -> None:
    """A Job that has failed is not waited for, and its pods say why."""
    conditions = [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "too many"}]
    live = {"metadata": {"name": "n", "uid": "u"}, "status": {"startTime": "t", "conditions": conditions}}
    look = CHECKERS["batch", "Job"].observe(Seen(live, {"Pod": []}))
    assert (look.failure, look.reasons) == (
        "Resource 'n' was created but failed to initialize",
        ["[BackoffLimitExceeded] too many"],
    )


def test_pods() -> None:
    """A pod is ready when it says so or has succeeded, and says why it is not."""
    scheduled = [{"type": "PodScheduled", "status": "True"}, {"type": "Initialized", "status": "True"}]
    waiting = {"name": "c", "state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}}
    ended = {"name": "d", "state": {"terminated": {"reason": "Error", "exitCode": 3}}}
    broken = {"type": "Ready", "status": "False", "reason": "ContainersNotReady", "message": "not ready: "}
    metadata = {"name": "n", "namespace": "x"}
    status = {"conditions": [*scheduled, broken], "containerStatuses": [waiting, ended]}
    assert pod_warnings({"metadata": metadata, "status": status}) == [
        '[Pod x/n]: not ready: [ImagePullBackOff] no such image\ncontainer "d" completed with exit code 3'
    ]
    assert not pod_ready({"status": status})
    assert pod_ready({"status": {**status, "phase": "Succeeded"}})
    assert pod_ready({"status": {"conditions": [*scheduled, {"type": "Ready", "status": "True"}]}})
