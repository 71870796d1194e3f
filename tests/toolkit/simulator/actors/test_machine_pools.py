"""Machine config pools."""

from typing import Any
from urllib.parse import quote

import pytest

from components.nodes.rail_names import rules
from core.hardware.topology import rails
from tests.support.machines import DGX1_V100_16GB, DGX_A100
from toolkit.simulator.actors import ignition, machine_pools
from toolkit.simulator.actors.machine_pools import interfaces

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


def rendered(text: str, path: str = "/etc/udev/rules.d/70-persistent-net.rules") -> dict[str, Any]:
    """Return what nodes get of a file."""
    file = {"path": path, "contents": {"source": "data:," + quote(text)}}
    spec = {"config": {"ignition": {"version": "3.2.0"}, "storage": {"files": [file]}}}
    return ignition.render("gpu", [{"metadata": {"name": "50-rails"}, "spec": spec}])


def test_our_own_rules_name_all_rails() -> None:
    """Interfaces are called as on their node."""
    found = interfaces(DGX_A100, rendered(rules(rails(DGX_A100), "InfiniBand")))
    assert found[:8] == [f"rail{index}" for index in range(8)]
    assert found[8:] == [hca.netdev for hca in DGX_A100.storage_hcas]


def test_a_rule_for_another_address_names_nothing() -> None:
    """An udev rule with a malformed address names nothing."""
    kernel = [hca.netdev for hca in (*DGX_A100.hcas, *DGX_A100.storage_hcas)]
    wrong = rules(rails(DGX_A100), "InfiniBand").replace("0000:", "0001:")
    assert interfaces(DGX_A100, rendered(wrong)) == kernel
    right = rules(rails(DGX_A100), "InfiniBand")
    assert interfaces(DGX_A100, rendered("".join(f"#{line}\n" for line in right.splitlines()))) == kernel
    assert interfaces(DGX_A100, rendered(right, "/etc/udev/rules.d/70-rules.txt")) == kernel


def test_ports_without_an_address_keep_their_names() -> None:
    """A rule cannot name a port without a known address."""
    found = interfaces(DGX1_V100_16GB, rendered(rules(rails(DGX_A100), "InfiniBand")))
    assert found == [hca.netdev for hca in (*DGX1_V100_16GB.hcas, *DGX1_V100_16GB.storage_hcas)]
    assert interfaces(None, rendered("")) == []
