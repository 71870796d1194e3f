"""What trainings print of their rate and their ranks."""

from core.wording import plural
from toolkit.evidence.criterion import Criterion, Outcome, opening_proofs, passed, proofs_at, readings_of
from toolkit.evidence.tools.horovod_synthetic import HorovodSynthetic
from toolkit.evidence.tools.tf_cnn_benchmarks import TfCnnBenchmarks
from toolkit.evidence.verdict import Job, Proof, Status
from toolkit.evidence.wording import listed

SUM_SHARE = 0.02
"""How far the printed total may be from the sum of the ranks."""


def _sum(job: Job) -> Outcome | None:
    deviations: list[tuple[float, tuple[Proof, ...]]] = []
    for run in readings_of(job, TfCnnBenchmarks):
        lines = [total.line for total in run.totals[:1]] + [step.line for step in run.steps[-(run.ranks or 1) :]]
        deviations += [(run.total_deviation, proofs_at(run.file, *lines))] if run.total_deviation is not None else []
    for benchmark in readings_of(job, HorovodSynthetic):
        if benchmark.total_deviation is not None:
            deviations.append((benchmark.total_deviation, proofs_at(benchmark.file, benchmark.total_line)))
    if not deviations:
        return Outcome(Status.MISSING, "no total, or not the rate of every rank")
    worst, proofs = max(deviations, key=lambda item: item[0])
    return Outcome(passed(worst <= SUM_SHARE), f"{worst:.2%} apart", proofs=proofs)


def _ranks(job: Job) -> Outcome | None:
    shape = job.request.shape
    runs: list[TfCnnBenchmarks | HorovodSynthetic] = [
        *readings_of(job, TfCnnBenchmarks),
        *readings_of(job, HorovodSynthetic),
    ]
    if shape is None:
        return None
    wrong = [run for run in runs if run.ranks != shape.total]
    measured = listed(plural(run.ranks or 0, "rank") for run in wrong) if wrong else plural(shape.total, "rank")
    short = all((run.ranks or 0) < shape.total for run in wrong)
    return Outcome(passed(not wrong), measured, plural(shape.total, "rank"), opening_proofs(wrong or runs), short)


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
        judge=_sum,
    ),
    Criterion(
        name="rates-of-all-ranks",
        title="Every GPU of the job trains",
        limit="pods x GPUs",
        unit="ranks",
        applies="runs of tf_cnn_benchmarks and of Horovod's synthetic benchmark whose shape is known",
        source="N-8.4, B-1.2, B-4.4",
        needs=("tf-cnn-benchmarks", "horovod-synthetic"),
        judge=_ranks,
        when=lambda request: request.shape is not None,
    ),
)
