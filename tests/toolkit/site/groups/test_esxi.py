"""ATS on ESXi: script, keys of virtual machines, runbook."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from stacks.loading import settings
from stacks.site import assembly as site
from tests.support import debian
from tests.support.recorded import ROOT
from tests.support.stack_settings import changed, expect_refusal
from toolkit.evidence.reader import read
from toolkit.evidence.tools.esxcli import EsxcliKernel, EsxcliPci
from toolkit.evidence.tools.lspci import LsPci
from toolkit.evidence.tools.mlxconfig import MlxConfig
from toolkit.site.groups import esxi
from toolkit.site.groups.esxi import GROUP
from toolkit.site.output import Open, written

LOGS = ROOT / "tests" / "toolkit" / "evidence" / "logs"
MACHINE: dict[str, Any] = {"name": "vm1", "host": "esxi1"}


def rendered(stack: str = "nvaie-roce") -> dict[str, str]:
    """Return the texts of a stack's files by path."""
    return {file.path: file.text for file in written(GROUP, site.of(settings.load(stack, ROOT), stack))[0]}


def of_machines(*machines: dict[str, Any], hosts: tuple[str, ...] = ("esxi1",)) -> dict[str, Any]:
    """Return the data of a stack with these virtual machines."""
    return changed("nvaie-roce", site={"esxi": {"hosts": list(hosts), "machines": list(machines)}})


def rendered_of(*machines: dict[str, Any]) -> tuple[dict[str, str], tuple[Open, ...]]:
    """Return the texts of the files of these virtual machines, and what is open."""
    files, missing = written(GROUP, site.of(settings.parse(of_machines(*machines), "test"), "test"))
    return {file.path: file.text for file in files}, missing


def keys(text: str) -> dict[str, str]:
    """Return the keys of a virtual machine's configuration, each once, as vSphere writes them."""
    found = re.findall(r'^([\w.-]+) = "([^"]*)"$', text, re.M)
    assert len({key for key, _ in found}) == len(found) == len(text.splitlines()) - 1
    return dict(found)


def test_the_script_asks_what_the_guide_asks(tmp_path: Path) -> None:
    """Shellcheck finds nothing; the steps are the guide's commands, whose printed answers the parsers read."""
    script = tmp_path / "ats.sh"
    script.write_text(rendered()[esxi.SCRIPT_PATH])
    command = [debian.program("shellcheck"), script]
    found = subprocess.run(command, env=debian.environment(), capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (0, "")
    (tmp_path / "esxcli").write_text('#!/bin/sh\necho "esxcli $*"\n')
    (tmp_path / "esxcli").chmod(0o755)

    def step(*arguments: str) -> list[str]:
        path = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
        ran = subprocess.run(["sh", script, *arguments], env=path, capture_output=True, text=True, check=True)
        return ran.stdout.splitlines()

    guide = [(LOGS / log).read_text().splitlines() for log in ("esxcli-kernel/n-2.2.log", "esxcli-pci/n-4.1.log")]
    assert step("set") == [guide[0][0]]
    assert step("show") == [guide[0][2], guide[1][0].partition(" |")[0]]
    with pytest.raises(subprocess.CalledProcessError):
        step()


def test_keys_of_the_guide() -> None:
    """Machines may talk directly, and have the GPU and NUMA node that the guide prints."""
    files = rendered()
    (pci,) = (each for each in read(LOGS / "esxcli-pci" / "n-4.1.log") if isinstance(each, EsxcliPci))
    for name in ("nvaie01", "nvaie02"):
        assert keys(files[f"esxi/{name}.vmx.txt"]) == {
            "pciPassthru.allowP2P": "true",
            "pciPassthru.RelaxACSforP2P": "true",
            "pciPassthru0.cfg.gpu-pci-id": pci.rows[0].address,
            "numa.nodeAffinity": str(pci.rows[0].numa_node),
        }


def test_the_order_of_the_runbook() -> None:
    """All machines are set before a host restarts; a host restarts out of service; machines start last."""
    text = rendered()[esxi.RUNBOOK_PATH]
    order = (
        "sh ats.sh set",
        "nvaie01.vmx.txt",
        "nvaie02.vmx.txt",
        "In nvaie02: `mlxconfig -d /dev/mst/mt4123_pciconf0 set ATS_ENABLED=true`",
        "esxi01.roce.example.com: shut its machines down (nvaie01)",
        "esxi01.roce.example.com: enter maintenance mode; restart ESXi",
        "esxi02.roce.example.com: enter maintenance mode; restart ESXi",
        "then the machines",
        "ACS Direct Translated",
        "ATSCtl: Enable+",
    )
    places = [text.index(part) for part in order]
    assert places == sorted(places)


def test_answers_to_the_runbooks_checks_are_read() -> None:
    """What the guide prints as answers to the commands of the runbook is read by parsers of logs."""
    answers = {
        "esxcli-kernel/n-2.2.log": EsxcliKernel,
        "esxcli-pci/n-4.1.log": EsxcliPci,
        "mlxconfig/n-3.7.log": MlxConfig,
        "lspci/n-3.9.log": LsPci,
    }
    for log, kind in answers.items():
        assert kind in [type(each) for each in read(LOGS / log)]
    text = rendered()[esxi.RUNBOOK_PATH] + rendered()[esxi.SCRIPT_PATH]
    assert all(
        command in text for command in ("kernel list -o atsSupport", "hardware pci list", "mlxconfig", "lspci -vvv")
    )


def test_what_was_not_read_yet_is_open() -> None:
    """A NUMA node and an adapter that no one has read are open; a GPU that is not named is vSphere's choice."""
    files, missing = rendered_of(MACHINE)
    assert keys(files["esxi/vm1.vmx.txt"]).keys() == {"pciPassthru.allowP2P", "pciPassthru.RelaxACSforP2P"}
    assert ["NUMA node of vm1" in each.what for each in missing] == [True, False]
    assert "adapter of the machine" in missing[1].remedy
    assert "/dev/mst/DEVICE" in files[esxi.RUNBOOK_PATH]


def test_nothing_is_written_without_machines() -> None:
    """A stack without virtual machines has no files of ESXi."""
    assert rendered("dev") == {}


@pytest.mark.parametrize("address", ["3b:02.3", "0000:3B:02.3", "0000:3b:22.3", "0000:3b:02.8", "00000:3b:02.3"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    """Segment, bus, device (below 32) and function (below 8), in lower-case hex."""
    expect_refusal(of_machines(MACHINE | {"gpus": {"0": address}}), f"{address} is not a PCI address … 0000:3b:02.3")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (of_machines(MACHINE | {"host": "esxi2"}), "vm1: host esxi2 is none of hosts"),
        (of_machines(MACHINE, MACHINE), "vm1 is given twice"),
        (
            of_machines(*(MACHINE | {"name": name, "gpus": {"0": "0000:3b:02.3"}} for name in ("vm1", "vm2"))),
            "vm2: GPU 0000:3b:02.3 of esxi1 is taken by vm1 … another",
        ),
        (
            of_machines(MACHINE | {"gpus": {"0": "0000:3b:02.3", "1": "0000:3b:02.3"}}),
            "vm1: GPU 0000:3b:02.3 of esxi1 is taken by vm1",
        ),
    ],
)
def test_machines_that_no_host_could_have(content: dict[str, Any], expected: str) -> None:
    """A host that is not there, and a name or a GPU given twice, are refused."""
    expect_refusal(content, expected)
