"""What programs say of themselves: training, MLPerf, the device plugin and the test of a single GPU."""

from statistics import median

from evidence.criteria.criterion import Criterion, Found, at, listed, of, passed, quoted
from evidence.reference import MLPERF_BAND
from evidence.reference.mlperf import benchmark, published_minutes
from evidence.tools.cuda_vector_add import CudaVectorAdd
from evidence.tools.device_plugin import DevicePlugin
from evidence.tools.horovod_synthetic import HorovodSynthetic
from evidence.tools.mllog import UNVERIFIED, MlLog
from evidence.tools.tf_cnn_benchmarks import TfCnnBenchmarks
from evidence.verdict import Asked, Job, Proof, Status
from hardware.profiles import PROFILES

SUM_SHARE = 0.02
"""How far the printed total may be from the sum of the ranks (E-50)."""
COMPARED_GPUS, COMPARED_GPU = 8, "V100"


def _sum(job: Job) -> Found | None:
    found: list[tuple[float, tuple[Proof, ...]]] = []
    for run in of(job, TfCnnBenchmarks):
        lines = [total.line for total in run.totals[:1]] + [step.line for step in run.steps[-(run.ranks or 1) :]]
        found += [(run.total_deviation, at(run.file, *lines))] if run.total_deviation is not None else []
    for one in of(job, HorovodSynthetic):
        found += [(one.total_deviation, at(one.file, one.total_line))] if one.total_deviation is not None else []
    if not found:
        return Found(Status.MISSING, "no total, or not the rate of every rank")
    worst, proofs = max(found, key=lambda one: one[0])
    return Found(passed(worst <= SUM_SHARE), f"{worst:.2%} apart", proofs=proofs)


def _ranks(job: Job) -> Found | None:
    shape = job.asked.shape
    found = [(one.file, one.first_line, one.ranks) for one in of(job, TfCnnBenchmarks)]
    found += [(one.file, one.first_line, one.ranks) for one in of(job, HorovodSynthetic)]
    if shape is None:
        return None
    bad = [(file, line, ranks) for file, line, ranks in found if ranks != shape.total]
    measured = listed(f"{ranks or 0} ranks" for *_, ranks in bad) if bad else f"{shape.total} ranks"
    proofs = tuple(proof for file, line, _ in bad or found for proof in at(file, line))
    short = all((ranks or 0) < shape.total for *_, ranks in bad)
    return Found(passed(not bad), measured, f"{shape.total} ranks", proofs, short)


def _is_compared(asked: Asked) -> bool:
    profile = PROFILES.get(asked.profile or "")
    return (
        profile is not None
        and COMPARED_GPU in profile.gpu.model
        and published_minutes(asked.program or "") is not None
        and (asked.shape.total if asked.shape else profile.gpus) == COMPARED_GPUS
    )


def _runs(job: Job) -> list[MlLog]:
    """Return the runs of the job's benchmark; one whose log does not name it is taken for it."""
    wanted = benchmark(job.asked.program or "")
    return [
        one for one in of(job, MlLog) if None in (wanted, one.benchmark) or benchmark(one.benchmark or "") == wanted
    ]


def _band(job: Job) -> Found | None:
    published = published_minutes(job.asked.program or "")
    runs = [one for one in _runs(job) if one.minutes is not None and one.status != "aborted"]
    if not runs or published is None:
        return Found(Status.MISSING, f"no run of {job.asked.program} from run_start to run_stop")
    minutes = median(one.minutes for one in runs if one.minutes is not None)
    faster = 1 - minutes / published
    limit = f"{published:g} minutes, {MLPERF_BAND.least:+.2%} to {MLPERF_BAND.most:+.2%}"
    status = Status.PASS if MLPERF_BAND.holds(faster) else Status.WARN if faster > 0 else Status.FAIL
    proofs = tuple(proof for one in runs for proof in at(one.file, one.run_start_line, one.run_stop_line))
    return Found(status, f"{minutes:.2f} minutes, {faster:+.2%}, {UNVERIFIED}", limit, proofs)


def _quality(job: Job) -> Found | None:
    runs = _runs(job)
    if not runs:
        return Found(Status.MISSING, f"no run of {job.asked.program}")
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


def _vector_add(job: Job) -> Found | None:
    found = of(job, CudaVectorAdd)
    failures = [(one.file, one.failure) for one in found if one.failure is not None]
    if failures:
        proofs = tuple(proof for file, line in failures for proof in quoted(file, line))
        return Found(Status.FAIL, "failed", proofs=proofs)
    good = all(one.passed for one in found)
    lines: tuple[Proof, ...] = tuple(proof for one in found for proof in at(one.file, one.passed_line))
    return Found(Status.PASS if good else Status.MISSING, "Test PASSED" if good else "no `Test PASSED`", proofs=lines)


def _registered(job: Job) -> Found | None:
    found = of(job, DevicePlugin)
    bad = [one for one in found if not one.registered or one.failures]
    said = [one.failures[0].text if one.failures else "not registered" for one in bad]
    proofs = tuple(
        proof for one in bad or found for proof in (*quoted(one.file, *one.failures[:2]), *at(one.file, one.last_line))
    )
    if bad:
        return Found(Status.FAIL, listed(said, 2), proofs=proofs)
    if cut := [one for one in found if not one.complete]:
        return Found(Status.MISSING, listed(one.incomplete or "not whole" for one in cut), proofs=proofs)
    in_order = all(one.in_order for one in found)
    said_so = "registered" if in_order else "registered, its milestones not in the plugin's order"
    return Found(Status.PASS if in_order else Status.WARN, said_so, proofs=proofs)


CRITERIA = (
    Criterion(
        name="images-per-second-sum",
        title="The total is the sum of the ranks",
        limit=f"within {SUM_SHARE:.0%}",
        unit="images/s",
        tolerance=f"{SUM_SHARE:.0%}: ranks print what they had at their own last step",
        applies="runs of tf_cnn_benchmarks and of Horovod's synthetic benchmark",
        source="N-8.3, E-50, R-4.5-9",
        needs=("tf-cnn-benchmarks", "horovod-synthetic"),
        look=_sum,
    ),
    Criterion(
        name="rates-of-all-ranks",
        title="Every GPU of the job trains",
        limit="pods x GPUs",
        unit="ranks",
        tolerance="",
        applies="runs of tf_cnn_benchmarks and of Horovod's synthetic benchmark whose shape is known",
        source="N-8.4, B-1.2, B-4.4",
        needs=("tf-cnn-benchmarks", "horovod-synthetic"),
        look=_ranks,
        when=lambda asked: asked.shape is not None,
    ),
    Criterion(
        name="mlperf-band",
        title="The benchmark takes as long as the published one",
        limit=f"{MLPERF_BAND.least:+.2%} to {MLPERF_BAND.most:+.2%} of the minutes of MLPerf v0.6, row 0.6-9",
        unit="minutes",
        tolerance="a run that is faster than the band is a warning; the median of repeats",
        applies=f"benchmarks of MLPerf v0.6 that document S ran, on {COMPARED_GPUS} {COMPARED_GPU}",
        source="S-3.2, S-3.3, S-3.5",
        needs=("mllog",),
        look=_band,
        when=_is_compared,
    ),
    Criterion(
        name="quality-target",
        title="The model reached its target",
        limit="target quality, run_stop success",
        unit="",
        tolerance="",
        applies="runs of MLPerf",
        source="S-3.7",
        needs=("mllog",),
        look=_quality,
    ),
    Criterion(
        name="vector-add",
        title="A GPU computes",
        limit="Test PASSED",
        unit="",
        tolerance="",
        applies="runs of the vectorAdd sample",
        source="S-7.7, S-6.5",
        needs=("cuda-vector-add",),
        look=_vector_add,
    ),
    Criterion(
        name="device-plugin-registered",
        title="The device plugin offers the GPUs to the kubelet",
        limit="Registered device plugin with Kubelet",
        unit="",
        tolerance="milestones in another order are a warning",
        applies="logs of NVIDIA's device plugin",
        source="S-7.4",
        needs=("device-plugin",),
        look=_registered,
    ),
)
