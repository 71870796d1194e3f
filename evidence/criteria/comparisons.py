"""Between jobs: what twice the GPUs bring, and what pods of one GPU cost."""

from collections.abc import Callable, Iterator, Sequence
from statistics import median

from evidence.criteria.criterion import Comparison, Found, at, of, passed
from evidence.reference import elapsed, rate
from evidence.tools.deeplearningexamples import DeepLearningExamples
from evidence.tools.tf_cnn_benchmarks import TfCnnBenchmarks
from evidence.verdict import Asked, Ended, Job, Proof, Status

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
            if (
                alike
                and one.shape
                and two.shape
                and (one.shape.pods * 2, one.shape.gpus)
                == (
                    two.shape.pods,
                    two.shape.gpus,
                )
            ):
                yield small, large


def _rate(asked: Asked) -> object:
    return rate(asked.program, asked.profile, asked.fabric, asked.shape)


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


def _split(whole: Asked, single: Asked) -> bool:
    """Whether two jobs are alike but that each GPU of the one is in a pod of its own."""
    if whole.shape is None or single.shape is None or whole.shape.gpus == 1 or single.shape.gpus != 1:
        return False
    one, two = ((each.program, each.profile, each.fabric, each.shape and each.shape.total) for each in (whole, single))
    return one == two


def _elapsed(asked: Asked) -> object:
    return elapsed(asked.program, asked.profile, asked.fabric, asked.shape)


def _speed_up(jobs: Sequence[Job]) -> Iterator[tuple[str, Found]]:
    for small, large in _pairs(jobs, _elapsed):
        ended = small.ended is large.ended is Ended.SUCCEEDED
        one, two = _seconds(small), _seconds(large)
        if ended and one and two:
            gain = one / two
            measured = f"{gain:.3f} ({one:.0f} s to {two:.0f} s), efficiency {gain / 2:.1%}"
            yield _names(small, large), Found(passed(gain >= SPEED_UP), measured)


def _seconds(job: Job) -> float | None:
    """Return how long a job trained by the stamps of its own log; without any, how long its program ran."""
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
        applies="ResNet-50 of the same pods on one node and on two, of which the paper has figures",
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
        applies="A2D2 on one node and on two, of which the paper has run times, when both have ended",
        source="R-5.2-6, E-31",
        look=_speed_up,
    ),
)
