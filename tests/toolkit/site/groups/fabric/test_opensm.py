"""A real subnet manager on the planned cables, which ibsim simulates."""

import re
from pathlib import Path

import pytest

from stacks.site.site import Site
from tests.support.ib_fabric import simulated
from tests.support.mutated import only
from tests.toolkit.site.groups.fabric.kit import of, planned
from toolkit.evidence.tools.subnet import IbNetDiscover
from toolkit.site.groups import fabric
from toolkit.site.groups.fabric import GROUP
from toolkit.site.groups.fabric.cables import Cables
from toolkit.site.output import File, written

pytestmark = pytest.mark.engine  # programs of Debian

AGGREGATION = '\nHca 1 "sharp"  # "Mellanox Technologies Aggregation Node"\n[1] "dgx-ib-switch1"[41]\n'


def texts(found: Site) -> dict[str, str]:
    """Return the files of a site by their names."""
    return {file.path.removeprefix("fabric/"): file.text for file in written(GROUP, found)[0]}


def network_of(cables: Cables) -> str:
    """Return the network of some cables."""
    return next(each.text for each in fabric.network(cables, "fabric/ibsim.net", ()) if isinstance(each, File))


def swept(network: str, folder: Path, options: str = "") -> tuple[str, frozenset[tuple[str, str]]]:
    """Return what opensm logs on a network, and the ends of the cables that ibnetdiscover then finds."""
    (folder / "opensm.conf").write_text(options)
    at = re.findall(r'^Hca 1 "([^"]+)"', network, re.MULTILINE)[-1]
    with simulated(network, folder) as fabric:
        log = folder / "opensm.log"
        told = fabric.run("opensm", "-o", "-F", f"{folder}/opensm.conf", "-f", str(log), at=at)
        assert "Entering MASTER state" in told, told
        found = only(IbNetDiscover, fabric.run("ibnetdiscover", at=at))
        assert found.complete
        return log.read_text(), frozenset(
            (row.node, row.peer) for row in found.rows if row.of_switch and not row.to_switch
        )


def meant(found: Site) -> frozenset[tuple[str, str]]:
    """Return the ends of the planned cables."""
    return frozenset((link.switch, f"{link.host} {link.adapter}") for link in planned(found).links)


def test_the_lab_shows_its_adapters(tmp_path: Path) -> None:
    """Each of the Redpaper's 16 adapters is found, and with the switch's aggregation node there are 17."""
    lab = of("redpaper-4.4")
    network = texts(lab)["ibsim.net"]
    log, found = swept(network, tmp_path)
    assert "SUBNET UP" in log
    assert found == meant(lab)
    assert len(found) == 16
    switch = 'Switch 40 "dgx-ib-switch1"  # "dgx-ib-switch1"'
    with_sharp = network.replace(switch, f'{switch.replace("40", "41", 1)}\n[41] "sharp"[1]') + AGGREGATION
    _, all_of_them = swept(with_sharp, tmp_path)
    assert len(all_of_them) == 17
    assert all_of_them - found == {("dgx-ib-switch1", "Mellanox Technologies Aggregation Node")}


@pytest.mark.parametrize(("machines", "levels", "switches"), [(20, 2, 12), (100, 2, 60), (140, 3, 164)])
def test_a_pod_is_a_fat_tree(machines: int, levels: int, switches: int, tmp_path: Path) -> None:
    """Opensm routes a unit, five and a whole POD as a fat tree, with the written options."""
    pod = of("superpod-a100", machines)
    files = texts(pod)
    log, found = swept(files["ibsim.net"], tmp_path, files["opensm.conf"])
    assert "ftree tables configured on all switches" in log
    assert f"FatTree rank (roots to leaf switches): {levels}" in log
    assert f"Fabric has {8 * machines} CAs, {8 * machines} CA ports" in log
    assert f"{switches} switches" in log
    assert found == meant(pod)


@pytest.mark.parametrize(("machines", "switches"), [(20, 3), (140, 22)])
def test_a_pods_storage_fabric_is_a_fat_tree(machines: int, switches: int, tmp_path: Path) -> None:
    """Opensm routes the planned storage fabric as a fat tree."""
    files = texts(of("superpod-a100", machines))
    log, found = swept(files["storage-ibsim.net"], tmp_path, files["opensm.conf"])
    assert "ftree tables configured on all switches" in log
    assert f"{switches} switches" in log
    assert sum(adapter.startswith("dgx") for _, adapter in found) == 2 * machines


def test_units_that_are_not_full_are_routed(tmp_path: Path) -> None:
    """Units that are not full are not fat tree for opensm, which routes them by the second engine of the options."""
    units = of("superpod-a100", 33)
    files = texts(units)
    log, found = swept(files["ibsim.net"], tmp_path, files["opensm.conf"])
    assert "updn tables configured on all switches" in log
    assert found == meant(units)


def test_a_cable_between_leaves_is_no_fat_tree(tmp_path: Path) -> None:
    """Opensm itself reports a cable from leaf to leaf, and does not route by ftree."""
    unit = of("superpod-a100", 20)
    good = planned(unit)
    last = {trunk.lower: trunk for trunk in good.trunks}
    wrong = last["leaf-1"].model_copy(update={"upper": "leaf-2", "upper_port": last["leaf-2"].lower_port})
    kept = [trunk for trunk in good.trunks if trunk not in (last["leaf-1"], last["leaf-2"])]
    network = network_of(good.model_copy(update={"trunks": (*kept, wrong)}))
    log, _ = swept(network, tmp_path, texts(unit)["opensm.conf"])
    assert "ftree tables configured" not in log
    assert "fat-tree" in log.lower()
