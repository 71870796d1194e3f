"""`./hpc site diff` of the cables that the real ibnetdiscover finds on fabrics which ibsim simulates."""

import re
from pathlib import Path
from typing import Any

import pytest

from stacks.loading.settings import parse
from stacks.site import assembly as site
from stacks.site.site import Site
from tests.support.ib_fabric import simulated
from tests.support.mutated import only
from tests.support.stack_settings import data
from tests.toolkit.site.groups.fabric.kit import of, planned
from toolkit.cli.shared.errors import Problem
from toolkit.cli.site.comparisons.cables import COMPARISON
from toolkit.evidence.tools.subnet import IbNetDiscover
from toolkit.site.groups import fabric
from toolkit.site.groups.fabric.cables import Cables
from toolkit.site.output import File
from toolkit.site.statements import Difference

UNIT = of("superpod-a100", 20)
LEAVES: dict[str, dict[str, Any]] = {
    "leaf-1": {"dialect": "onyx-ib", "ports": {}, "uplinks": {"1/21": "spine-1/1/1", "1/22": "spine-1/1/2"}},
    "leaf-2": {"dialect": "onyx-ib", "ports": {}, "uplinks": {"1/21": "spine-1/1/3"}},
    "spine-1": {"dialect": "onyx-ib"},
}


def found(cables: Cables, site: Site, folder: Path, *renamed: tuple[str, str]) -> list[Difference]:
    """Return how a fabric with some cables, and switches of other names, differs from that of a site."""
    network = next(each.text for each in fabric.network(cables, "fabric/ibsim.net", ()) if isinstance(each, File))
    at = re.findall(r'^Hca 1 "([^"]+)"', network, re.MULTILINE)[-1]
    with simulated(network, folder) as running:
        text = running.run("ibnetdiscover", at=at)
    for name, other in renamed:
        text = text.replace(f'"{name}"', f'"{other}"')
    return [*COMPARISON.compare(only(IbNetDiscover, text), site).differences]


def lines(differences: list[Difference]) -> set[tuple[str, str, str]]:
    """Return the kind and both statements of differences."""
    return {(each.kind, each.expected, each.running) for each in differences}


def test_the_planned_cables_are_as_planned(tmp_path: Path) -> None:
    """A scalable unit that is cabled as planned differs in nothing, nor with names as managed switches have them."""
    names = [(name, f"MF0;{name}:MQM8790/U1") for name in planned(UNIT).ports]
    assert found(planned(UNIT), UNIT, tmp_path, *names) == []


def test_wrong_cables_are_found(tmp_path: Path) -> None:
    """Exchanged, missing and additional cables are named with both of their ends, also between switches."""
    good = planned(UNIT)
    first, second, *others, last = good.links
    exchanged = (
        first.model_copy(update={"adapter": second.adapter}),
        second.model_copy(update={"adapter": first.adapter}),
    )
    extra = last.model_copy(update={"host": "login01"})
    one, other = (next(trunk for trunk in good.trunks if trunk.lower == leaf) for leaf in ("leaf-1", "leaf-2"))
    wrong = {
        one: one.model_copy(update={"upper": other.upper, "upper_port": other.upper_port}),
        other: other.model_copy(update={"upper": one.upper, "upper_port": one.upper_port}),
    }
    trunks = tuple(wrong.get(trunk, trunk) for trunk in good.trunks)
    made = good.model_copy(update={"links": (*exchanged, *others, extra), "trunks": trunks})
    assert lines(found(made, UNIT, tmp_path)) == {
        ("different", "dgx001 HCA-1 on leaf-1 port 1", "dgx001 HCA-1 on leaf-2 port 1"),
        ("different", "dgx001 HCA-2 on leaf-2 port 1", "dgx001 HCA-2 on leaf-1 port 1"),
        ("missing", "dgx020 HCA-10 on leaf-8 port 20", ""),
        ("extra", "", "login01 HCA-10 on leaf-8 port 20"),
        ("different", "leaf-1 port 21 to spine-1 port 1", f"leaf-1 port 21 to {other.upper} port {other.upper_port}"),
        ("different", f"leaf-2 port 21 to {other.upper} port {other.upper_port}", "leaf-2 port 21 to spine-1 port 1"),
    }


def given(**ports: dict[str, str]) -> Site:
    """Return a site with two leaves and a spine switch, which has these ports on its leaves."""
    content = data("redpaper-4.4")
    switches = [
        {"name": name, **fields, **({"ports": ports[name]} if name in ports else {})} for name, fields in LEAVES.items()
    ]
    content["site"] = {"switches": switches}
    return site.of(parse(content, "test"), "redpaper-4.4")


def test_cables_between_switches_of_the_settings(tmp_path: Path) -> None:
    """`uplinks` are cables of the fabric, and one that is at another port differs."""
    hosts = {f"dgx0{host}": [f"dgx0{host}/mlx5_{rail}" for rail in range(4)] for host in (1, 2)}
    own = given(
        **{
            leaf: {f"1/{port}": cable for port, cable in enumerate(cables, 1)}
            for leaf, cables in zip(("leaf-1", "leaf-2"), hosts.values(), strict=True)
        }
    )
    plan = planned(own)
    assert [(trunk.lower_port, trunk.upper, trunk.upper_port) for trunk in plan.trunks][2] == ("1/21", "spine-1", "1/3")
    assert found(plan, own, tmp_path) == []
    moved = plan.trunks[2].model_copy(update={"upper_port": "1/7"})
    wrong = plan.model_copy(update={"trunks": (*plan.trunks[:2], moved)})
    assert lines(found(wrong, own, tmp_path)) == {
        ("different", "leaf-2 port 21 to spine-1 port 3", "leaf-2 port 21 to spine-1 port 7")
    }


def test_a_fabric_of_other_switches_is_refused(tmp_path: Path) -> None:
    """Switches of other names than those planned cannot be compared."""
    names = [(name, f"Quantum {name}") for name in planned(UNIT).ports]
    with pytest.raises(
        Problem, match=r"none of its switches .* is one of leaf-1.*\nName the switches in site\.switches"
    ):
        found(planned(UNIT), UNIT, tmp_path, *names)
