"""What is stuck, from objects of the simulated cluster and from such that say one thing."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from core.apis.kinds import Kind
from toolkit.cli.status.stuck import Stuck, stuck

RECORDED = yaml.safe_load((Path(__file__).parent / "lost_nodes.yaml").read_text())
TAINT = "node.kubernetes.io/out-of-service"
SINCE = "2026-11-29T14:57:59Z"


def _found(**objects: list[dict[str, Any]]) -> list[Stuck]:
    """Return what is stuck of objects by the plurals of their kinds."""

    def listed(kind: Kind) -> Sequence[dict[str, Any]]:
        return objects.get(kind.plural, [])

    return [*stuck(listed)]


def _one(**objects: list[dict[str, Any]]) -> Stuck:
    (found,) = _found(**objects)
    return found


def _node(ready: str, *taints: str) -> dict[str, Any]:
    condition = {"type": "Ready", "status": ready, "reason": "KubeletReady", "message": ""}
    spec = {"taints": [{"key": key, "effect": "NoExecute"} for key in taints]}
    return {"metadata": {"name": "dgx02"}, "spec": spec, "status": {"conditions": [condition]}}


def _workload(*conditions: tuple[str, str, str, str], active: bool = True, **status: Any) -> dict[str, Any]:
    """Return a Workload of an MPIJob; conditions are type, status, reason and message."""
    keys = ("type", "status", "reason", "message")
    met = [dict(zip(keys, condition, strict=True)) | {"lastTransitionTime": SINCE} for condition in conditions]
    meta = {"name": "w", "namespace": "adas", "ownerReferences": [{"kind": "MPIJob", "name": "train"}]}
    usage = {"podSetAssignments": [{"name": "worker", "resourceUsage": {"nvidia.com/gpu": "16"}}]}
    spec = {"active": active, "podSets": [{"name": "worker", "count": 2}]}
    return {"metadata": meta, "spec": spec, "status": {"conditions": met, "admission": usage, **status}}


def _pod(name: str, phase: str, *, gated: bool = False, unplaced: str = "") -> dict[str, Any]:
    conditions = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": unplaced}]
    return {
        "metadata": {"name": name, "namespace": "adas", "annotations": {"kueue.x-k8s.io/workload": "w"}},
        "spec": {"schedulingGates": [{"name": "kueue.x-k8s.io/topology"}] if gated else []},
        "status": {"phase": phase, "conditions": conditions if unplaced else []},
    }


ADMITTED = ("Admitted", "True", "Admitted", "The workload is admitted")


def test_pods_on_lost_nodes_hold_up_their_jobs() -> None:
    """Each node says what stays there, who waits for it, and what ends it; a replaced pod holds no one up."""
    found = {one.place: one for one in _found(**RECORDED)}
    assert found.keys() == {"Node dgx02", "Node dgx04", "Node dgx06", "TrainJob maps/trainjob"}
    assert found["Node dgx02"].cause == (
        "not ready since 2026-11-29T14:58:18Z (NodeStatusUnknown: Kubelet stopped posting node status.); "
        "Terminating for as long as that: pod maps/job-1-m57fp"
    )
    assert found["Node dgx04"].cause.endswith(
        "pod maps/trainjob-node-0-1-h7sj6, and Job maps/trainjob-node-0 waits for that"
    )
    assert found["Node dgx06"].cause.endswith("pod maps/mpijob-worker-1, and MPIJob maps/mpijob waits for that")
    assert found["Node dgx06"].remedy == (
        f"When the machine is surely off: `oc adm taint nodes dgx06 {TAINT}=nodeshutdown:NoExecute`; remove the taint "
        "when it is back."
    )
    assert found["TrainJob maps/trainjob"].cause == (
        f"admitted since {SINCE}, holds 16 GPUs, and no pod of it runs: 1 pod Terminating"
    )


@pytest.mark.parametrize(
    ("phase", "remedy"),
    [
        ("Remediating", "NodeHealthCheck gpu-nodes remedies the node."),
        ("Paused", "NodeHealthCheck gpu-nodes knows it, and is Paused. When the machine is surely off: `oc adm taint"),
    ],
)
def test_node_health_check_remedies_a_node(phase: str, remedy: str) -> None:
    """What remedies the node is named in place of the command, unless it does nothing now."""
    checks = [{"metadata": {"name": "gpu-nodes"}, "status": {"phase": phase, "unhealthyNodes": [{"name": "dgx04"}]}}]
    found = {one.place: one.remedy for one in _found(**RECORDED, nodehealthchecks=checks)}
    assert found["Node dgx04"].startswith(remedy)
    assert "oc adm taint" in found["Node dgx06"]


def test_pods_that_are_still_tolerated_go_soon() -> None:
    """Before the taint's time is over, the pods that go are named with their seconds; those that stay are not."""
    tolerated = {"key": "node.kubernetes.io/unreachable", "effect": "NoExecute", "operator": "Exists"}
    pods = [
        {
            "metadata": {"name": name, "namespace": "adas"},
            "spec": {"nodeName": "dgx02", "tolerations": [tolerated | seconds]},
            "status": {"phase": "Running"},
        }
        for name, seconds in (("rank", {"tolerationSeconds": 30}), ("agent", {}))
    ]
    one = _one(nodes=[_node("Unknown")], pods=pods)
    assert one.cause.endswith("Kubernetes deletes pod adas/rank 30 s after that")
    assert one.remedy == ""


def test_a_node_that_is_back_keeps_its_taint() -> None:
    """A Ready node that is still out of service takes no pods until the taint is removed."""
    one = _one(nodes=[_node("True", TAINT)])
    assert one.remedy == f"Remove it: `oc adm taint nodes dgx02 {TAINT}-`."
    assert _found(nodes=[_node("True"), _node("Unknown")]) == []


@pytest.mark.parametrize(
    ("workload", "pods", "cause", "remedy"),
    [
        (
            _workload(("Evicted", "True", "Deactivated", "exceeding the maximum number of requeues"), active=False),
            [],
            "Kueue starts it no more: Deactivated: exceeding the maximum number of requeues",
            """`oc patch workload -n adas w --type merge -p '{"spec":{"active":true}}'`""",
        ),
        (
            _workload(
                ("Evicted", "True", "PodsReadyTimeout", "Exceeded the PodsReady timeout"),
                ("QuotaReserved", "False", "Pending", ""),
                requeueState={"count": 2, "requeueAt": "2026-11-29T15:10:00Z"},
            ),
            [],
            "evicted 2 times (PodsReadyTimeout: Exceeded the PodsReady timeout); tried again at 2026-11-29T15:10:00Z",
            "",
        ),
        (
            _workload(ADMITTED, unhealthyNodes=[{"name": "dgx02"}]),
            [_pod("a", "Running"), _pod("b", "Running")],
            "waits for a node in place of dgx02",
            "Free or add one in the domain",
        ),
        (
            _workload(ADMITTED),
            [_pod("a", "Failed")],
            f"admitted since {SINCE}, holds 16 GPUs, and has no pod",
            "`oc describe mpijob -n adas train`",
        ),
        (
            _workload(ADMITTED),
            [_pod("a", "Running"), _pod("b", "Pending", gated=True)],
            "holds 16 GPUs; pod adas/b waits for Kueue to choose a node",
            "",
        ),
        (
            _workload(ADMITTED),
            [_pod("a", "Running"), _pod("b", "Pending", unplaced="0/3 nodes are available")],
            "1 pod of 2 finds no node: Unschedulable: 0/3 nodes are available",
            "",
        ),
        (
            _workload(ADMITTED, ("PodsReady", "False", "WaitForRecovery", "At least one pod has failed")),
            [_pod("a", "Running"), _pod("b", "Running")],
            f"does not run since {SINCE}: WaitForRecovery: At least one pod has failed",
            "",
        ),
    ],
)
def test_jobs_that_hold_quota_and_do_not_run(
    workload: dict[str, Any], pods: list[dict[str, Any]], cause: str, remedy: str
) -> None:
    """A job says why it does not run, and what ends that."""
    one = _one(workloads=[workload], pods=pods)
    assert one.place == "MPIJob adas/train"
    assert cause in one.cause
    assert remedy in one.remedy
    assert bool(remedy) == bool(one.remedy)


def test_a_job_that_runs_or_waits_its_turn_is_not_stuck() -> None:
    """Neither one whose pods all run, one that is not admitted yet, nor one that has ended is listed."""
    waits = _workload(("QuotaReserved", "False", "Pending", "insufficient quota"))
    ended = _workload(ADMITTED, ("Finished", "True", "Succeeded", ""))
    assert _found(workloads=[waits, ended]) == []
    assert _found(workloads=[_workload(ADMITTED)], pods=[_pod("a", "Running"), _pod("b", "Running")]) == []
