"""Configurations of switches in their dialects."""

from importlib import import_module
from typing import Any

import pytest
import yaml

from stacks.loading import settings
from stacks.settings.site.switches import Switch
from stacks.site import assembly as site
from stacks.site.site import Site
from tests.support.stack_settings import data
from toolkit.site.groups import switches
from toolkit.site.groups.switches import GROUP, comware, nvue
from toolkit.site.groups.switches.onyx_statements import parse
from toolkit.site.output import written

STACKS = ("redpaper-4.4", "nvaie-roce", "h100-roce", "robotic-drive-ethernet")
"""Examples with switches: one of each dialect."""


def facts(stack: str, **changes: Any) -> Site:
    """Return the site of an example; `changes` are fields of its first switch."""
    content = data(stack, cabled=True)
    first_switch, *others = content["site"]["switches"]
    content["site"] |= {"switches": [first_switch | changes, *others]}
    return site.of(settings.parse(content, "test"), stack)


def first(found: Site) -> Switch:
    """Return its first switch."""
    return found.settings.switches[0]


def text(stack: str, **changes: object) -> str:
    """Return the file of the first switch of a stack."""
    found = facts(stack, **changes)
    return switches.of(first(found)).text(first(found), found)


def test_the_subnet_manager_is_created_then_enabled() -> None:
    """The script has `create`, which the printed list lacks, first, and restarts the switch at its end."""
    lines = text("redpaper-4.4").splitlines()
    node = "ib smnode dgx-ib-switch1.ocp4.scale.ibm.com"
    at = lines.index(f"{node} create")
    assert lines[at : at + 4] == [f"{node} create", f"{node} enable", f"{node} sm-priority 0", "ib sm virt enable"]
    assert lines[-2:] == ["write memory", "reload"]
    assert "interface mgmt0 ip address 192.168.1.250 /24" in lines
    assert "no ipv6 enable" in lines


def test_a_switch_without_a_subnet_manager() -> None:
    """Without a priority it runs none, and needs no restart."""
    lines = text("redpaper-4.4", sm_priority=None)
    assert "smnode" not in lines
    assert lines.endswith("write memory\n")


def test_ports_of_roce_are_down_while_their_mtu_changes() -> None:
    """VLAN and MTU are set for the range of ports; the VLAN is made by `vlan`, and left."""
    lines = text("nvaie-roce").splitlines()
    ports = "interface ethernet 1/1-1/32"
    at = lines.index("roce")
    assert lines[at:] == [
        "roce",
        "vlan 111",
        "exit",
        f"{ports} switchport access vlan 111",
        f"{ports} shutdown",
        f"{ports} mtu 9216",
        f"{ports} no shutdown",
        "write memory",
    ]


def test_ports_in_a_row_are_a_range() -> None:
    """Gaps and parts of split ports divide ranges."""
    found = facts("nvaie-roce")
    cables = dict(zip(("1/1", "1/2", "1/4", "1/5/1", "1/5/2", "2/1"), first(found).ports.values(), strict=False))
    switch = first(found).model_copy(update={"ports": cables})
    lines = switches.of(switch).text(switch, found)
    for ports in ("1/1-1/2", "1/4", "1/5/1-1/5/2", "2/1"):
        assert f"interface ethernet {ports} mtu 9216\n" in lines


def test_a_bond_of_a_machine_is_a_channel_of_onyx() -> None:
    """All ports of a machine are one channel by LACP, which has the VLAN and the MTU."""
    found = facts("robotic-drive-ethernet")
    ports = {f"1/{number}": cable for number, cable in enumerate(first(found).ports.values(), 1)}
    changed = facts("robotic-drive-ethernet", dialect="onyx-eth", ports=ports)
    lines = switches.of(first(changed)).text(first(changed), changed).splitlines()
    assert "lacp" in lines
    assert "interface ethernet 1/5-1/8 channel-group 2 mode active" in lines
    assert "interface port-channel 2 switchport access vlan 100" in lines
    at = lines.index("interface port-channel 2 mtu 9216")
    assert lines[at - 1 : at + 2 : 2] == [f"interface port-channel 2 {word}shutdown" for word in ("", "no ")]
    assert "roce" not in lines


def test_a_bond_of_a_machine_is_an_aggregation_of_comware() -> None:
    """The group is dynamic, so by LACP, and its ports have its VLAN."""
    sections = text("robotic-drive-ethernet").split("#\n")
    assert (
        "interface Bridge-Aggregation4\n description dgx04\n port access vlan 100\n link-aggregation mode dynamic\n"
        in sections
    )
    assert (
        "interface HundredGigE1/0/16\n description dgx04/mlx5_3\n port access vlan 100\n"
        " port link-aggregation group 4\n" in sections
    )


@pytest.mark.parametrize(
    ("version", "roce", "address"), [("5.14", {"enable": "on"}, "ip"), ("5.15", {"state": "enabled"}, "ipv4")]
)
def test_words_of_nvue_follow_the_version(version: str, roce: dict[str, str], address: str) -> None:
    """RoCE is switched on, and an address set, as the version has it; it is valid YAML for either reading of `on`."""
    written = text("h100-roce", dialect=f"nvue-{version}")
    (found,) = yaml.safe_load(written)
    assert found["set"]["qos"]["roce"] == roce | {"mode": "lossless"}
    assert found["set"]["interface"]["eth0"][address]["address"] == {"192.168.1.2/24": {}}
    assert found["set"]["system"]["hostname"] == "leaf-1"
    assert "&" not in written


def test_names_of_a_site_need_no_setting_of_it() -> None:
    """A switch whose name has a domain keeps it, also where the site has another one."""
    assert "hostname sw1.other.example.com\n" in text("redpaper-4.4", name="sw1.other.example.com")


@pytest.mark.parametrize("stack", STACKS)
def test_a_script_says_what_is_wanted(stack: str) -> None:
    """No file of a switch has a statement that its comparison does not know."""
    found = facts(stack)
    for switch in found.settings.switches:
        assert switches.of(switch).statements(switch, found)


def test_commands_of_onyx() -> None:
    """Ranges are taken apart, the last statement counts, and what no setting speaks of is apart."""
    found = parse(
        [
            "vlan 1",
            "vlan 10-11",
            "interface ethernet 1/1-1/2 mtu 1500",
            "interface ethernet 1/2 mtu 9216 force",
            "interface ethernet 1/1 shutdown",
            "interface ethernet 1/2 shutdown",
            "interface ethernet 1/1 no shutdown",
            "roce",
            "ntp server 192.0.2.1",
            "interface ethernet 1/1-2/400 mtu 1500",
            f"vlan 1-{'9' * 5000}",
        ]
    )
    assert found.by_key == {
        "vlan 10": "vlan 10",
        "vlan 11": "vlan 11",
        "interface ethernet 1/1 mtu": "interface ethernet 1/1 mtu 1500",
        "interface ethernet 1/2 mtu": "interface ethernet 1/2 mtu 9216",
        "interface ethernet 1/2 shutdown": "interface ethernet 1/2 shutdown",
        "roce": "roce lossless",
    }
    assert found.others[0] == "ntp server 192.0.2.1"
    assert len(found.others) == 3


def test_leaves_of_nvue() -> None:
    """Ranges and lists in paths are taken apart, the two words for a switch of a feature are one setting."""
    found = nvue.parse(
        [
            "interface.swp1-2,5.link.mtu: 9216",
            "interface.bond1.bond.member.swp7-8",
            "bridge.domain.br_default.vlan.1,10-11",
            "qos.roce.enable: on",
            "interface.swp1-64.type: swp",
            "interface.swp1-9999.bridge.domain.br_default.access: 5",
            "system.timezone: Etc/UTC",
        ]
    )
    assert [*found.by_key.values()] == [
        *(f"interface.swp{number}.link.mtu: 9216" for number in (1, 2, 5)),
        *(f"interface.bond1.bond.member.swp{number}" for number in (7, 8)),
        *(f"bridge.domain.br_default.vlan.{number}" for number in (10, 11)),
        "qos.roce.enable: on",
    ]
    assert [*found.by_key][-1] == "qos.roce.state"
    assert found.others == ("interface.swp1-9999.bridge.domain.br_default.access: 5", "system.timezone: Etc/UTC")


def test_lines_of_comware() -> None:
    """A line counts in its section, an unindented one ends it, and a section alone is not a statement."""
    lines = ["vlan 1", "vlan 100", "interface HundredGigE1/0/1", " port access vlan 100", " ip unreachables enable"]
    found = comware.parse(comware.in_views([*lines, " lldp enable", "interface NULL0", " sysname sw1"]))
    assert found.by_key == {
        "vlan 100": "vlan 100",
        "interface HundredGigE1/0/1 / port access vlan": "interface HundredGigE1/0/1 / port access vlan 100",
        "sysname": "sysname sw1",
    }
    assert [other.partition(" / ")[2] for other in found.others] == ["ip unreachables enable", "lldp enable"]


def test_a_cable_between_switches_is_at_both_of_them() -> None:
    """The ports of an uplink are described and have the MTU on both switches; how they pass the VLAN is open."""
    found = facts("h100-roce", uplinks={"swp17": "leaf-2/swp31"})
    files, missing = written(GROUP, found)
    leaves = [yaml.safe_load(file.text)[0]["set"]["interface"] for file in files]
    assert leaves[0]["swp17"] == {"type": "swp", "description": "leaf-2/swp31", "link": {"mtu": 9216}}
    assert leaves[1]["swp31"] == {"type": "swp", "description": "leaf-1/swp17", "link": {"mtu": 9216}}
    assert sum("VLAN 111 passes its ports to other switches" in each.what for each in missing) == 2


def content(stack: str, version: str) -> dict[str, object]:
    """Return what the file of a stack's first switch sets, written for a version."""
    ports = {f"swp{number}": cable for number, cable in enumerate(first(facts(stack)).ports.values(), 1)}
    found = facts(stack, dialect=f"nvue-{version}", ports=ports, vlan=111, management="192.168.1.9/24")
    switch = first(found)
    (each,) = yaml.safe_load(switches.of(switch).text(switch, found))
    whole: dict[str, object] = each["set"]
    return whole


@pytest.mark.engine  # importing the model of one version takes seconds
@pytest.mark.parametrize("version", ["5.0", "5.14", "5.15", "5.18"])
def test_a_file_is_whole_after_the_models(version: str) -> None:
    """NVIDIA's own schema of the version, nvueschema of PyPI, refuses and drops nothing, as it does unknown keys."""
    model = import_module(f"nvueschema.models.v{version.replace('.', '_')}").NvueConfig
    for stack in ("h100-roce", "robotic-drive-ethernet"):
        wanted = content(stack, version)
        found = model.model_validate(wanted).model_dump(exclude_unset=True, by_alias=True, mode="json")
        assert found == wanted
    unknown = {"qos": {"roce": {"mode": "lossless", "enabel": "on"}}}
    assert model.model_validate(unknown).model_dump(exclude_unset=True, by_alias=True, mode="json") != unknown
