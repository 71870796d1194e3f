"""Between jobs: what twice the GPUs bring, and what pods of one GPU cost."""

from collections.abc import Callable, Iterator, Sequence
from statistics import median

from apis.nccl import Transport
from evidence.criteria.criterion import Comparison, Found, at, listed, of, passed
from evidence.reference import Elapsed, Rate, elapsed, rate
from evidence.tools.deeplearningexamples import DeepLearningExamples
from evidence.tools.tf_cnn_benchmarks import TfCnnBenchmarks
from evidence.verdict import Asked, Ended, Job, Proof, Shape, Status

SCALING = 1.9
SPEED_UP = 1.7
PENALTY = 0.17
"""The paper has 16.6 % on one node and 15.4 % on two."""


def _pairs(jobs: Sequence[Job], documented: Callable[[Asked], object]) -> Iterator[tuple[Job, Job]]:
    """Yield pairs of jobs of one program, alike but for twice the pods, of which the documents have figures."""
    known = [job for job in jobs if job.asked.shape is not None and documented(job.asked) is not None]
    for small in known:
        for large in known:
            one, two = small.asked, large.asked
            alike = (one.program, one.profile, one.fabric) == (two.program, two.profile, two.fabric)
            twice = one.shape and two.shape and Shape(pods=one.shape.pods * 2, gpus=one.shape.gpus) == two.shape
            if alike and twice:
                yield small, large


def _as_measured(asked: Asked) -> bool:
    """Whether a job's ranks talk as those of the documents' trainings did, or nobody said how."""
    return asked.transport in (None, Transport.GPUDIRECT)


def _rate(asked: Asked) -> Rate | None:
    return rate(asked.program, asked.profile, asked.fabric, asked.shape) if _as_measured(asked) else None


def _images(job: Job) -> float | None:
    rates = [one.total_images_per_s for one in of(job, TfCnnBenchmarks) if one.total_images_per_s]
    return median(rates) if rates else None


def _totals(*jobs: Job) -> tuple[Proof, ...]:
    runs = [one for job in jobs for one in of(job, TfCnnBenchmarks)]
    return tuple(proof for one in runs for proof in at(one.file, *[total.line for total in one.totals[:1]]))


def _scaling(jobs: Sequence[Job]) -> Iterator[tuple[str, Found]]:
    for small, large in _pairs(jobs, _rate):
        one, two = _images(small), _images(large)
        if one and two:
            measured = f"{two / one:.3f} ({one:,.0f} to {two:,.0f} images/s)"
            yield _names(small, large), Found(passed(two / one >= SCALING), measured, proofs=_totals(small, large))
        else:
            yield _names(small, large), _lacking("images/s", (small, one), (large, two))


def _lacking(what: str, *jobs: tuple[Job, float | None]) -> Found:
    return Found(Status.MISSING, f"no {what} of {listed(job.asked.job for job, figure in jobs if not figure)}")


def _penalty(jobs: Sequence[Job]) -> Iterator[tuple[str, Found]]:
    known = [job for job in jobs if _rate(job.asked) is not None]
    for whole in known:
        for single in known:
            if not _split(whole.asked, single.asked):
                continue
            one, two = _images(whole), _images(single)
            if one and two:
                status = Status.PASS if 1 - two / one <= PENALTY else Status.WARN
                measured = f"{1 - two / one:.1%} ({one:,.0f} to {two:,.0f} images/s)"
                yield _names(whole, single), Found(status, measured, proofs=_totals(whole, single))
            else:
                yield _names(whole, single), _lacking("images/s", (whole, one), (single, two))


def _split(whole: Asked, single: Asked) -> bool:
    """Whether two jobs are alike but that each GPU of the one is in a pod of its own."""
    if whole.shape is None or single.shape is None or whole.shape.gpus == 1 or single.shape.gpus != 1:
        return False
    one, two = ((each.program, each.profile, each.fabric, each.shape and each.shape.total) for each in (whole, single))
    return one == two


def _elapsed(asked: Asked) -> Elapsed | None:
    return elapsed(asked.program, asked.profile, asked.fabric, asked.shape) if _as_measured(asked) else None


def _speed_up(jobs: Sequence[Job]) -> Iterator[tuple[str, Found]]:
    for small, large in _pairs(jobs, _elapsed):
        one, two = _seconds(small), _seconds(large)
        if one and two:
            gain = one / two
            measured = f"{gain:.3f} ({one:.0f} s to {two:.0f} s), efficiency {gain / 2:.1%}"
            yield _names(small, large), Found(passed(gain >= SPEED_UP), measured)
        else:
            yield _names(small, large), _lacking("run time to the end", (small, one), (large, two))


def _seconds(job: Job) -> float | None:
    """Return how long a job that ended trained by the stamps of its own log; without any, how long its program ran."""
    if job.ended is not Ended.SUCCEEDED:
        return None
    stamped = [one.elapsed_s for one in of(job, DeepLearningExamples) if one.elapsed_s]
    return median(stamped) if stamped else job.seconds


def _names(small: Job, large: Job) -> str:
    return f"{small.asked.job} to {large.asked.job}"


COMPARISONS = (
    Comparison(
        name="scaling",
        title="Two nodes train nearly twice as fast as one",
        limit=f">= {SCALING:g}",
        unit="ratio of images/s",
        tolerance="5 % of the ideal 2; the median of repeats",
        applies="ResNet-50 of the same pods on one node and on two, over GPUDirect, of which the paper has figures",
        source="R-4.5-4, R-4.5-8",
        look=_scaling,
    ),
    Comparison(
        name="single-gpu-penalty",
        title="Pods of one GPU train little slower than pods of whole nodes",
        limit=f"<= {PENALTY:.0%} fewer images/s",
        unit="share of images/s",
        tolerance="what the paper lost; more is a warning; the median of repeats",
        applies="ResNet-50 on the same GPUs in pods of eight and in pods of one, of which the paper has figures",
        source="R-4.5-8",
        look=_penalty,
    ),
    Comparison(
        name="speed-up",
        title="A training on two nodes takes little more than half the time",
        limit=f">= {SPEED_UP:g}, an efficiency of {SPEED_UP / 2:.0%}",
        unit="ratio of seconds",
        tolerance="15 % of the ideal 2",
        applies="A2D2 on one node and on two, over GPUDirect, of which the paper has run times",
        source="R-5.2-6, E-31",
        look=_speed_up,
    ),
)
