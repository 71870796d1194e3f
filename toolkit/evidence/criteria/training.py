"""What trainings print of their rate and their ranks."""

from core.wording import plural
from toolkit.evidence.criterion import Criterion, Found, at, begins, of, passed
from toolkit.evidence.tools.horovod_synthetic import HorovodSynthetic
from toolkit.evidence.tools.tf_cnn_benchmarks import TfCnnBenchmarks
from toolkit.evidence.verdict import Job, Proof, Status
from toolkit.evidence.wording import listed

SUM_SHARE = 0.02
"""How far the printed total may be from the sum of the ranks."""


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
    shape = job.request.shape
    found: list[TfCnnBenchmarks | HorovodSynthetic] = [*of(job, TfCnnBenchmarks), *of(job, HorovodSynthetic)]
    if shape is None:
        return None
    bad = [one for one in found if one.ranks != shape.total]
    measured = listed(plural(one.ranks or 0, "rank") for one in bad) if bad else plural(shape.total, "rank")
    short = all((one.ranks or 0) < shape.total for one in bad)
    return Found(passed(not bad), measured, plural(shape.total, "rank"), begins(bad or found), short)


CRITERIA = (
    Criterion(
        name="images-per-second-sum",
        title="The total rate is the sum of the ranks' rates",
        limit=f"within {SUM_SHARE:.0%}",
        unit="images/s",
        tolerance=f"{SUM_SHARE:.0%}: each rank prints its rate at its last step",
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
        applies="runs of tf_cnn_benchmarks and of Horovod's synthetic benchmark whose shape is known",
        source="N-8.4, B-1.2, B-4.4",
        needs=("tf-cnn-benchmarks", "horovod-synthetic"),
        look=_ranks,
        when=lambda request: request.shape is not None,
    ),
)
