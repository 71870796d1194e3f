"""MLPerf Training logs: MLLOG of today, MLL of v0.6 and MLP of v0.5."""

from statistics import median

from core.hardware.measured.training import MLPERF_BAND, submission
from toolkit.evidence.criterion import Criterion, Outcome, proofs_at, readings_of
from toolkit.evidence.reference import benchmark, published_minutes
from toolkit.evidence.tools.mllog.parser import UNVERIFIED, MlLog, MlLogParser
from toolkit.evidence.verdict import Job, Request, Status

__all__ = ["CRITERIA", "UNVERIFIED", "MlLog", "MlLogParser"]

COMPARED_GPUS, COMPARED_GPU = submission().accelerators, (submission().accelerator or "").rpartition(" ")[2]
"""Of the published run, without the brand of its time."""


def _is_compared(request: Request) -> bool:
    profile = request.machine
    return (
        profile is not None
        and COMPARED_GPU in profile.gpu.model
        and published_minutes(request.program or "") is not None
        and (request.shape.total if request.shape else profile.gpus) == COMPARED_GPUS
    )


def _runs(job: Job) -> list[MlLog]:
    """Return the runs of the job's benchmark; one whose log does not name it is taken for it."""
    expected = benchmark(job.request.program or "")
    return [
        run
        for run in readings_of(job, MlLog)
        if None in (expected, run.benchmark) or benchmark(run.benchmark or "") == expected
    ]


def _band(job: Job) -> Outcome | None:
    published = published_minutes(job.request.program or "")
    runs = [run for run in _runs(job) if run.minutes is not None and run.status != "aborted"]
    if not runs or published is None:
        return Outcome(Status.MISSING, f"no run of {job.request.program} from run_start to run_stop")
    minutes = median(run.minutes for run in runs if run.minutes is not None)
    faster = 1 - minutes / published
    limit = f"{published:g} minutes, {MLPERF_BAND.least:+.2%} to {MLPERF_BAND.most:+.2%}"
    status = Status.PASS if MLPERF_BAND.holds(faster) else Status.WARN if faster > 0 else Status.FAIL
    proofs = tuple(proof for run in runs for proof in proofs_at(run.file, run.run_start_line, run.run_stop_line))
    return Outcome(status, f"{minutes:.2f} minutes, {faster:+.2%}, {UNVERIFIED}", limit, proofs)


def _quality(job: Job) -> Outcome | None:
    runs = _runs(job)
    if not runs:
        return Outcome(Status.MISSING, f"no run of {job.request.program}")
    proofs = tuple(
        proof
        for run in runs
        for proof in proofs_at(run.file, *[last.line for last in run.evaluations[-1:]], run.run_stop_line)
    )
    if any((run.reached is False and run.status is not None) or run.status == "aborted" for run in runs):
        return Outcome(Status.FAIL, "not reached", proofs=proofs)
    if any(run.reached is None or run.status is None for run in runs):
        return Outcome(Status.MISSING, "no target, no evaluation or no run_stop", proofs=proofs)
    return Outcome(Status.PASS, f"reached, {UNVERIFIED}", proofs=proofs)


CRITERIA = (
    Criterion(
        name="mlperf-band",
        title="The benchmark takes as long as the published result",
        limit=f"{MLPERF_BAND.least:+.2%} to {MLPERF_BAND.most:+.2%} of the minutes of MLPerf v0.6, row 0.6-9",
        unit="minutes",
        tolerance="a run that is faster than the band is a warning; the median of repeats",
        applies=f"benchmarks of MLPerf v0.6 that the Supermicro reference ran, on {COMPARED_GPUS} {COMPARED_GPU}",
        source="S-3.2, S-3.3, S-3.5",
        judge=_band,
        when=_is_compared,
    ),
    Criterion(
        name="quality-target",
        title="The model reached its target",
        limit="target quality, run_stop success",
        applies="runs of MLPerf",
        source="S-3.7",
        judge=_quality,
    ),
)
