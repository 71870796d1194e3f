"""Running configurations of switches, and how they show RoCE."""

import json
from pathlib import Path

import pytest

from tests.support.mutated import only, read_text
from toolkit.evidence.tools.comware_config import ComwareConfig
from toolkit.evidence.tools.nvue import NvueConfig, NvueRoce
from toolkit.evidence.tools.onyx_config import OnyxConfig
from toolkit.evidence.tools.onyx_roce import OnyxRoce

LOGS = Path(__file__).parent.parent / "logs"
ONYX = LOGS / "onyx-config" / "subnet-manager-created.pass.log"
NVUE = LOGS / "nvue-config" / "nvue-lossless.pass.log"
COMWARE = LOGS / "comware-config" / "aggregation-dynamic.pass.log"
HASHES = ("bm90YXJlYWxoYXNo", "YWxzb25vbmUx")
CERTIFICATE = """\
crypto certificate name web public-cert pem "-----BEGIN CERTIFICATE-----
MIIBYDCCAQWgAwIBAgIBATAKBggqhkjOPQQDAjAtMSswKQYD
-----END CERTIFICATE-----
"
ib sm virt enable
"""


def test_the_configuration_of_the_papers_switch() -> None:
    """Commands are read as printed, with the switch's name and release; comments are none."""
    found = only(OnyxConfig, ONYX)
    assert (found.host, found.release) == ("dgx-ib-switch1.ocp4.scale.ibm.com", "3.9.0300")
    assert found.complete
    assert found.unread_total == 0
    assert [row.text for row in found.rows][:3] == [
        "no cli default prefix-modes enable",
        "ib sm virt enable",
        "no interface mgmt0 dhcp",
    ]
    assert len(found.rows) == 13
    assert found.hidden == 8


@pytest.mark.parametrize("log", [ONYX, NVUE, COMWARE])
def test_no_hash_is_stored(log: Path) -> None:
    """Wherever a configuration is cut, no password, hash or key of it is in what was read."""
    lines = log.read_text().splitlines()
    for at in range(len(lines)):
        for part in (lines[at:], lines[:at]):
            stored = json.dumps([one.model_dump(mode="json") for one in read_text("\n".join(part))])
            assert not [each for each in HASHES if each in stored], part[:3]


def test_a_certificate_is_passed_over() -> None:
    """The lines inside of quotes that opened with a certificate are none of the configuration."""
    found = only(OnyxConfig, f"## Hostname: sw1\n{CERTIFICATE}")
    assert [row.text for row in found.rows] == ["ib sm virt enable"]
    assert "MIIB" not in found.model_dump_json()


@pytest.mark.parametrize(
    "statement",
    [
        "username admin password 7 {}",
        "snmp-server community {} ro",
        "snmp-server user admin v3 encrypted auth md5 {} priv aes-128 {}",
        "ntp authentication-key 1 md5 {}",
        "tacacs-server key {}",
        'ssh client user admin authorized-key sshv2 "ssh-rsa {}"',
        "license key {}",
    ],
)
def test_statements_with_secrets_are_counted(statement: str) -> None:
    """Users, communities, keys and hashes are not read, in whichever statement they are."""
    found = only(OnyxConfig, f"## Hostname: sw1\n{statement.replace('{}', HASHES[0])}\nib sm virt enable\n")
    assert (found.hidden, [row.text for row in found.rows]) == (1, ["ib sm virt enable"])
    assert HASHES[0] not in found.model_dump_json()


def test_a_configuration_ends_where_a_command_is_typed() -> None:
    """What another command prints after it is not part of it."""
    after = "[standalone: master] (config) # show ib smnode sw1\nsm-state enabled\n"
    found = read_text(ONYX.read_text() + after)
    assert [one.tool for one in found] == ["onyx-config", "ib-smnode"]


def test_leaves_of_nvue() -> None:
    """Values are below their paths; `on` is on, and an empty map a path alone."""
    found = only(NvueConfig, NVUE)
    assert found.host == "leaf-1"
    assert found.value("qos.roce.enable") == "on"
    assert found.value("interface.swp1-16.link.mtu") == "9216"
    assert ("interface.eth0.ip.address.192.168.1.2/24", None) in {(row.path, row.value) for row in found.rows}
    assert found.hidden == 1


def test_nvue_as_json() -> None:
    """The same is read of `-o json`."""
    tree = [{"header": {"model": "SN4600C"}}, {"set": {"qos": {"roce": {"state": "enabled", "mode": "lossless"}}}}]
    for text in (json.dumps(tree, indent=2), json.dumps(tree)):
        found = only(NvueConfig, text)
        assert [(row.path, row.value) for row in found.rows] == [
            ("qos.roce.state", "enabled"),
            ("qos.roce.mode", "lossless"),
        ]


def test_what_is_no_yaml_has_no_leaves() -> None:
    """A tree that was damaged is read as none, and says so."""
    found = only(NvueConfig, "- set:\n    qos: {roce: {mode: lossless\n    system:\n")
    assert (found.rows, found.complete, found.incomplete) == ((), False, "no value below `set`")


def test_a_tree_ends_where_another_program_prints() -> None:
    """What another program prints at the margin is not part of it."""
    found = read_text(NVUE.read_text() + "Priority trust state: dscp\n")
    assert [one.tool for one in found] == ["nvue-config", "mlnx-qos"]
    assert found[0].complete


def test_lines_of_comware() -> None:
    """Lines of a section begin with a blank; passwords are counted."""
    found = only(ComwareConfig, COMWARE)
    assert (found.host, found.hidden, found.unread_total) == ("fabric-switch", 1, 0)
    assert "interface HundredGigE1/0/1" in [row.text for row in found.rows]
    assert " port link-aggregation group 1" in [row.text for row in found.rows]


def test_switches_show_roce() -> None:
    """Mode, priorities of PFC, marks of congestion and trust are read of both systems."""
    onyx = only(OnyxRoce, LOGS / "onyx-roce" / "switch-lossless.pass.log")
    assert (onyx.mode, onyx.trust, onyx.priorities, onyx.ecn_min, onyx.ecn_max) == ("lossless", "L3", (3,), 150, 1500)
    assert onyx.classes == {3: 3, 6: 6}
    assert only(OnyxRoce, "RoCE mode: N/A\n").mode == "N/A"
    nvue = only(NvueRoce, LOGS / "nvue-roce" / "cumulus-lossless.pass.log")
    assert (nvue.state, nvue.mode, nvue.priorities, nvue.marked) == ("on", "lossless", ("3",), ("0", "3"))
    assert (nvue.receives, nvue.sends, nvue.trust) == ("yes", "yes", ("pcp", "dscp"))
