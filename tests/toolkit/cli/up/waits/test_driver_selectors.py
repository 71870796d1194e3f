"""A driver without any pod: which DaemonSet, what its nodes lack, and where that comes from."""

from typing import Any

import pytest

from core.apis import kinds, names
from tests.support.messages import has
from tests.support.wait_objects import condition, look, meta
from toolkit.cli.up.waits.rules import judge_of
from toolkit.cli.up.waits.verdict import Verdict

NOT_READY = condition("Error", "True", "OperandNotReady", "states not ready: [state-operator-validation]")


def daemon_set(name: str, selector: dict[str, str], desired: int = 0, seen: int = 2) -> dict[str, Any]:
    """Return the DaemonSet of a driver."""
    template = {"spec": {"nodeSelector": selector}}
    return {
        "metadata": meta(name, owner="x-uid", generation=2),
        "spec": {"updateStrategy": {"type": "OnDelete"}, "template": template},
        "status": {"desiredNumberScheduled": desired, "numberReady": desired, "observedGeneration": seen},
    }


def node(name: str, **labels: str) -> dict[str, Any]:
    """Return a node of the stack with labels, by the names of `core.apis.names`."""
    return {
        "metadata": meta(name, "", labels={names.GPU_NODE: "true"} | {getattr(names, k): v for k, v in labels.items()})
    }


def judged(nodes: list[Any], *drivers: dict[str, Any]) -> Verdict:
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
    nodes = [node(name, **labels) for name in ("dgx01", "dgx02")]
    found = judged(nodes, daemon_set("driver", {names.OFED_WAIT: "false", names.GPU_PRESENT: "true"}))
    assert found.state == "waiting"
    assert has(
        found.message, "DaemonSet ns/driver", "no pods", f"{names.OFED_WAIT}=false, {names.GPU_PRESENT}=true", *parts
    )
    assert "web" not in found.message


def test_a_driver_with_pods_somewhere_is_not_named() -> None:
    """One of several drivers that has pods is enough, and a DaemonSet that no controller has seen is not judged yet."""
    none = daemon_set("old", {names.OFED_WAIT: "false"})
    for other in (daemon_set("new", {}, desired=2), daemon_set("new", {}, seen=1)):
        assert "no pods" not in judged([node("dgx01")], none, other).message
