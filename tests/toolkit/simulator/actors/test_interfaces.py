"""How the interfaces of a node are called."""

from typing import Any
from urllib.parse import quote

from components.nodes.rail_names import rules
from core.hardware.topology import rails
from tests.support.machines import DGX1_V100_16GB, DGX_A100
from toolkit.simulator.actors import ignition
from toolkit.simulator.actors.machine_state import interfaces


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
