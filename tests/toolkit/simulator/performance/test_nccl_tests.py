"""What nccl-tests and NCCL print of a job, read as any log is read."""

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from core.hardware.profiles import PROFILES
from tests.support.machines import pcie_server
from tests.toolkit.simulator.performance.jobs import EXPORTS, NEW, OLD, launch
from toolkit.evidence.model import NcclLog
from toolkit.evidence.reader import read_stream
from toolkit.evidence.tools.nccl_tests import NcclTests
from toolkit.simulator.performance import nccl_tests, pod_commands
from toolkit.simulator.performance.job import Launched
from toolkit.simulator.performance.launchers import mpirun
from toolkit.simulator.performance.printed import Printed

HCAS = ("mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3")
TODAY = ("NCCL_DEBUG=INFO", "NCCL_IB_DISABLE=0", "NCCL_NET_GDR_LEVEL=PXB")


@pytest.fixture(autouse=True)
def _nccl_tests_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate what is tested here, whatever else there is."""
    monkeypatch.setattr(pod_commands, "PROGRAMS", nccl_tests.PROGRAMS)


def read(job: Launched) -> NcclTests:
    """Return what is read in the log of a job that must succeed, in which every line must be understood."""
    done = pod_commands.simulate(job)
    assert (done.exit_code, done.message) == (0, "")
    text = "\n".join(("simulated by hpc: a log", *done.lines, ""))
    (reading,) = read_stream(io.BytesIO(text.encode()), "log")
    assert isinstance(reading, NcclTests)
    assert (reading.simulated, reading.complete, reading.incomplete, reading.unread) == (True, True, None, ())
    assert reading.average_agrees is True
    return reading


def nccl(job: Launched) -> NcclLog:
    """Return what NCCL said in it."""
    found = read(job).nccl
    assert found is not None
    return found


@pytest.mark.parametrize("test", nccl_tests.TESTS)
@pytest.mark.parametrize(("image", "exports"), [(OLD, EXPORTS), (NEW, TODAY)])
@pytest.mark.parametrize(("pods", "gpus"), [(1, 8), (2, 8), (16, 1), (1, 1)])
def test_every_table_reads_in_full(pods: int, gpus: int, image: str, exports: Sequence[str], test: str) -> None:
    """The evidence parsers read the log, and its figures agree with each other."""
    reading = read(launch(pods, gpus, image=image, exports=exports, test=test))
    assert (reading.ranks, len(reading.hosts), len(reading.rows)) == (pods * gpus, pods, 26)
    assert reading.out_of_bounds == 0
    assert reading.nccl is not None
    assert reading.nccl.initialised == reading.nccl.nranks == pods * gpus


def test_the_papers_job_of_two_nodes() -> None:
    """The log has the lines that the paper prints."""
    job = launch(2, 8)
    lines = pod_commands.simulate(job).lines
    assert lines[0] == (
        "# nThread 1 nGpus 8 minBytes 8 maxBytes 268435456 step: 2(factor) warmup iters: 5 iters: 20 validation: 1 "
    )
    assert "#   Rank 12 Pid     30 on job-worker-1 device  4 [0x85] Tesla V100-SXM2-16GB" in lines
    assert (
        "job-worker-1:30:30 [0] NCCL INFO NET/IB : Using [0]mlx5_3:1/IB [1]mlx5_2:1/IB [2]mlx5_1:1/IB [3]mlx5_0:1/IB ;"
        " OOB eth0:10.128.7.2<0>"
    ) in lines
    heads = [index for index, line in enumerate(lines) if line.startswith("#       size         count    type   redop")]
    assert lines[heads[0] + 2] == "job-worker-0:30:30 [0] NCCL INFO Launch mode Group/CGMD"
    assert lines[heads[0] + 3].startswith("           8             2   float     sum  ")
    assert lines[-3] == "# Out of bounds values : 0 OK"
    found = nccl(job)
    assert (found.version, found.cuda, found.channels) == ("2.6.3", "10.2", 4)
    assert (found.between_nodes, found.gpudirect_between_nodes) == ({"NET/IB": 8}, 8)
    assert set(found.used_devices) == set(HCAS)
    assert max(row.out_of_place.busbw_gb_s for row in read(job).rows if row.out_of_place) == pytest.approx(
        55.2, rel=0.04
    )


def test_todays_table_is_that_of_our_builds() -> None:
    """The columns are those of nccl-tests v2.13 (its output in NixOS/nixpkgs pull request 251856)."""
    lines = pod_commands.simulate(launch(1, 8, image=NEW, exports=(), test="all_gather")).lines
    assert lines[3] == "#  Rank  0 Group  0 Pid     30 on job-worker-0 device  0 [0x06] Tesla V100-SXM2-16GB"
    names = "     time   algbw   busbw #wrong"
    units = "     (us)  (GB/s)  (GB/s)       "
    assert lines[12:15] == (
        f"#{62 * ' '}out-of-place                       in-place          ",
        f"#       size         count      type   redop    root{names}{names}",
        f"#        (B)    (elements)                          {units}{units}",
    )
    assert lines[-4].startswith("   268435456       8388608     float    none      -1  ")
    assert re.fullmatch(r"(?:  [ .\d]{7}  [ .\d]{6}  [ .\d]{6}      0){2}", lines[-4][52:])


def test_single_gpu_pods_use_the_hca_beside_them() -> None:
    """GPUDirect is used only below one PCIe bridge, as PIX allows."""
    lines = pod_commands.simulate(launch(16, 1)).lines
    # mlx5_0 is beside GPU 0 and 1, and NCCL counts backwards.
    assert "job-worker-1:30:40 [0] NCCL INFO Ring 00 : 0[6000] -> 1[7000] [receive] via NET/IB/3/GDRDMA" in lines
    assert nccl(launch(16, 1)).between_nodes == {"NET/IB": 32}


def test_rings_follow_nvlink() -> None:
    """Rings use only links that the cube mesh has, none too often."""
    lines = pod_commands.simulate(launch(1, 8)).lines
    assert nccl(launch(1, 8)).transports == {"P2P/direct pointer": 96}
    assert not [line for line in lines if " : 0[6000] -> 5[86000] " in line]
    of_two = nccl(launch(1, 8, image=NEW, exports=TODAY, profile="dgx-a100"))
    assert of_two.transports == {"P2P/CUMEM": 192}
    assert of_two.version == "2.20.5"


@pytest.mark.parametrize(
    ("change", "devices", "between", "gpudirect"),
    [
        ({}, HCAS[::-1], {"NET/IB": 8}, 8),
        ({"down": ("mlx5_2",)}, ("mlx5_3", "mlx5_1", "mlx5_0"), {"NET/IB": 6}, 6),
        ({"down": HCAS}, (), {"NET/Socket": 4}, 0),
        ({"worker": {"devices": ("mlx5_1",)}}, ("mlx5_1",), {"NET/IB": 2}, 2),
        ({"worker": {"devices": ()}}, (), {"NET/Socket": 4}, 0),
        ({"exports": ("NCCL_DEBUG=INFO", "NCCL_IB_DISABLE=1")}, (), {"NET/Socket": 4}, 0),
        ({"exports": ("NCCL_DEBUG=INFO", "NCCL_IB_HCA=mlx5_0,mlx5_3")}, ("mlx5_3", "mlx5_0"), {"NET/IB": 4}, 4),
        ({"exports": ("NCCL_DEBUG=INFO", "NCCL_IB_HCA=^mlx5_0")}, ("mlx5_3", "mlx5_2", "mlx5_1"), {"NET/IB": 6}, 6),
        ({"exports": ("NCCL_DEBUG=INFO", "NCCL_NET_GDR_LEVEL=LOC")}, HCAS[::-1], {"NET/IB": 8}, 0),
        ({"exports": ("NCCL_DEBUG=INFO", "NCCL_NET_GDR_LEVEL=0")}, HCAS[::-1], {"NET/IB": 8}, 0),
        ({"gpudirect": False}, HCAS[::-1], {"NET/IB": 8}, 0),
    ],
)
def test_faults_that_only_make_it_slow(
    change: dict[str, Any], devices: tuple[str, ...], between: dict[str, int], gpudirect: int
) -> None:
    """A missing device makes the job slow, as in the field, and its log shows the fallback."""
    found = nccl(launch(2, 8, **change))
    assert (found.devices, found.between_nodes) == (devices, between)
    assert found.gpudirect_between_nodes == gpudirect


@pytest.mark.parametrize("profile", [name for name, machine in PROFILES.items() if machine.hcas])
def test_whole_machines_use_gpudirect_on_every_channel(profile: str) -> None:
    """Data that comes in beside one GPU leaves through it as well, by PXN, where no second GPU is beside the HCA."""
    found = nccl(launch(2, PROFILES[profile].gpus, image=NEW, exports=TODAY, profile=profile))
    assert found.gpudirect_between_nodes == sum(found.between_nodes.values()) > 0


@pytest.mark.parametrize(("level", "direct"), [("PHB", True), ("PXB", False), ("LOC", False)])
def test_gpudirect_over_host_bridges_needs_its_level(level: str, direct: bool) -> None:
    """A server whose ports are on the NUMA nodes of its GPUs uses GPUDirect on every channel with PHB alone."""
    machine = pcie_server("NODE NODE SYS SYS", "SYS SYS NODE NODE")
    exports = (*TODAY[:2], f"NCCL_NET_GDR_LEVEL={level}")
    found = nccl(launch(2, 4, image=NEW, exports=exports, profile=machine))
    assert found.gpudirect_between_nodes == (sum(found.between_nodes.values()) if direct else 0)
    assert found.between_nodes.keys() == {"NET/IB"}


def test_data_leaves_through_the_gpu_beside_the_hca() -> None:
    """NCCL names the rank that sends for another: each HCA of a DGX H100 has one GPU beside it."""
    lines = pod_commands.simulate(launch(2, 8, image=NEW, exports=TODAY, profile="dgx-h100")).lines
    sent = [line.split(" via ")[1] for line in lines if "Channel 00/0" in line and "[send]" in line]
    received = [line.split(" via ")[1] for line in lines if "Channel 00/0" in line and "[receive]" in line]
    assert sent == ["NET/IB/0(0)/GDRDMA", "NET/IB/0(8)/GDRDMA"]
    assert received == ["NET/IB/0/GDRDMA", "NET/IB/0/GDRDMA"]


def failed(job: Launched) -> Printed:
    """Return how a job that must fail ends."""
    done = pod_commands.simulate(job)
    assert done.exit_code
    assert any(done.message in line for line in done.lines) or done.message in " ".join(done.lines)
    return done


@pytest.mark.parametrize(
    ("image", "call"), [(OLD, "Call to ibv_reg_mr failed"), (NEW, "Call to ibv_reg_mr_iova2 failed")]
)
def test_without_memlock_it_fails_between_nodes(image: str, call: str) -> None:
    """Without the memlock MachineConfig jobs between nodes fail, and jobs of one node pass."""
    done = failed(launch(2, 8, image=image, memlock_unlimited=False))
    assert done.message.startswith(call)
    assert any("Test NCCL failure" in line and "unhandled system error" in line for line in done.lines)
    assert "mpirun detected that one or more processes exited with non-zero status, thus causing" in done.lines
    assert not [line for line in done.lines if "Init COMPLETE" in line]
    assert read(launch(1, 8, image=image, memlock_unlimited=False)).complete
    slow = nccl(launch(2, 8, memlock_unlimited=False, exports=("NCCL_DEBUG=INFO", "NCCL_IB_DISABLE=1")))
    assert slow.between_nodes == {"NET/Socket": 4}


@pytest.mark.parametrize(
    ("job", "message"),
    [
        (partial(launch, 2, 8, np=3), "not enough slots"),
        (partial(launch, 2, 8, has_driver=False), "no CUDA-capable device"),
        (partial(launch, 1, 8, worker={"gpus": (0,)}), "invalid device ordinal"),
        (partial(launch, 2, 8, ethernet=True), "Got completion with error 12"),
    ],
)
def test_what_ends_a_job(job: Callable[[], Launched], message: str) -> None:
    """A wrong number of processes, a missing driver, GPU or address fails the job."""
    assert message in failed(job()).message


def test_fewer_processes_make_fewer_ranks() -> None:
    """A job with half its GPUs shows that in its log."""
    reading = read(launch(2, 8, np=1))
    assert (reading.ranks, reading.hosts) == (8, ("job-worker-0",))


def test_roce_names_its_link() -> None:
    """RoCE ports are printed as RoCE."""
    found = nccl(launch(2, 8, ethernet=True, exports=(*EXPORTS, "NCCL_IB_GID_INDEX=3")))
    assert set(found.link_layers.values()) == {"RoCE"}


def test_pods_that_cannot_speak_to_each_other() -> None:
    """InfiniBand on one node and TCP on the other fails the job."""
    job = launch(2, 8)
    object.__setattr__(job.workers[1], "devices", ())
    assert "Connect to" in failed(job).message


def test_without_debug_there_is_the_table_alone() -> None:
    """NCCL's lines are in the log only where NCCL_DEBUG requests them."""
    done = pod_commands.simulate(launch(2, 8, exports=()))
    assert len(done.lines) == 52
    assert not [line for line in done.lines if "NCCL" in line]


def test_a_log_of_twenty_nodes_stays_small() -> None:
    """The log of 160 ranks fits into a pod's."""
    exports = (*TODAY, "NCCL_COLLNET_ENABLE=1")
    job = launch(20, 8, profile="dgx-a100", image=NEW, exports=exports)
    assert len("\n".join(pod_commands.simulate(job).lines)) < 400_000
    found = nccl(job)
    assert (found.collnet, found.channels, found.transports["COLLNET/SHARP"]) == (True, 8, 160)


def environment(job: Launched) -> dict[str, str]:
    """Return the variables of the processes that a job's mpirun starts, apart from their pods' own."""
    seen: list[Launched] = []

    def keep(_: Sequence[str], started: Launched) -> Printed:
        seen.append(started)
        return Printed()

    mpirun(job.words, job, keep)
    return dict(seen[0].environment)


def test_what_processes_inherit() -> None:
    """Processes on other hosts have the exported variables, and no others of the launcher."""
    job = launch(2, 8, exports=("NCCL_DEBUG", "A=1")).having(NCCL_DEBUG="INFO", B="2")
    assert environment(job) == {"NCCL_DEBUG": "INFO", "A": "1"}
    alone = launch(1, 8, exports=()).having(B="2")
    assert environment(replace(alone, me=alone.workers[0])) == {"B": "2"}


@pytest.mark.parametrize(
    "options",
    [(), ("-b",), ("-b", "x", "-e", "-1"), ("--minbytes=1K", "--stepbytes", "0"), ("-g", "-f", "0", "-d", "?")],
)
def test_odd_options_raise_nothing(options: Sequence[str]) -> None:
    """No command line of a user raises."""
    nccl_tests.perf(("all_reduce_perf", *options), launch(1, 8, placed=True))


@pytest.mark.parametrize(
    "words", [("mpirun",), ("mpirun", "-np"), ("mpirun", "-x"), ("mpirun", "-np", "4 ", "hostname"), ("mpirun", "-mca")]
)
def test_odd_command_lines_of_mpirun(words: Sequence[str]) -> None:
    """Nor does one of mpirun."""
    mpirun(words, launch(1, 8), pod_commands.program)


@pytest.mark.parametrize("words", [("mpirun",) * 5000, ("mpirun", "-np", "9" * 12, "-oversubscribe", "hostname")])
def test_endless_command_lines(words: tuple[str, ...]) -> None:
    """Extreme options neither raise nor fill the memory."""
    pod_commands.simulate(replace(launch(1, 8), words=words))
