"""node-report: the program in a real shell, and on a simulated node."""

import subprocess
from dataclasses import replace
from pathlib import Path

from stacks.programs import PROGRAMS
from tests.support.machines import DGX1_V100_16GB
from tests.support.mutated import read_text
from toolkit.evidence.criteria import CRITERIA
from toolkit.evidence.judge import evaluate
from toolkit.evidence.tools.ibstat import IbStat
from toolkit.evidence.tools.lscpu import LsCpu
from toolkit.evidence.tools.lsmod import LsMod
from toolkit.evidence.tools.network import NetDevices
from toolkit.evidence.verdict import Ended, Job, Request, Status, Verdict
from toolkit.simulator.performance import pod_commands
from toolkit.simulator.performance.job import Launched, Machine, Worker

PROGRAM = PROGRAMS["node-report"]
MACHINE = Machine("dgx01", DGX1_V100_16GB, has_driver=True, gpudirect=True)


def judged(machine: Machine, fabric: str = "infiniband") -> dict[str, Verdict]:
    """Return the verdicts on the program's log from a simulated node."""
    me = Worker("pod", machine, gpus=(0,))
    job = Launched(me=me, image="x", words=PROGRAM.command, run="test", workers=(me,), machines=(machine,))
    log = "\n".join(pod_commands.simulate(job).lines)
    asked = {"program": "node-report", "prints": PROGRAM.prints, "profile": DGX1_V100_16GB.name, "fabric": fabric}
    request = Request.model_validate({"job": "t/node-report", **asked})
    ran = Job(request=request, ended=Ended.SUCCEEDED, readings=read_text(log))
    found = (evaluate(criterion, ran) for criterion in CRITERIA)
    return {verdict.criterion: verdict for verdict in found if verdict is not None}


MODULES = """\
nvidia_uvm 1437696 4 - Live 0x0000000000000000 (POE)
nvidia 56717312 98 nvidia_uvm,nvidia_modeset, Live 0x0000000000000000 (POE)
ext4 1069056 1 [permanent], Live 0x0000000000000000
8021q 40960 0 - Live 0x0000000000000000
"""
"""In the form of the kernel's module list (kernel/module/procfs.c)."""


def test_a_real_shell_prints_what_is_read(tmp_path: Path) -> None:
    """The commands run without privilege, and what they print of this host is read whole."""
    (tmp_path / "modules").write_text(MODULES)
    command = [word.replace("/proc/modules", "modules") for word in PROGRAM.command]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = {type(one): one for one in read_text(done.stdout)}
    for kind in (LsCpu, NetDevices):
        assert found[kind].complete, found[kind].incomplete
    modules = found.get(LsMod)
    assert isinstance(modules, LsMod)
    assert [(row.name, row.used_by) for row in modules.rows] == [
        ("nvidia_uvm", ()),
        ("nvidia", ("nvidia_uvm", "nvidia_modeset")),
        ("ext4", ()),
        ("8021q", ()),
    ]
    assert modules.complete
    assert not modules.filtered


def test_a_simulated_node_is_judged() -> None:
    """NUMA nodes, modules, network and firmware are judged from the log of one job, and nothing is missing."""
    found = judged(MACHINE)
    wanted = {"peer-memory", "nouveau-absent", "one-firmware"}
    assert {name: found[name].status for name in wanted} == dict.fromkeys(wanted, Status.PASS)
    assert Status.MISSING not in {each.status for each in found.values()}


def test_what_a_node_lacks_fails() -> None:
    """Without the module by which adapters reach these GPUs the job fails, and an overlay's MTU is a warning."""
    assert judged(replace(MACHINE, gpudirect=False))["peer-memory"].status is Status.FAIL
    assert judged(MACHINE, "ethernet")["pod-mtu"].status is Status.WARN


def test_adapters_are_shown() -> None:
    """Every adapter of the machine is in the log."""
    me = Worker("pod", MACHINE)
    job = Launched(me=me, image="x", words=PROGRAM.command, run="test", workers=(me,), machines=(MACHINE,))
    (found,) = (one for one in read_text("\n".join(pod_commands.simulate(job).lines)) if isinstance(one, IbStat))
    assert len(found.adapters) == len(DGX1_V100_16GB.hcas)
