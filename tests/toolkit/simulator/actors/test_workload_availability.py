"""Simulated Node Health Check and Self Node Remediation: what they decide of nodes, and the phases of a remediation."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from core.apis.kinds import Kind
from toolkit.simulator.actors.machine_pools import CURRENT, DESIRED
from toolkit.simulator.actors.node_health_check import (
    CONFIGURED_SECONDS,
    EXCLUDED,
    NO_TEMPLATE_SECONDS,
    NodeHealthCheckOperator,
    examine,
    least_healthy,
    seconds,
)
from toolkit.simulator.actors.podactor import FOLLOWER_SECONDS
from toolkit.simulator.actors.self_node_remediation import (
    AGENTS,
    CAPABLE,
    CONFIG,
    CORDON,
    FINALIZER,
    INCAPABLE_SECONDS,
    OUT_OF_SERVICE,
    TEMPLATE,
    SelfNodeRemediationManager,
)

NAMESPACE = "openshift-workload-availability"
POD = {"metadata": {"namespace": NAMESPACE, "name": "manager-1", "labels": {"name": "manager"}}}
GPU = {"gpu": "true"}
SIGNS = [
    {"type": "Ready", "status": "Unknown", "duration": "300s"},
    {"type": "GpuMemWatch", "status": "True", "duration": "1m"},
]


def ago(since: float) -> str:
    """Return the time so many seconds ago, as the API server writes it."""
    return (datetime.now(UTC) - timedelta(seconds=since)).strftime("%Y-%m-%dT%H:%M:%SZ")


def node(name: str, ready: str = "True", since: float = 0, **marks: str) -> dict[str, Any]:
    """Return a GPU node whose kubelet is as `ready` says, for so many seconds."""
    condition = {"type": "Ready", "status": ready, "lastTransitionTime": ago(since)}
    meta = {
        "name": name,
        "labels": {**GPU},
        "annotations": marks,
        "creationTimestamp": ago(9000),
        "resourceVersion": "1",
    }
    return {"metadata": meta, "spec": {}, "status": {"conditions": [condition]}}


class Cluster:
    """An API server with some objects; a patch merges, and a status is replaced field by field."""

    def __init__(self, *objects: dict[str, Any]) -> None:
        self.objects = {(each.get("kind", "Node"), each["metadata"]["name"]): each for each in objects}
        self.deleted: list[str] = []

    def find(self, kind: Kind, name: str, _namespace: str = "") -> Any:
        """Return an object, None for one that is not there."""
        return self.objects.get((kind.kind, name))

    def create(self, kind: Kind, body: Any, _namespace: str = "") -> Any:
        """Keep an object."""
        body["metadata"] |= {"uid": "9", "creationTimestamp": ago(0)}
        return self.objects.setdefault((kind.kind, body["metadata"]["name"]), body)

    def apply(self, kind: Kind, body: Any) -> Any:
        """Keep an object."""
        return self.create(kind, body)

    def patch(self, kind: Kind, name: str, body: Any, _namespace: str = "") -> Any:
        """Change an object."""
        changed = self.objects[kind.kind, name]
        changed["metadata"] |= body["metadata"]
        changed["spec"] |= body.get("spec", {})
        return changed

    def delete(self, kind: Kind, name: str, _namespace: str = "", **_: bool) -> None:
        """Note what is deleted."""
        self.deleted.append(f"{kind.kind} {name}")

    def set_status(self, kind: Kind, obj: Any, status: Any) -> None:
        """Change fields of a status."""
        self.objects[kind.kind, obj["metadata"]["name"]].setdefault("status", {}).update(status)


def actor(factory: Callable[..., Any], cluster: Cluster, *bound: dict[str, Any]) -> tuple[Any, list[str]]:
    """Return an operator that has seen a cluster with some pods, and the lines of its log."""
    lines: list[str] = []
    runtime: Any = SimpleNamespace(account=lambda _: cluster, pods=SimpleNamespace(items=lambda: [*bound]))
    made = factory(runtime, SimpleNamespace(append=lambda _, line: lines.append(line)), POD)
    made.caches = {kind: _cache(kind, cluster) for kind, _ in factory.watched}  # type: ignore[attr-defined]
    return made, lines


def _cache(kind: Kind, cluster: Cluster) -> Any:
    def items() -> list[Any]:
        return [obj for (of, _), obj in cluster.objects.items() if of == kind.kind]

    return SimpleNamespace(items=items, get=lambda name, _="": cluster.objects.get((kind.kind, name)), synced=True)


def check(**spec: Any) -> dict[str, Any]:
    """Return a check of the GPU nodes."""
    template = {"kind": "SelfNodeRemediationTemplate", "name": "gpu-nodes", "namespace": NAMESPACE}
    return {
        "apiVersion": "remediation.medik8s.io/v1alpha1",
        "kind": "NodeHealthCheck",
        "metadata": {"name": "gpu-nodes", "uid": "1", "creationTimestamp": ago(9000)},
        "spec": {
            "selector": {"matchLabels": GPU},
            "unhealthyConditions": SIGNS,
            "minHealthy": 2,
            "remediationTemplate": template,
            **spec,
        },
    }


TEMPLATE_OBJECT = {
    "kind": "SelfNodeRemediationTemplate",
    "metadata": {"name": "gpu-nodes", "namespace": NAMESPACE},
    "spec": {"template": {"spec": {"remediationStrategy": "Automatic"}}},
}
LOST = node("dgx01", "Unknown", 301)


def test_a_node_is_lost_after_the_duration_of_one_sign() -> None:
    """One sign is enough, for as long as it says; before that a node is neither healthy nor lost."""
    bad_memory = node("memory")
    bad_memory["status"]["conditions"] += [{"type": "GpuMemWatch", "status": "True", "lastTransitionTime": ago(61)}]
    found = examine(
        [LOST, node("soon", "Unknown", 290), node("well"), bad_memory], SIGNS, datetime.now(UTC).timestamp()
    )
    names = [[each["metadata"]["name"] for each in part] for part in (found.healthy, found.soon, found.lost)]
    assert names == [["well"], ["soon"], ["dgx01", "memory"]]
    assert found.seconds is not None
    assert 9 <= found.seconds <= 12


@pytest.mark.parametrize(
    ("spec", "least"),
    [({"minHealthy": 3}, 3), ({"minHealthy": "51%"}, 6), ({"maxUnhealthy": 1}, 9), ({"maxUnhealthy": "11%"}, 8)],
)
def test_limits_are_numbers_or_shares(spec: dict[str, Any], least: int) -> None:
    """Shares are rounded up, of healthy and of unhealthy nodes."""
    assert least_healthy(spec, 10) == least


def test_durations_have_units() -> None:
    """Durations are read in seconds."""
    assert [seconds(text) for text in ("300s", "5m", "1h")] == [300, 300, 3600]


def test_a_lost_node_gets_a_remediation() -> None:
    """Of its template, with the node's name, and the check names it; a healthy node again ends it."""
    cluster = Cluster(check(), TEMPLATE_OBJECT, LOST, node("dgx02"), node("dgx03"))
    found, _ = actor(NodeHealthCheckOperator, cluster)
    assert found.reconcile() == 1
    remediation = cluster.objects["SelfNodeRemediation", "dgx01"]
    assert remediation["metadata"]["annotations"]["remediation.medik8s.io/template-name"] == "gpu-nodes"
    status = cluster.objects["NodeHealthCheck", "gpu-nodes"]["status"]
    assert (status["phase"], status["healthyNodes"], status["observedNodes"]) == ("Remediating", 2, 3)
    assert [each["name"] for each in status["unhealthyNodes"]] == ["dgx01"]
    cluster.objects["Node", "dgx01"] = node("dgx01")
    found.reconcile()
    assert cluster.deleted == ["SelfNodeRemediation dgx01"]
    assert status["healthyNodes"] == 2  # until the remediation is gone


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        (
            (check(), TEMPLATE_OBJECT, LOST, node("dgx02", "Unknown", 400), node("dgx03")),
            "is 1 and should equal or exceed 2",
        ),
        (
            (check(minHealthy=0), TEMPLATE_OBJECT, node("dgx01", "Unknown", 301, **{CURRENT: "a", DESIRED: "b"})),
            "upgrade",
        ),
    ],
)
def test_a_storm_and_a_configuration_restart_nothing(objects: tuple[Any, ...], expected: str) -> None:
    """Where too few nodes are healthy, and where one takes a MachineConfig, none is remedied."""
    cluster = Cluster(*objects)
    found, lines = actor(NodeHealthCheckOperator, cluster)
    again = found.reconcile()
    assert expected in "\n".join(lines)
    assert not [name for kind, name in cluster.objects if kind == "SelfNodeRemediation"]
    assert again == (CONFIGURED_SECONDS if expected == "upgrade" else 1)


def test_a_check_without_its_template_is_disabled() -> None:
    """It says so, and looks again."""
    cluster = Cluster(check(), LOST)
    found, _ = actor(NodeHealthCheckOperator, cluster)
    assert found.reconcile() == NO_TEMPLATE_SECONDS
    (condition,) = cluster.objects["NodeHealthCheck", "gpu-nodes"]["status"]["conditions"]
    assert (condition["type"], condition["status"]) == ("Disabled", "True")
    assert condition["reason"] == "RemediationTemplateNotFound"


def test_nodes_can_be_exempt_and_checks_paused() -> None:
    """The label by which a node is exempt, and a request to pause, keep a lost node as it is."""
    exempt = node("dgx01", "Unknown", 301)
    exempt["metadata"]["labels"][EXCLUDED] = "true"
    for objects, phase in (
        ((check(minHealthy=0), exempt), "Enabled"),
        ((check(minHealthy=0, pauseRequests=["a drill"]), LOST), "Paused"),
    ):
        cluster = Cluster(TEMPLATE_OBJECT, *objects)
        actor(NodeHealthCheckOperator, cluster)[0].reconcile()
        assert ("SelfNodeRemediation", "dgx01") not in cluster.objects
        assert cluster.objects["NodeHealthCheck", "gpu-nodes"]["status"]["phase"] == phase


def test_one_replica_acts() -> None:
    """The first pod that runs acts; another looks again after a while."""
    running = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    first, later = (
        {"metadata": POD["metadata"] | {"name": name}, "status": running} for name in ("manager-0", "manager-1")
    )
    for bound, again in (((first, later), FOLLOWER_SECONDS), ((later,), None)):
        found, _ = actor(NodeHealthCheckOperator, Cluster(), *bound)
        assert found._when_synced(("", "")) == again


def remediation(strategy: str = "Automatic") -> dict[str, Any]:
    """Return the remediation of a node."""
    return {
        "kind": "SelfNodeRemediation",
        "metadata": {"name": "dgx01", "namespace": NAMESPACE},
        "spec": {"remediationStrategy": strategy},
    }


CONFIG_OBJECT = {
    "apiVersion": "self-node-remediation.medik8s.io/v1alpha1",
    "kind": "SelfNodeRemediationConfig",
    "metadata": {"name": CONFIG, "uid": "2", "generation": 1},
    "spec": {"safeTimeToAssumeNodeRebootedSeconds": -5, "customDsTolerations": [{"key": "dedicated"}]},
}


def test_the_manager_makes_what_is_not_there() -> None:
    """At its start it makes a template and its configuration, and then agents that tolerate what this says."""
    cluster = Cluster()
    actor(SelfNodeRemediationManager, cluster)[0].reconcile()
    assert {*cluster.objects} == {("SelfNodeRemediationTemplate", TEMPLATE), ("SelfNodeRemediationConfig", CONFIG)}
    cluster = Cluster(CONFIG_OBJECT)
    actor(SelfNodeRemediationManager, cluster)[0].reconcile()
    agents = cluster.objects["DaemonSet", AGENTS]
    assert agents["metadata"]["ownerReferences"][0]["uid"] == "2"
    pod = agents["spec"]["template"]["spec"]
    assert pod["tolerations"][-1] == {"key": "dedicated"}
    assert pod["containers"][0]["securityContext"]["privileged"] is True


def phases(manager: Any, cluster: Cluster, most: int = 9) -> list[str]:
    """Return the phases that a remediation goes through, until nothing changes."""
    seen: list[str] = []
    for _ in range(most):
        manager.reconcile()
        phase = cluster.objects["SelfNodeRemediation", "dgx01"].get("status", {}).get("phase", "")
        if not seen or phase != seen[-1]:
            seen.append(phase)
    return seen


@pytest.mark.parametrize("strategy", ["Automatic", "ResourceDeletion"])
def test_pods_of_a_lost_node_are_freed(strategy: str) -> None:
    """A node is cordoned, counts as restarted, and its pods go: by the taint out-of-service, or deleted one by one."""
    cluster = Cluster(CONFIG_OBJECT, remediation(strategy), node("dgx01", "Unknown", 301, **{CAPABLE: "true"}))
    stuck = {"metadata": {"name": "rank-0", "namespace": "training", "deletionTimestamp": ago(1)}}
    bound = [stuck | {"spec": {"nodeName": "dgx01"}}]
    manager, _ = actor(SelfNodeRemediationManager, cluster)
    manager.runtime.pods = SimpleNamespace(items=lambda: bound)
    taints = cluster.objects["Node", "dgx01"]["spec"]
    before = ["", "Pre-Reboot-Completed", "Reboot-Completed"]
    if strategy == "Automatic":
        assert phases(manager, cluster) == before
        assert taints["taints"] == [CORDON, OUT_OF_SERVICE]
        bound.clear()  # as the pod garbage collector does
        assert phases(manager, cluster) == ["Fencing-Completed"]
    else:
        assert phases(manager, cluster) == [*before, "Fencing-Completed"]
        assert cluster.deleted == ["Pod rank-0"]
    made = cluster.objects["SelfNodeRemediation", "dgx01"]
    succeeded = {each["type"]: each["status"] for each in made["status"]["conditions"]}
    assert succeeded == {"Processing": "False", "Succeeded": "True"}
    assert made["metadata"]["finalizers"] == [FINALIZER]
    assert taints["taints"] == [CORDON]
    made["metadata"]["deletionTimestamp"] = ago(0)  # the node is healthy again
    manager.reconcile()
    assert (made["metadata"]["finalizers"], taints["taints"]) == ([], [])


def test_a_node_without_an_agent_stays_as_it_is() -> None:
    """It could not restart, and its pods may run: none is freed."""
    cluster = Cluster(CONFIG_OBJECT, remediation(), node("dgx01", "Unknown", 301))
    manager, _ = actor(SelfNodeRemediationManager, cluster)
    assert manager.reconcile() == INCAPABLE_SECONDS
    made = cluster.objects["SelfNodeRemediation", "dgx01"]
    assert made["status"] == {"lastError": "Node is not capable to reboot itself"}
    assert "taints" not in cluster.objects["Node", "dgx01"]["spec"]
