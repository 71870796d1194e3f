"""Goodput, culprits and restarts of real PyTorch processes (tests/toolkit/evidence/lost_ranks)."""

from pathlib import Path

import pytest

from core.goodput import GoodputLines
from toolkit.evidence.criteria.stuck_ranks import CRITERIA as STUCK
from toolkit.evidence.flight_recorder.dump import FlightRecorder
from toolkit.evidence.goodput.causes import Cause
from toolkit.evidence.goodput.reading import read_logs
from toolkit.evidence.judge import evaluate
from toolkit.evidence.reader import read
from toolkit.evidence.tools.torch_distributed import CRITERIA as TOGETHER
from toolkit.evidence.verdict import Ended, Job, Request, Status

FOLDER = Path(__file__).parent.parent / "lost_ranks"
LINES = GoodputLines(
    step=r"step (\d+): loss",
    started=r"^rank \d+ pid",
    resumed=r"resumed at step (\d+)",
    saved=r"saved checkpoint of step (\d+)",
)


@pytest.mark.parametrize(
    ("case", "reached", "noticed", "again"),
    [
        # The connections of a killed process are closed at once; torchrun then starts all ranks again.
        ("killed", 33, 0.26, 29.98),
        # Of a stopped one the others wait for the time-out of 8 s; torchrun gives it 30 s to end.
        ("stopped", 33, 8.02, 56.94),
        # Over NCCL, on two H200, ranks run ahead of their GPUs. When the operation of a stopped one had timed out, the
        # others waited another 60 s for dumps of the flight recorder, and a step's line came when it was aborted.
        ("nccl/killed", 34, 0.03, 8.19),
        ("nccl/stopped", 35, 0.51, 39.03),
    ],
)
def test_a_restart_by_torchrun_is_measured(case: str, reached: int, noticed: float, again: float) -> None:
    """The rank was lost after step 33, and the job went on from the checkpoint of step 20."""
    found = read_logs([FOLDER / f"{case}.log"], LINES)
    (stop,) = found.interruptions
    assert (found.steps, stop.reached, stop.lost) == (60, reached, reached - 20)
    assert stop.noticed_s == pytest.approx(noticed, abs=0.01)
    assert stop.trains_s == pytest.approx(again, abs=0.01)
    assert sum(found.seconds.values()) == pytest.approx(found.wall_s)
    assert found.seconds[Cause.REDONE] == pytest.approx((reached - 20) * 0.105, abs=0.1)


def test_the_rank_without_a_dump_is_the_one_that_the_others_wait_for() -> None:
    """Rank 1 was stopped: ranks 0 and 2 report their time-outs, and dumped that they wait, as pickle and JSON."""
    for ending in ("", ".json"):
        readings = [reading for rank in (0, 2) for reading in read(FOLDER / f"stopped_attempt_0_rank_{rank}{ending}")]
        assert all(isinstance(reading, FlightRecorder) and reading.complete for reading in readings)
        job = Job(request=Request(job="job"), ended=Ended.UNKNOWN, readings=tuple(readings))
        verdict = evaluate(STUCK[0], job)
        assert verdict is not None
        assert verdict.status is Status.FAIL
        assert verdict.measured == (
            "no dump of rank 1, while ranks 0, 2 wait in operation 40 of default_pg, gloo:all_reduce"
        )


def test_a_dump_of_nccl_shows_who_waits() -> None:
    """PyTorch's watchdog wrote it, of the one rank that could."""
    (dump,) = read(FOLDER / "nccl" / "stopped_nccl_rank_0")
    assert isinstance(dump, FlightRecorder)
    verdict = evaluate(STUCK[0], Job(request=Request(job="job"), ended=Ended.UNKNOWN, readings=(dump,)))
    assert verdict is not None
    assert (verdict.status, verdict.measured) == (
        Status.FAIL,
        "no dump of rank 1, while rank 0 waits in operation 41 of default_pg, nccl:all_reduce",
    )


def test_the_root_cause_is_the_process_that_ended_by_itself() -> None:
    """Torchrun ended the other ranks after rank 1 was killed."""
    job = Job(request=Request(job="job"), ended=Ended.FAILED, readings=read(FOLDER / "ended.log"))
    verdict = evaluate(TOGETHER[0], job)
    assert verdict is not None
    assert verdict.measured.startswith("rank 1 on localhost was ended by SIGKILL; ")
