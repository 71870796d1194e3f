"""`./hpc site diff`, on stored configurations and outputs."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from stacks.loading import settings
from stacks.site import assembly as site
from tests.support.recorded import ROOT
from toolkit.cli.app import app
from toolkit.cli.site.comparison import Compared, Comparison
from toolkit.cli.site.comparisons import by_tool
from toolkit.site.groups import switches

LOGS = ROOT / "tests" / "toolkit" / "evidence" / "logs"
PAPER = LOGS / "onyx-config" / "subnet-manager-created.pass.log"
HASH = "bm90YXJlYWxoYXNo"
STACKS = ("redpaper-4.4", "nvaie-roce", "h100-roce", "robotic-drive-ethernet")


def diff(stack: str, *files: str | Path, code: int = 0, given: str = "") -> str:
    """Run `./hpc site diff`; return what it prints, with blanks in a row as one."""
    options = [word for file in files for word in ("-f", str(file))]
    result = CliRunner().invoke(
        app, ["site", "diff", "--stack", stack, *options], input=given, catch_exceptions=False, terminal_width=200
    )
    assert result.exit_code == code, result.output
    return " ".join(result.output.split())


def files_of(stack: str) -> Iterator[str]:
    """Yield the files of the switches of a stack."""
    facts = site.of(settings.load(stack, ROOT), stack)
    yield from (switches.of(switch).text(switch, facts) for switch in facts.settings.switches)


@pytest.mark.parametrize("stack", STACKS)
def test_what_is_written_is_what_is_wanted(stack: str, tmp_path: Path) -> None:
    """A file of each dialect, read as a running configuration, differs in nothing and has nothing else."""
    for text in files_of(stack):
        (tmp_path / "running").write_text(text)
        printed = diff(stack, tmp_path / "running")
        assert f"matches the settings of stack {stack}" in printed
        assert "not compared" not in printed


def test_the_papers_configuration() -> None:
    """The configuration as the paper prints it differs in nothing, and none of its secrets is printed."""
    printed = diff("dev", PAPER)
    assert "switch dgx-ib-switch1" in printed
    assert "matches the settings of stack dev" in printed
    assert HASH not in printed
    assert "password" not in printed


def test_each_kind_of_difference(tmp_path: Path) -> None:
    """What is missing, extra and different is printed with the lines of both; other statements are counted."""
    text = PAPER.read_text().replace("sm-priority 0", "sm-priority 9").replace("ib sm virt enable\n", "")
    (tmp_path / "running").write_text(f"{text}ip name-server 192.0.2.1\nntp server 192.0.2.2\n")
    printed = diff("dev", tmp_path / "running", code=1)
    node = "ib smnode dgx-ib-switch1.ocp4.scale.ibm.com sm-priority"
    assert re.search(rf"different {node} 0 {node} 9", printed)
    assert re.search(r"missing ib sm virt enable (?!ib)", printed)
    assert "extra ip name-server 192.0.2.1" in printed
    assert "1 statement is not compared, for no setting speaks of it: ntp server 192.0.2.2" in printed


def test_ranges_of_nvue_are_ports(tmp_path: Path) -> None:
    """Ports that NVUE prints as a range are compared one by one."""
    (text,) = [text for text in files_of("h100-roce") if "hostname: leaf-1" in text]
    lines = text.splitlines(keepends=True)
    sizes = "      swp1-16:\n        link:\n          mtu: 9000\n"
    without = "".join(
        line
        for at, line in enumerate(lines)
        if "mtu:" not in line and not (line.strip() == "link:" and "mtu:" in lines[at + 1])
    )
    (tmp_path / "running").write_text(without + sizes)
    printed = diff("h100-roce", tmp_path / "running", code=1)
    assert printed.count("different interface.swp") == 16
    assert "interface.swp16.link.mtu: 9216 interface.swp16.link.mtu: 9000" in printed


def test_an_mtu_that_is_the_default_is_not_missing(tmp_path: Path) -> None:
    """Releases from 3.9.2110 on have an MTU of 9216 without a command, older ones 1500."""
    (text,) = files_of("nvaie-roce")
    plain = "\n".join(line for line in text.splitlines() if " mtu " not in line)
    for release, code in (("3.9.2110", 0), ("3.8.2008", 1)):
        (tmp_path / "running").write_text(f"## Product release: {release}\n{plain}\n")
        printed = diff("nvaie-roce", tmp_path / "running", code=code)
        assert printed.count("missing interface ethernet") == 32 * code


@pytest.mark.parametrize(
    ("stack", "log", "expected"),
    [
        ("h100-roce", "mlnx-qos/host-lossless", "trust: dscp trust: pcp"),
        ("h100-roce", "onyx-roce/switch-lossless", "mode: lossless mode: lossy"),
        ("h100-roce", "cma-roce/connection-class", "type of service: 106 type of service: 0"),
        ("h100-roce", "show-gids/roce-address", "missing mlx5_0: GID of RoCE v2: with an IPv4 address"),
        ("dev", "mlxconfig/firmware-in-force", "LINK_TYPE_P1 IB(1) LINK_TYPE_P1 ETH(2)"),
    ],
)
def test_outputs_of_hosts_and_switches(stack: str, log: str, expected: str) -> None:
    """What does not do as the fabric needs it is printed with what is wanted."""
    assert expected in diff(stack, LOGS / f"{log}.fail.log", code=1)


def test_a_subnet_manager(tmp_path: Path) -> None:
    """One that is to run is enabled, and that of a switch which the settings do not name is refused."""
    log = tmp_path / "log"
    log.write_text("switch (config) # show ib smnode dgx-ib-switch1.ocp4.scale.ibm.com\nsm-state disabled\n")
    assert "different sm-state enabled sm-state disabled" in diff("dev", log, code=1)
    log.write_text(log.read_text().replace("disabled", "enabled"))
    assert "subnet manager of dgx-ib-switch1" in diff("dev", log)
    log.write_text(log.read_text().replace("dgx-ib-switch1", "other"))
    assert "other.ocp4.scale.ibm.com is not InfiniBand switch" in diff("dev", log, code=2)


def test_roce_as_it_is_wanted() -> None:
    """Several files are compared in one call."""
    found = ("mlnx-qos/host-lossless", "onyx-roce/switch-lossless", "nvue-roce/cumulus-lossless")
    printed = diff("h100-roce", *(LOGS / f"{log}.pass.log" for log in found))
    assert printed.count("matches the settings") == 3


def test_cables() -> None:
    """What ibnetdiscover lists of the Redpaper's lab is as the settings have it."""
    assert "fabric in" in (printed := diff("dev", LOGS / "ibnetdiscover" / "cable-lanes.pass.log"))
    assert "matches the settings" in printed


def test_standard_input() -> None:
    """- is standard input."""
    assert "matches the settings" in diff("dev", "-", given=PAPER.read_text())


@pytest.mark.parametrize(
    ("stack", "text", "expected"),
    [
        ("dev", "nothing that a tool printed\n", r"nothing in it can be compared: .*Give a running configuration"),
        ("dev", "## Hostname: other\nroce\n", r"configuration of switch other; .*: dgx-ib-switch1 .*Add the switch"),
        (
            "h100-roce",
            "- set:\n    qos:\n      roce:\n        mode: lossless\n",
            r"a switch that it does not name; .*Store it",
        ),
        ("h100-roce", "- set:\n    qos: {roce\n", r"nvue-config is not whole: .*Store it again"),
        ("dev", "Priority trust state: dscp\n", r"mlnx-qos is not whole: no PFC"),
        ("h100-roce", "# Topology file: generated on Thu\n", r"ibnetdiscover is not whole: no cable"),
        ("dev", "RoCE mode: lossless\n", r"onyx-roce shows RoCE, and fabric of stack dev is infiniband .*--stack"),
    ],
)
def test_what_cannot_be_compared(stack: str, text: str, expected: str, tmp_path: Path) -> None:
    """It is one message with a remedy, and exit status 2."""
    (tmp_path / "running").write_text(text)
    assert re.search(expected, diff(stack, tmp_path / "running", code=2))


def test_a_file_that_is_missing(tmp_path: Path) -> None:
    """It is named, with exit status 2."""
    assert "No such file" in diff("dev", tmp_path / "none", code=2)


@pytest.mark.parametrize(
    ("tools", "reason"), [(("lsmod", "lsmod"), "two modules .* lsmod"), (("lsmodd",), "no parser .* lsmodd")]
)
def test_a_tool_has_one_comparison(tools: tuple[str, ...], reason: str) -> None:
    """Two comparisons of one tool, and one of an unknown tool, are refused at import."""
    made = Comparison(tools, lambda _reading, _site: Compared("it", ()))
    with pytest.raises(TypeError, match=re.compile(reason)):
        by_tool([made])
