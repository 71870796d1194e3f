"""What a run of MLPerf must show: its target quality, in about the published time."""

from statistics import median

from toolkit.evidence.criterion import Criterion, Found, at, of
from toolkit.evidence.reference import MLPERF_BAND, submission
from toolkit.evidence.reference.mlperf import benchmark, published_minutes
from toolkit.evidence.tools.mllog.parser import UNVERIFIED, MlLog
from toolkit.evidence.verdict import Job, Request, Status

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
    wanted = benchmark(job.request.program or "")
    return [
        one for one in of(job, MlLog) if None in (wanted, one.benchmark) or benchmark(one.benchmark or "") == wanted
    ]


def _band(job: Job) -> Found | None:
    published = published_minutes(job.request.program or "")
    runs = [one for one in _runs(job) if one.minutes is not None and one.status != "aborted"]
    if not runs or published is None:
        return Found(Status.MISSING, f"no run of {job.request.program} from run_start to run_stop")
    minutes = median(one.minutes for one in runs if one.minutes is not None)
    faster = 1 - minutes / published
    limit = f"{published:g} minutes, {MLPERF_BAND.least:+.2%} to {MLPERF_BAND.most:+.2%}"
    status = Status.PASS if MLPERF_BAND.holds(faster) else Status.WARN if faster > 0 else Status.FAIL
    proofs = tuple(proof for one in runs for proof in at(one.file, one.run_start_line, one.run_stop_line))
    return Found(status, f"{minutes:.2f} minutes, {faster:+.2%}, {UNVERIFIED}", limit, proofs)


def _quality(job: Job) -> Found | None:
    runs = _runs(job)
    if not runs:
        return Found(Status.MISSING, f"no run of {job.request.program}")
    proofs = tuple(
        proof
        for one in runs
        for proof in at(one.file, *[last.line for last in one.evaluations[-1:]], one.run_stop_line)
    )
    if any((one.reached is False and one.status is not None) or one.status == "aborted" for one in runs):
        return Found(Status.FAIL, "not reached", proofs=proofs)
    if any(one.reached is None or one.status is None for one in runs):
        return Found(Status.MISSING, "no target, no evaluation or no run_stop", proofs=proofs)
    return Found(Status.PASS, f"reached, {UNVERIFIED}", proofs=proofs)


CRITERIA = (
    Criterion(
        name="mlperf-band",
        title="The benchmark takes as long as the published result",
        limit=f"{MLPERF_BAND.least:+.2%} to {MLPERF_BAND.most:+.2%} of the minutes of MLPerf v0.6, row 0.6-9",
        unit="minutes",
        tolerance="a run that is faster than the band is a warning; the median of repeats",
        applies=f"benchmarks of MLPerf v0.6 that the Supermicro reference ran, on {COMPARED_GPUS} {COMPARED_GPU}",
        source="S-3.2, S-3.3, S-3.5",
        look=_band,
        when=_is_compared,
    ),
    Criterion(
        name="quality-target",
        title="The model reached its target",
        limit="target quality, run_stop success",
        applies="runs of MLPerf",
        source="S-3.7",
        look=_quality,
    ),
)
