"""Readiness rules, waitFor, JSONPath."""

from typing import Any

import pytest

from simulator.plugins.provider import readiness
from simulator.plugins.provider.inputs import ObjectType
from simulator.plugins.provider.jsonpath import BadPathError, compile_path
from simulator.plugins.provider.values import Properties
from simulator.plugins.provider.wait_for import BadWaitError, rule_for, rule_on_read, split_value, timeout, wait_rule

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


def asked(wait: str, **annotations: str) -> Properties:
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
    """Prevents a wait from ending too early or never, because the path selects something else than it says."""
    assert compile_path(path)(LIVE) == expected


@pytest.mark.parametrize(
    "path", ["status", ".status[", ".a[?(@.b==)]", ".a[?length(@.b)>1]", ".a b", ".a[?(1)]", ".a[?@.b=1]"]
)
def test_what_is_no_jsonpath(path: str) -> None:
    """Prevents a mistyped expression from being waited for until the timeout: Check refuses it."""
    with pytest.raises(BadPathError):
        compile_path(path)


@pytest.mark.parametrize(
    ("wait", "state"),
    [
        ("condition=Created", "ready"),
        ("condition=Ready", "waiting"),
        ("condition=Ready=False", "ready"),
        ("condition=Nobody", "waiting"),
        ("jsonpath={.status.state}", "ready"),
        ("jsonpath={.status.state}=AtLatestKnown", "ready"),
        ("jsonpath={.status.state}=Other", "waiting"),
        ("jsonpath={.status.ready}=true", "ready"),
        ("jsonpath={.status.count}=8", "ready"),
        ("jsonpath={.status.conditions}", "ready"),
        ("jsonpath={.status.conditions}=x", "failed"),
        ('jsonpath={.status.conditions[?(@.type=="Succeeded" || @.type=="Failed")].type}', "ready"),
        ('jsonpath={.status.conditions[?(@.type=="Succeeded")].status}=True', "waiting"),
        ('["condition=Created", "jsonpath={.status.state}=AtLatestKnown"]', "ready"),
        ('["condition=Created", "condition=Ready"]', "waiting"),
    ],
)
def test_wait_for(wait: str, state: str) -> None:
    """Prevents what the program waits for from being read otherwise than by the official provider."""
    rule = wait_rule(asked(wait))
    assert rule is not None
    assert rule(LIVE).state == state


@pytest.mark.parametrize(
    "wait",
    ["Ready", "[]", "[1]", "jsonpath=.status", "jsonpath={.a}=", "jsonpath={.a}x", "jsonpath={.a", "jsonpath={a b}"],
)
def test_bad_waits(wait: str) -> None:
    """Prevents a mistyped annotation from being ignored."""
    with pytest.raises(BadWaitError, match="waitFor"):
        wait_rule(asked(wait))


def test_value_is_split_outside_the_braces() -> None:
    """Prevents the == of a filter from being taken for the wanted value."""
    assert split_value('{.a[?(@.b=="}=")].c}=x=y') == ('.a[?(@.b=="}=")].c', "x=y")


def test_annotations_win() -> None:
    """Prevents waits that were switched off, and the wrong one of several timeouts."""
    job = ObjectType("batch", "v1", "Job")
    assert rule_for(job, {}) == (readiness.job, 600)
    assert rule_for(job, asked("condition=A", **{"pulumi.com/skipAwait": "true"}))[0] is None
    assert rule_for(ObjectType("", "v1", "ConfigMap"), {})[0] is None
    assert rule_on_read(job, {}) is readiness.job
    assert rule_on_read(job, asked("condition=A")) is None
    limited = asked("condition=A", **{"pulumi.com/timeoutSeconds": "7"})
    assert (timeout(limited, 0, 600), timeout(limited, 3, 600), timeout({}, 0, 600)) == (7, 3, 600)
    with pytest.raises(BadWaitError, match="not a number"):
        timeout(asked("condition=A", **{"pulumi.com/timeoutSeconds": "soon"}), 0, 600)


def observed(status: Properties, spec: Properties | None = None) -> Properties:
    """Return an object of the second generation, whose controller has seen it."""
    return {"metadata": {"generation": 2}, "spec": spec or {}, "status": {"observedGeneration": 2, **status}}


@pytest.mark.parametrize(
    ("rule", "live", "state"),
    [
        (readiness.deployment, observed({"updatedReplicas": 1, "replicas": 1, "availableReplicas": 1}), "ready"),
        (readiness.deployment, observed({"updatedReplicas": 1, "replicas": 2, "availableReplicas": 1}), "waiting"),
        (readiness.deployment, observed({}, {"replicas": 0}), "ready"),
        (readiness.deployment, observed({"observedGeneration": 1, "availableReplicas": 1}), "waiting"),
        (
            readiness.deployment,
            observed(
                {"conditions": [{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}]}
            ),
            "failed",
        ),
        (readiness.daemon_set, observed({}), "ready"),
        (readiness.daemon_set, {"metadata": {"generation": 1}}, "waiting"),
        (readiness.daemon_set, observed({"desiredNumberScheduled": 2, "numberAvailable": 1}), "waiting"),
        (
            readiness.daemon_set,
            observed({"desiredNumberScheduled": 2, "numberAvailable": 2, "updatedNumberScheduled": 2}),
            "ready",
        ),
        (readiness.stateful_set, observed({"readyReplicas": 1, "updatedReplicas": 1}), "ready"),
        (readiness.stateful_set, observed({"readyReplicas": 0}), "waiting"),
        (readiness.job, {"status": {"conditions": [{"type": "Complete", "status": "True"}]}}, "ready"),
        (readiness.job, {"status": {"conditions": [{"type": "Failed", "status": "True"}]}}, "failed"),
        (readiness.job, {"status": {"active": 1}}, "waiting"),
        (readiness.job, {"spec": {"suspend": True}}, "ready"),
        (readiness.pod, {"status": {"phase": "Running"}}, "waiting"),
        (readiness.pod, {"status": {"phase": "Failed"}}, "failed"),
        (readiness.pod, {"status": {"phase": "Succeeded"}}, "ready"),
        (readiness.persistent_volume, {"status": {"phase": "Available"}}, "ready"),
        (readiness.persistent_volume, {}, "waiting"),
        (readiness.persistent_volume_claim, {"status": {"phase": "Pending"}}, "waiting"),
        (readiness.persistent_volume_claim, {"status": {"phase": "Bound"}}, "ready"),
        (readiness.namespace, {"status": {"phase": "Active"}}, "ready"),
        (
            readiness.custom_resource_definition,
            {"status": {"conditions": [{"type": "NamesAccepted", "status": "False", "message": "taken"}]}},
            "failed",
        ),
    ],
)
def test_readiness(rule: readiness.Rule, live: Properties, state: str) -> None:
    """Prevents updates that go on before a workload is up, or wait for one that will never be."""
    assert rule(live).state == state


def test_pod_messages() -> None:
    """Prevents the reason of a failure from staying in the pod where nobody looks."""
    terminated = {"exitCode": 1, "message": "Couldn't allocate MR\n"}
    statuses = [{"name": "test", "state": {"terminated": terminated}}]
    waiting = [{"name": "init", "state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}}]
    found = readiness.pod_messages({"status": {"containerStatuses": statuses, "initContainerStatuses": waiting}})
    assert found == [
        "container init is waiting: ImagePullBackOff no such image",
        "container test ended with exit status 1: Couldn't allocate MR",
    ]
