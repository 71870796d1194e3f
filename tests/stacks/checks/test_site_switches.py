"""Switches of a site that contradict the machines, each refused with one message: path, value and remedy."""

from collections.abc import Callable
from typing import Any

import pytest

from stacks.loading.settings import parse
from tests.support.stack_settings import data, expect_message, message

Switches = list[dict[str, Any]]


def problem(stack: str, change: Callable[[Switches], object]) -> str:
    """Return what is said of a stack whose switches were changed; it is one problem."""
    content = data(stack, cabled=True)
    change(content["site"]["switches"])
    text = message(content)
    assert len(text.strip().splitlines()) == 2, text
    return text


@pytest.mark.parametrize(
    ("ports", "expected"),
    [
        ({"1/1/1": "dgx09/mlx5_0"}, "1/1 is used twice, … 1/1/1 … leave"),
        ({"swp1": "dgx01/mlx5_0"}, "'swp1' is not a port … write it as 1/1"),
        ({"1/20": "dgx01/mlx5_0"}, "dgx01/mlx5_0 is cabled twice; give"),
        ({"1/4": "dgx09/mlx5_3"}, "ports.1/4 dgx09/mlx5_3: no GPU node is called dgx09; correct it to dgx0"),
        ({"1/4": "dgx01/mlx5_9"}, "ports.1/4 dgx01/mlx5_9: … has no port mlx5_9; use one of mlx5_0"),
        ({"1/4": None}, "site.switches: dgx01/mlx5_3 is on no switch … add"),
    ],
)
def test_a_cable_that_cannot_be(ports: dict[str, str | None], expected: str) -> None:
    """Each is refused with its port, what is on it and what to do."""

    def change(switches: Switches) -> None:
        cables = switches[0]["ports"] | ports
        switches[0]["ports"] = {port: cable for port, cable in cables.items() if cable}

    expect_message(problem("redpaper-4.4", change), expected)


@pytest.mark.parametrize(
    ("stack", "fields", "expected"),
    [
        ("redpaper-4.4", {"others": {"1/1": "storage"}}, "site.switches[0]: ports: 1/1 is used twice; leave one out"),
        ("redpaper-4.4", {"dialect": "eos"}, "switches[0].dialect: … 'onyx-ib' … 'comware' (value: 'eos'); write one"),
        (
            "redpaper-4.4",
            {"gateway": "10.0.0.1"},
            "gateway: 10.0.0.1 is not another address in 192.168.1.0/24 … correct",
        ),
        ("redpaper-4.4", {"management": "192.168.1.255/24"}, "192.168.1.255/24 is not a host's address; give"),
        (
            "redpaper-4.4",
            {"management": "192.168.1.2"},
            "management: 192.168.1.2 has no network; give … 192.168.1.2/24",
        ),
        ("redpaper-4.4", {"management": "192.168.1.20/24"}, "management 192.168.1.20 … taken by dgx02.ocp4 … give"),
        ("redpaper-4.4", {"management": None}, "gateway: 192.168.1.1 has no effect without management; give"),
        ("h100-roce", {"dialect": "nvue-5.19"}, "switches[0].dialect: … 'nvue-5.18' … (value: 'nvue-5.19'); write"),
        (
            "h100-roce",
            {"mtu": 1500},
            "leaf-1: mtu 1500 is less than fabric.ports.mtu 9216, … raise it to 9216, or lower",
        ),
        ("robotic-drive-ethernet", {"mtu": 1500}, "mtu 1500 is less than fabric.bond.mtu 9000, … raise it to 9000, or"),
        ("h100-roce", {"name": "leaf-2"}, "site.switches: name 'leaf-2' is given twice"),
        ("h100-roce", {"management": "192.168.1.3/24"}, "site.switches: management '192.168.1.3' is given twice"),
    ],
)
def test_a_switch_that_cannot_be(stack: str, fields: dict[str, Any], expected: str) -> None:
    """Each is refused with its path, its value and what to do."""
    expect_message(problem(stack, lambda switches: switches[0].update(fields)), expected)


def test_a_port_of_a_machine_has_one_switch() -> None:
    """A port that is cabled to two switches is named with both places."""
    text = problem("h100-roce", lambda switches: switches[1]["ports"].update(swp1="dgx01/mlx5_0"))
    expect_message(text, "leaf-2: ports.swp1 dgx01/mlx5_0 is cabled twice, also to leaf-1 swp1; leave")


def test_a_switch_of_another_fabric_has_no_compute_ports() -> None:
    """An InfiniBand switch on a fabric of Ethernet is refused."""

    def change(switches: Switches) -> None:
        switches[0] = {"name": "sw1", "dialect": "onyx-ib", "ports": switches[0]["ports"]}

    expect_message(problem("nvaie-roce", change), "dialect onyx-ib is of InfiniBand, and fabric is roce; use")


def test_a_switch_for_storage_alone_needs_no_compute_ports() -> None:
    """Machines whose ports for storage are cabled need not have the others on a switch that the settings name."""
    content = data("superpod-a100", cabled=True)
    switch = {"name": "storage-1", "dialect": "onyx-ib", "ports": {"1/1": "dgx001/mlx5_4"}}
    assert parse(content | {"site": {"switches": [switch]}}, "test")


def swapped(all_: Switches) -> None:
    """Swap a cable of a machine with one of its cables to the other switch."""
    one, other = (switch["ports"] for switch in all_)
    one["swp5"], other["swp5"] = other["swp5"], one["swp5"]


def test_a_rail_has_one_switch() -> None:
    """A machine that has a rail on another switch than the others is named, with where it belongs."""
    content = data("h100-roce", cabled=True)
    swapped(content["site"]["switches"])
    text = message(content)
    expect_message(text, "leaf-2: dgx02/mlx5_0 is there, and the same rail of dgx01 is on leaf-1; … cable it to leaf-1")
    expect_message(text, "leaf-1: dgx02/… is there, and … is on leaf-2; … cable it to leaf-2")
    assert len(text.strip().splitlines()) == 3


def test_machines_of_two_units_have_switches_of_their_own() -> None:
    """Machines with all ports on the switch of their rack, each rack with its own, make no rail on two switches."""
    content = data("h100-roce", cabled=True)
    one, other = content["site"]["switches"]
    cables = sorted([*one["ports"].values(), *other["ports"].values()])
    one["ports"] = {f"swp{number}": cable for number, cable in enumerate(cables[:16], 1)}
    other["ports"] = {f"swp{number}": cable for number, cable in enumerate(cables[16:], 1)}
    assert parse(content, "test")


def test_a_bond_has_one_switch() -> None:
    """A machine whose link by LACP would end at two switches is named."""

    def moved(all_: Switches) -> None:
        port, cable = all_[0]["ports"].popitem()
        all_.append({"name": "second", "dialect": "comware", "ports": {port: cable}})

    text = problem("robotic-drive-ethernet", moved)
    expect_message(text, "fabric.bond of dgx04 ends at fabric-switch and second; … cable all its ports to one")


@pytest.mark.parametrize(
    ("uplinks", "expected"),
    [
        (
            {"swp17": "leaf-2/swp17", "swp18": "leaf-2/swp17"},
            "uplinks.swp18 leaf-2/swp17: at leaf-2 swp17 is used twice",
        ),
        ({"swp17": "leaf-2/swp1"}, "leaf-1: uplinks.swp17 leaf-2/swp1: at leaf-2 swp1 is used twice; leave one out"),
        ({"swp1": "leaf-2/swp17"}, "site.switches[0]: ports: swp1 is used twice; leave one out of ports, others and"),
        ({"swp17": "leaf-2/swp17s0", "swp18": "leaf-2/swp17"}, "at leaf-2 swp17 is used twice, … as swp17s0"),
        ({"swp17": "leaf-2/1/17"}, "at leaf-2 '1/17' is not a port of this dialect; write it as swp1"),
        ({"swp17": "leaf2/swp17"}, "no switch is called leaf2; correct it to leaf-2, or add the switch"),
        ({"swp17": "leaf-1/swp18"}, "a cable to the switch itself; name another one"),
        ({"swp17": "ib/1/1"}, "ib is of InfiniBand; cable switches of one fabric"),
    ],
)
def test_a_cable_between_switches_that_cannot_be(uplinks: dict[str, str], expected: str) -> None:
    """Each is refused with both of its ends and what to do."""

    def change(switches: Switches) -> None:
        switches[0]["uplinks"] = uplinks
        switches.append({"name": "ib", "dialect": "onyx-ib"})

    expect_message(problem("h100-roce", change), expected)
