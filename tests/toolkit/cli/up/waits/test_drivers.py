"""Drivers without pods, and driver pods of an earlier template: which they are, why, and what changes that."""

from typing import Any

import pytest

from core.apis import kinds, names
from tests.support.messages import has
from tests.support.wait_objects import condition, ended, look, meta, pod, waits
from toolkit.cli.up.waits.rules import judge_of
from toolkit.cli.up.waits.verdict import Verdict

SINCE = "2026-11-28T09:00:00Z"
STATE, SKIP = "nvidia.com/gpu-driver-upgrade-state", "nvidia.com/gpu-driver-upgrade.skip"
GENERATION = {"deprecated.daemonset.template.generation": "2"}
NOT_READY = condition("Error", "True", "OperandNotReady", "states not ready: [state-driver]")


def driver_pod(node: str, *containers: Any, generation: int = 1) -> dict[str, Any]:
    """Return the driver's pod on a node, which has not been ready since 09:00."""
    labels = {"pod-template-generation": str(generation)}
    made = pod(f"driver-{node}", *containers, owner="driver-uid", labels=labels, creationTimestamp=SINCE)
    made["spec"]["nodeName"] = node
    made["status"]["conditions"] = [condition("Ready", "False", lastTransitionTime=SINCE)]
    return made


def node(name: str, *, cordoned: bool = False, **labels: str) -> dict[str, Any]:
    """Return a node; `labels` are by the names of this module."""
    known = {"state": STATE, "skip": SKIP}
    made = {known[key]: value for key, value in labels.items()}
    return {"metadata": meta(name, "", labels=made), "spec": {"unschedulable": cordoned}}


def judged(
    pods: list[dict[str, Any]], nodes: list[dict[str, Any]], *, automatic: bool, kind: kinds.Kind = kinds.CLUSTER_POLICY
) -> Verdict:
    """Return the verdict on a policy whose driver has these pods, of which four are to be."""
    daemon_set = {
        "metadata": meta("driver", owner="x-uid", annotations=GENERATION, generation=2),
        "spec": {"updateStrategy": {"type": "OnDelete"}},
        "status": {"desiredNumberScheduled": 4, "numberReady": 4, "observedGeneration": 2},
    }
    field = "driver" if kind == kinds.CLUSTER_POLICY else "ofedDriver"
    policy = {
        "kind": kind.kind,
        "metadata": meta("x", generation=2),
        "spec": {field: {"upgradePolicy": {"autoUpgrade": automatic}}},
        "status": {"state": "notReady", "conditions": [NOT_READY]},
    }
    around = look((kinds.DAEMON_SET, [daemon_set]), (kinds.POD, pods), (kinds.NODE, nodes))
    return judge_of(kind.group, kind.kind)(policy, around)


def test_pods_that_nothing_replaces_are_a_failure_with_what_to_do() -> None:
    """Without the operator's upgrade the message has the pods, their nodes, since when, and how they are replaced."""
    old = [driver_pod(f"dgx0{number}", waits("ContainerCreating")) for number in (1, 2, 3, 4)]
    found = judged(old, [node(f"dgx0{number}", state="upgrade-required") for number in (1, 2, 3, 4)], automatic=False)
    assert (found.state, found.pod) == ("failing", None)
    assert has(
        found.message,
        *("DaemonSet driver", "4 of 4 pods have an earlier template"),
        *(f"driver-dgx01 on dgx01, not ready since {SINCE} (upgrade-required)", "driver-dgx02", "and 1 more"),
        *("OnDelete", "autoUpgrade false", "`oc delete pod -n ns driver-dgx01`", "gpu.driver.auto_upgrade: true"),
    )
    crashing = [driver_pod("dgx01", ended(1, 7, "driver is in use")), *old[1:]]
    found = judged(crashing, [], automatic=False)
    assert (found.state, found.pod, found.container) == ("failing", crashing[0], "main")
    assert has(found.message, "oc delete pod", "exit code 1", "7 restarts", "driver is in use")
    found = judged(old, [], automatic=False, kind=kinds.NIC_CLUSTER_POLICY)
    assert has(found.message, "4 of 4 pods have an earlier template", "fabric.plugin.driver.auto_upgrade: true")


@pytest.mark.parametrize(
    ("nodes", "state", "parts"),
    [
        (
            [node("dgx01", state="pod-deletion-required", cordoned=True), node("dgx02", state="upgrade-required")],
            "waiting",
            ("node by node", "dgx01 is at pod-deletion-required", "held up by pods with devices: ns/train"),
        ),
        (
            [node("dgx01", state="validation-required"), node("dgx02", state="upgrade-required")],
            "waiting",
            ("node by node", "dgx01 is at validation-required"),
        ),
        (
            [node("dgx01", state="upgrade-required"), node("other", cordoned=True)],
            "waiting",
            ("still to begin", "too many are cordoned: other", "oc adm uncordon"),
        ),
        ([node("dgx01", state="upgrade-failed")], "failing", ("failed on dgx01", "`oc delete pod -n ns driver-dgx01`")),
        ([node("dgx01", skip="true")], "failing", (SKIP, "dgx01", "remove it")),
    ],
)
def test_the_operators_own_upgrade_is_followed(nodes: list[Any], state: str, parts: tuple[str, ...]) -> None:
    """While the operator upgrades node by node it is waited for, and what holds it up is named."""
    train = pod("train", waits("ContainerCreating"))
    train["spec"] |= {
        "nodeName": "dgx01",
        "containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": 8}}}],
    }
    found = judged([driver_pod("dgx01", waits("ContainerCreating")), train], nodes, automatic=True)
    assert found.state == state
    assert has(found.message, "1 of 4 pods have an earlier template", "driver-dgx01", *parts)


def test_an_upgrade_is_over_when_all_pods_have_the_present_template() -> None:
    """What a policy still waits for when its driver's pods have the present template is its own condition."""
    found = judged([driver_pod("dgx01", generation=2)], [node("dgx01", state="upgrade-required")], automatic=False)
    assert found.message == "OperandNotReady: states not ready: [state-driver]"


def daemon_set(name: str, selector: dict[str, str], desired: int = 0, seen: int = 2) -> dict[str, Any]:
    """Return the DaemonSet of a driver."""
    template = {"spec": {"nodeSelector": selector}}
    return {
        "metadata": meta(name, owner="x-uid", generation=2),
        "spec": {"updateStrategy": {"type": "OnDelete"}, "template": template},
        "status": {"desiredNumberScheduled": desired, "numberReady": desired, "observedGeneration": seen},
    }


def stack_node(name: str, **labels: str) -> dict[str, Any]:
    """Return a node of the stack with labels, by the names of `core.apis.names`."""
    return {
        "metadata": meta(name, "", labels={names.GPU_NODE: "true"} | {getattr(names, k): v for k, v in labels.items()})
    }


def judged_without_pods(nodes: list[Any], *drivers: dict[str, Any]) -> Verdict:
    """Return the verdict on a ClusterPolicy with these DaemonSets."""
    status = {"state": "notReady", "conditions": [NOT_READY]}
    policy = {"kind": "ClusterPolicy", "metadata": meta("x", generation=2), "spec": {}, "status": status}
    other = {"metadata": meta("web", "", labels={names.NODE_ROLE + "worker": ""})}
    around = look((kinds.DAEMON_SET, drivers), (kinds.NODE, [*nodes, other]))
    return judge_of(kinds.CLUSTER_POLICY.group, kinds.CLUSTER_POLICY.kind)(policy, around)


@pytest.mark.parametrize(
    ("labels", "parts"),
    [
        ({"GPU_PRESENT": "true"}, ("dgx01, dgx02 lack", f"{names.OFED_WAIT}=false:", "useHostMofed: true")),
        (
            {"GPU_PRESENT": "true", "OFED_WAIT": "true"},
            ("dgx01, dgx02 lack", f"they have {names.OFED_WAIT}=true", "Network Operator sets it when its driver runs"),
        ),
        ({"OFED_WAIT": "false"}, (f"lack {names.GPU_PRESENT}=true:", "correct the labels")),
        ({"OFED_WAIT": "false", "GPU_PRESENT": "true"}, ("the nodes have that", "affinity")),
    ],
)
def test_a_driver_without_pods_is_named(labels: dict[str, str], parts: tuple[str, ...]) -> None:
    """The DaemonSet is named with its node selector, the labels that the stack's nodes lack, and the remedy."""
    nodes = [stack_node(name, **labels) for name in ("dgx01", "dgx02")]
    found = judged_without_pods(nodes, daemon_set("driver", {names.OFED_WAIT: "false", names.GPU_PRESENT: "true"}))
    assert found.state == "waiting"
    assert has(
        found.message, "DaemonSet ns/driver", "no pods", f"{names.OFED_WAIT}=false, {names.GPU_PRESENT}=true", *parts
    )
    assert "web" not in found.message


def test_a_driver_with_pods_somewhere_is_not_named() -> None:
    """One of several drivers that has pods is enough, and a DaemonSet that no controller has seen is not judged yet."""
    none = daemon_set("old", {names.OFED_WAIT: "false"})
    for other in (daemon_set("new", {}, desired=2), daemon_set("new", {}, seen=1)):
        assert "no pods" not in judged_without_pods([stack_node("dgx01")], none, other).message
