"""The synthetic training step by step, and what ranks print when others are gone."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.project import PRODUCT
from tests.toolkit.simulator.performance.jobs import NEW, launch
from toolkit.simulator.performance import lost_ranks, pod_commands, step_training
from toolkit.simulator.performance.job import Launched
from toolkit.simulator.performance.printed import Printed, Steps

SCRIPT = (PRODUCT / "stacks/scripts/synthetic_training.py").read_text()
TRAINS = ("python3", "-c", SCRIPT, "--steps", "40", "--every", "20")
PET = {"PET_NNODES": "2", "PET_NPROC_PER_NODE": "8"}


def _pod(number: int, folder: Path | None = None, words: tuple[str, ...] = ()) -> Launched:
    """Return one of two pods of eight GPUs, which train for 8 s on a claim at /checkpoints."""
    job = launch(2, 8, image=NEW, profile="dgx-h100")
    claims = {"/checkpoints": folder} if folder else {}
    workers = tuple(replace(worker, claim_folders=claims) for worker in job.workers)
    command = ("torchrun", "--no-python", *TRAINS, "--checkpoint", "/checkpoints/train", *words)
    return replace(job, me=workers[number], workers=workers, words=command, environment=PET, slots={}, seconds=8.0)


def _steps(printed: Printed) -> Steps:
    assert printed.steps is not None
    return printed.steps


def test_the_first_pod_prints_the_steps(tmp_path: Path) -> None:
    """All pods take as long; the first one prints a line every ten steps after the warm-up, and saves."""
    first, second = (pod_commands.simulate(_pod(number, tmp_path)) for number in (0, 1))
    assert first.lines[-1] == "resnet50: 16 GPUs, batch 256 of each, bf16, PyTorch 2.8.0"
    assert (_steps(first).reports, _steps(second).reports) == (True, False)
    assert [*_steps(first).numbers] == [20, 30, 40, 50]
    assert _steps(first).seconds == 2.0
    assert _steps(first).line(20).startswith("step 20: ")
    assert [step for step in _steps(first).numbers if _steps(first).saves(step)] == [20, 40]


def test_it_goes_on_after_the_last_checkpoint(tmp_path: Path) -> None:
    """A pod that is made again reports its checkpoint's step, and what is left takes its part of the time."""
    newest = _steps(pod_commands.simulate(_pod(0, tmp_path))).newest
    assert newest is not None
    newest.write_text("40")
    again = pod_commands.simulate(_pod(0, tmp_path))
    assert again.lines[-1] == "resumed at step 40"
    assert ([*_steps(again).numbers], _steps(again).seconds) == ([50], 2.0)


def test_without_a_claim_no_checkpoint_lasts() -> None:
    """What is saved in the container is gone with it."""
    assert _steps(pod_commands.simulate(_pod(0))).newest is None


@pytest.mark.parametrize("path", ["/checkpoints/../../etc/passwd", "/checkpoints/a/b", "/checkpoints"])
def test_a_path_of_a_pod_is_no_path_of_this_machine(path: str, tmp_path: Path) -> None:
    """Whatever a pod names, its checkpoint is a file of the claim's folder."""
    newest = step_training.stored(path, {"/checkpoints": tmp_path})
    assert newest is not None
    assert newest.parent == tmp_path


def test_a_shell_and_mpirun_start_it_too(tmp_path: Path) -> None:
    """A shell's last command is it, and mpirun's ranks are missed by mpirun."""
    job = _pod(0, tmp_path)
    shell = pod_commands.simulate(
        replace(job, words=("/bin/sh", "-c", "echo begin;exec torchrun synthetic_training.py"))
    )
    assert shell.lines[0] == "begin"
    assert _steps(shell).launcher == "torchrun"
    started = replace(job, words=("mpirun", *TRAINS), slots={worker.name: 8 for worker in job.workers})
    assert _steps(pod_commands.simulate(started)).launcher == "mpirun"


NOW = datetime(2026, 11, 29, 14, 36, 51, 5, tzinfo=UTC)


def test_ranks_wait_for_a_machine_that_is_off() -> None:
    """The watchdog of each rank that is left names the collective that did not end, and torchrun the first failure."""
    lines, code = lost_ranks.torchrun(lost_ranks.Survivor("train-0", range(8, 10), NOW, 40, 600.0))
    assert code == 1
    watchdog = "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=41, OpType=ALLREDUCE"
    found = [line for line in lines if watchdog in line]
    assert [line.partition("]")[0] for line in found] == ["[rank8", "[rank9"]
    assert all("Timeout(ms)=600000) ran for 600081 milliseconds" in line for line in found)
    root = lines[lines.index("Root Cause (first observed failure):") :]
    assert "  rank      : 8 (local_rank: 0)" in root
    assert "  exitcode  : -6 (pid: 100)" in root


def test_a_closed_connection_is_noticed_at_once() -> None:
    """NCCL names the peer's end, and no collective has timed out."""
    lines, _ = lost_ranks.torchrun(lost_ranks.Survivor("train-0", range(1), NOW, 40, None))
    assert any("NCCL WARN socketProgress: Connection closed by remote peer" in line for line in lines)
    assert not any("Watchdog caught" in line for line in lines)


def test_mpirun_names_the_lost_worker() -> None:
    """Open MPI's message has both nodes."""
    lines, code = lost_ranks.mpirun("nccl-launcher", "nccl-worker-1")
    assert code == 1
    assert "  Remote daemon: [[8531,0],1] on node nccl-worker-1" in lines
