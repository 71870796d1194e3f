"""The cables of a fabric: each adapter once, on switches with enough ports."""

from collections import Counter
from fractions import Fraction

import pytest

from core.hardware.fabric import SWITCH_PORTS, compute_fabric, storage_fabric
from tests.toolkit.site.groups.fabric.kit import of, planned
from toolkit.site.groups.fabric import GROUP, cables
from toolkit.site.groups.fabric.cables import Cables
from toolkit.site.output import Open, written


@pytest.mark.parametrize("machines", [1, 10, 20, 33, 40, 80, 100, 140])
def test_a_pod_has_the_cables_of_the_tables(machines: int) -> None:
    """Numbers of switches and cables are those of the table, no port is used twice, and no switch has too few."""
    size, found = compute_fabric(machines), planned(of("superpod-a100", machines))
    switches = Counter(link.switch for link in found.links)
    switches.update(end for trunk in found.trunks for end in (trunk.lower, trunk.upper))
    assert len(found.links) == size.leaf_cables
    assert len(found.trunks) == size.spine_cables + size.core_cables
    assert (
        Counter(name.partition("-")[0] for name in switches)
        == Counter({"leaf": size.leaf, "spine": size.spine, "core": size.core}) - Counter()
    )
    ports = Counter((link.switch, int(link.port)) for link in found.links)
    ports.update(
        end
        for trunk in found.trunks
        for end in ((trunk.lower, int(trunk.lower_port)), (trunk.upper, int(trunk.upper_port)))
    )
    assert max(ports.values()) == 1
    assert max(port for _, port in ports) <= SWITCH_PORTS


@pytest.mark.parametrize("machines", [1, 10, 19, 20, 33, 40, 80, 100, 139, 140])
def test_a_pods_storage_fabric_has_the_cables_of_the_table(machines: int) -> None:
    """Numbers of switches and cables are those of the table; a machine's two ports are on two leaves."""
    size = storage_fabric(machines)
    (found,) = [each for each in cables.of(of("superpod-a100", machines)) if isinstance(each, Cables) and each.name]
    used = {switch: len(own) for switch, own in found.ports.items()}
    assert (len(found.links), len(found.trunks)) == (size.leaf_cables + size.storage_ports, size.spine_cables)
    assert Counter(name.rpartition("-")[0] for name in used) == {
        "storage-leaf": size.leaf,
        "storage-spine": size.spine,
    }
    assert max(used.values()) <= SWITCH_PORTS
    assert sum(used.values()) == len(found.links) + 2 * len(found.trunks)
    leaves = [
        {link.switch for link in found.links if link.host == host.short}
        for host in of("superpod-a100", machines).gpu_hosts
    ]
    assert {len(own) for own in leaves} == {min(2, size.leaf)}
    cabled = Counter(trunk.lower for trunk in found.trunks)
    to_spines = Counter((trunk.lower, trunk.upper) for trunk in found.trunks)
    assert all(abs(count - cabled[leaf] / size.spine) < 2 for (leaf, _), count in to_spines.items())


def test_a_rail_of_a_pod_has_spine_switches_of_its_own() -> None:
    """In a whole POD traffic of one rail needs no core switch, and each leaf has as many cables up as down."""
    found = planned(of("superpod-a100"))
    rails = {
        spine: {int(trunk.lower.removeprefix("leaf-")) % 8 for trunk in found.trunks if trunk.upper == spine}
        for spine in {trunk.upper for trunk in found.trunks if trunk.upper.startswith("spine")}
    }
    assert len(rails) == 80
    assert all(len(each) == 1 for each in rails.values())
    up = Counter(trunk.lower for trunk in found.trunks if trunk.lower.startswith("leaf"))
    down = Counter(link.switch for link in found.links)
    assert {Fraction(down[leaf], up[leaf]) for leaf in down} == {Fraction(1)}


@pytest.mark.parametrize("machines", [120, 139])
def test_three_levels_are_written_for_a_whole_pod_alone(machines: int) -> None:
    """Between the table's rows no document says how core switches are cabled."""
    files, missing = written(GROUP, of("superpod-a100", machines))
    assert not [file.path for file in files if file.path.startswith(("fabric/cables", "fabric/ibsim"))]
    assert any("three levels" in each.what and str(machines) in each.what for each in missing)


def test_given_ports_come_before_a_plan() -> None:
    """`site.switches` of the Redpaper's lab and the document's own plan have the same adapters."""
    lab = of("redpaper-4.4")
    other = planned(lab.model_copy(update={"settings": lab.settings.model_copy(update={"switches": ()})}))
    own = planned(lab)
    assert {link.switch for link in own.links} == {"dgx-ib-switch1"}
    assert {(link.host, link.adapter, link.rate_gbps) for link in own.links} == {
        (link.host, link.adapter, link.rate_gbps) for link in other.links
    }


def test_what_is_no_adapter_is_open() -> None:
    """A port with something whose adapter is not named is in no file, and reported."""
    lab = of("redpaper-4.4")
    switch = lab.settings.switches[0].model_copy(update={"others": {"1/9": "UFM appliance"}})
    changed = lab.model_copy(update={"settings": lab.settings.model_copy(update={"switches": (switch,)})})
    files, missing = written(GROUP, changed)
    assert not any("UFM" in file.text for file in files)
    assert [each for each in missing if isinstance(each, Open) and "UFM appliance" in each.what]


@pytest.mark.parametrize("stack", ["h100-roce", "supermicro-3.11", "robotic-drive-ethernet"])
def test_ethernet_has_no_subnet_manager(stack: str) -> None:
    """Nothing is written for a fabric that is not InfiniBand, and nothing is open."""
    assert written(GROUP, of(stack)) == ((), ())
