"""Machine config pools."""

from typing import Any

import pytest

from toolkit.simulator.actors import machine_pools

CONFIGURATION = {"name": "rendered-gpu-1", "source": []}


def pool(name: str, **spec: Any) -> dict[str, Any]:
    """Return a pool of the nodes with the role of its name."""
    selector = {"matchLabels": {f"node-role.kubernetes.io/{name}": ""}}
    return {"metadata": {"name": name, "generation": 3}, "spec": {"nodeSelector": selector, **spec}}


def node(name: str, *roles: str, state: str = "Done", config: str = "rendered-gpu-1") -> dict[str, Any]:
    """Return a node that has, or is to have, a configuration."""
    marks = {machine_pools.STATE: state, machine_pools.DESIRED: config, machine_pools.REASON: "no such CPU"}
    marks |= {machine_pools.CURRENT: config} if state == "Done" else {}
    labels = {f"node-role.kubernetes.io/{role}": "" for role in roles}
    return {"metadata": {"name": name, "labels": labels, "annotations": marks}}


def test_a_node_is_in_one_pool() -> None:
    """A node belongs to its most specific pool; a compact master stays in the masters'."""
    pools = [pool("master"), pool("worker"), pool("gpu")]
    nodes = [node("c", "worker"), node("b", "worker", "gpu"), node("a", "master", "worker", "gpu")]
    found = {one["metadata"]["name"]: machine_pools.members(one, pools, nodes) for one in pools}
    names = {name: [each["metadata"]["name"] for each in there] for name, there in found.items()}
    assert names == {"master": ["a"], "worker": ["c"], "gpu": ["b"]}


@pytest.mark.parametrize(("said", "nodes", "away"), [(None, 140, 1), (3, 4, 3), ("10%", 140, 14), ("10%", 4, 1)])
def test_so_many_may_be_away(said: object, nodes: int, away: int) -> None:
    """A pool updates as many nodes at once as maxUnavailable allows, at least one."""
    assert machine_pools.at_once(pool("gpu", maxUnavailable=said), nodes) == away


@pytest.mark.parametrize(
    ("state", "true", "updated"), [("Done", "Updated", 2), ("Working", "Updating", 1), ("Degraded", "Degraded", 1)]
)
def test_a_pool_is_updated_when_all_its_nodes_are(state: str, true: str, updated: int) -> None:
    """Updated is true once the last node has its configuration; Degraded where one never will."""
    status = machine_pools.status(pool("gpu"), [node("a", "gpu"), node("b", "gpu", state=state)], CONFIGURATION)
    conditions = {one["type"]: one for one in status["conditions"]}
    assert conditions[true]["status"] == "True"
    assert (status["machineCount"], status["updatedMachineCount"]) == (2, updated)
    assert ("configuration" in status) == (updated == 2)
    assert ("no such CPU" in conditions["Degraded"]["message"]) == (state == "Degraded")
