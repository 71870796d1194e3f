"""Goodput: the productive share of a training's time."""

from core.wording import plural
from toolkit.evidence.criterion import Criterion, Outcome, passed, proofs_at, readings_of
from toolkit.evidence.goodput.reading import Goodput, Interruption, duration
from toolkit.evidence.verdict import Job, Status
from toolkit.evidence.wording import listed

WORTH_A_LOOK = 0.95
"""NVIDIA's cluster readiness engine calls a lower share, without waiting for nodes, worth a look."""
_RUNS = 1000
"""Steps below which a start is most of a run, and says nothing of a long one: a choice."""


def _goodput(job: Job) -> Outcome | None:
    lines = job.request.goodput
    reading = next(iter(readings_of(job, Goodput)), None)
    if lines is None:
        return None
    simulated = any(read.simulated for read in job.readings)
    if reading is None or reading.of_wall is None or not reading.steps:
        if simulated:
            return Outcome(Status.WARN, "not judged: simulated")
        return Outcome(Status.MISSING, (reading.incomplete if reading is not None else None) or "no step")
    share, without = reading.of_wall, reading.without_waiting or 0.0
    measured = f"{share:.1%} of {duration(reading.wall_s)}, {without:.1%} without waiting for nodes"
    if lost := reading.lost():
        measured += f"; lost: {lost}"
    if stops := reading.interruptions:
        measured += f"; {listed(map(_stopped, stops), 3)}"
    proofs = proofs_at(reading.file, reading.last_step_line)
    if simulated:
        return Outcome(Status.WARN, f"simulated: {measured}", proofs=proofs)
    if lines.at_least is not None:
        limit = f"goodput >= {lines.at_least:.1%}"
        return Outcome(passed(share >= lines.at_least), measured, limit, proofs)
    good = without >= WORTH_A_LOOK or reading.steps < _RUNS
    return Outcome(Status.PASS if good else Status.WARN, measured, proofs=proofs)


def _stopped(row: Interruption) -> str:
    """Return what an interruption cost."""
    noticed = f"noticed after {duration(row.noticed_s)}" if row.noticed_s is not None else "not noticed in the log"
    again = f"trains again after {duration(row.trains_s)}" if row.trains_s is not None else "not trained since"
    return f"stopped at step {row.reached}: {noticed}, {again}, {plural(row.lost, 'step')} lost"


CRITERIA = (
    Criterion(
        name="goodput",
        title="The time of a training goes into steps that count",
        limit=f"`goodput.at_least` of all of the time; without it {WORTH_A_LOOK:.0%} without waiting for nodes",
        unit="share of the time",
        tolerance=f"without a limit a warning, and none below {_RUNS} steps; in a simulation a warning, never a pass",
        applies="programs with `goodput`",
        source="the program's file (docs/guide/programs.md); github.com/AI-Hypercomputer/ml-goodput-measurement",
        judge=_goodput,
        when=lambda request: request.goodput is not None,
    ),
)
