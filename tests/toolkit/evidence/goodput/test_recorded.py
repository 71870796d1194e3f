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
    ("case", "noticed", "again"),
    [
        # The connections of a killed process are closed at once; torchrun then starts all ranks again.
        ("killed", 0.26, 29.98),
        # Of a stopped one the others wait for the time-out of 8 s; torchrun gives it 30 s to end.
        ("stopped", 8.02, 56.94),
    ],
)
def test_a_restart_by_torchrun_is_measured(case: str, noticed: float, again: float) -> None:
    """The rank was lost after step 33, and the job went on from the checkpoint of step 20."""
    found = read_logs([FOLDER / f"{case}.log"], LINES)
    (stop,) = found.interruptions
    assert (found.steps, stop.reached, stop.lost) == (60, 33, 13)
    assert stop.noticed_s == pytest.approx(noticed, abs=0.01)
    assert stop.trains_s == pytest.approx(again, abs=0.01)
    assert sum(found.seconds.values()) == pytest.approx(found.wall_s)
    assert found.seconds[Cause.REDONE] == pytest.approx(13 * 0.11, abs=0.1)


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


def test_the_root_cause_is_the_process_that_ended_by_itself() -> None:
    """Torchrun ended the other ranks after rank 1 was killed."""
    job = Job(request=Request(job="job"), ended=Ended.FAILED, readings=read(FOLDER / "ended.log"))
    verdict = evaluate(TOGETHER[0], job)
    assert verdict is not None
    assert verdict.measured.startswith("rank 1 on localhost was ended by SIGKILL; ")
