"""Between jobs: what twice the GPUs bring, what pods of one GPU cost, and whether nodes have the same firmware."""

from collections.abc import Callable, Iterator, Sequence
from itertools import permutations
from statistics import median

from core.apis.nccl import Transport
from toolkit.evidence.criterion import Comparison, Outcome, passed, readings_of, row_proofs
from toolkit.evidence.reference import ELAPSED, RATES, Training, trainings
from toolkit.evidence.tools.deeplearningexamples import DeepLearningExamples
from toolkit.evidence.tools.ibstat import IbStat
from toolkit.evidence.tools.tf_cnn_benchmarks import TfCnnBenchmarks
from toolkit.evidence.verdict import Ended, Job, Proof, Request, Shape, Status
from toolkit.evidence.wording import listed

SCALING = 1.9
SPEED_UP = 1.7
PENALTY = 0.17
"""The Redpaper has 16.6 % on one node and 15.4 % on two."""


_Figure = Callable[[Job], float | None]
_Judge = Callable[[float, float], tuple[Status, str]]


def _compare(
    jobs: Sequence[Job],
    among: Sequence[Training],
    are_pair: Callable[[Shape, Shape], bool],
    figure: tuple[str, _Figure],
    judge: _Judge,
) -> Iterator[tuple[str, Outcome]]:
    """Yield the verdicts on jobs that differ in their shape alone, and of which the documents have figures."""
    what, measure = figure
    documented = [
        (job, job.request.shape) for job in jobs if job.request.shape is not None and _is_documented(job.request, among)
    ]
    for (old, old_shape), (new, new_shape) in permutations(documented, 2):
        if not are_pair(old_shape, new_shape) or _requested(old.request) != _requested(new.request):
            continue
        before, after = measure(old), measure(new)
        names = f"{old.request.job} to {new.request.job}"
        if before and after:
            status, measured = judge(before, after)
            yield names, Outcome(status, measured, proofs=_totals(old, new))
        else:
            missing = listed(job.request.job for job, figures in ((old, before), (new, after)) if not figures)
            yield names, Outcome(Status.MISSING, f"no {what} of {missing}")


def _is_documented(request: Request, among: Sequence[Training]) -> bool:
    """Return whether the documents have a figure of a job, whose transport is theirs, or was not requested."""
    same_transport = request.transport in (None, Transport.GPUDIRECT)
    return same_transport and any(training.shape == request.shape for training in trainings(among, request))


def _requested(request: Request) -> tuple[str | None, ...]:
    return request.program, request.profile, request.fabric


def _is_twice(small: Shape, large: Shape) -> bool:
    return Shape(pods=small.pods * 2, gpus=small.gpus) == large


def _is_split(whole: Shape, single: Shape) -> bool:
    """Return whether each GPU of the one is in a pod of its own."""
    return whole.gpus > 1 and single.gpus == 1 and whole.total == single.total


def _images(job: Job) -> float | None:
    rates = [reading.total_images_per_s for reading in readings_of(job, TfCnnBenchmarks) if reading.total_images_per_s]
    return median(rates) if rates else None


def _seconds(job: Job) -> float | None:
    """Return how long a job that ended trained by the stamps of its own log; without any, how long its program ran."""
    if job.ended is not Ended.SUCCEEDED:
        return None
    stamped = [reading.elapsed_s for reading in readings_of(job, DeepLearningExamples) if reading.elapsed_s]
    return median(stamped) if stamped else job.seconds


def _totals(*jobs: Job) -> tuple[Proof, ...]:
    return row_proofs(
        (reading.file, reading.totals[0])
        for job in jobs
        for reading in readings_of(job, TfCnnBenchmarks)
        if reading.totals
    )


def _scaling(old: float, new: float) -> tuple[Status, str]:
    return passed(new / old >= SCALING), f"{new / old:.3f} ({old:,.0f} to {new:,.0f} images/s)"


def _penalty(old: float, new: float) -> tuple[Status, str]:
    lost = 1 - new / old
    return Status.PASS if lost <= PENALTY else Status.WARN, f"{lost:.1%} ({old:,.0f} to {new:,.0f} images/s)"


def _speed_up(old: float, new: float) -> tuple[Status, str]:
    gain = old / new
    return passed(gain >= SPEED_UP), f"{gain:.3f} ({old:.0f} s to {new:.0f} s), efficiency {gain / 2:.1%}"


_RATE, _TIME = ("images/s", _images), ("run time to the end", _seconds)


def _same_firmware(jobs: Sequence[Job]) -> Iterator[tuple[str, Outcome]]:
    """Yield one verdict on all jobs that show their node's adapters, where there are two."""
    shown = {
        job.request.job: [(reading.file, hca) for reading in readings_of(job, IbStat) for hca in reading.adapters]
        for job in jobs
    }
    shown = {name: adapters for name, adapters in shown.items() if adapters}
    if len(shown) <= 1:
        return
    versions: dict[str, dict[str, str]] = {}
    for name, adapters in shown.items():
        for _, hca in adapters:
            versions.setdefault(hca.kind, {}).setdefault(hca.firmware, name)
    mixed = {kind: hosts_by_version for kind, hosts_by_version in versions.items() if len(hosts_by_version) > 1}
    measured = listed(
        f"{kind}: {listed(f'{version} ({name})' for version, name in sorted(hosts_by_version.items()))}"
        for kind, hosts_by_version in sorted(mixed.items())
    )
    every = [adapter for adapters in shown.values() for adapter in adapters]
    proofs = row_proofs([adapter for adapter in every if adapter[1].kind in mixed] or every)
    yield listed(shown, 4), Outcome(passed(not mixed), measured or f"one of {listed(sorted(versions))}", proofs=proofs)


COMPARISONS = (
    Comparison(
        name="scaling",
        title="Two nodes train nearly twice as fast as one",
        limit=f">= {SCALING:g}",
        unit="ratio of images/s",
        tolerance="5 % of the ideal 2; the median of repeats",
        applies="ResNet-50 in the same pods on one node and on two, over GPUDirect, where the Redpaper has figures",
        source="R-4.5-4, R-4.5-8",
        compare=lambda jobs: _compare(jobs, RATES, _is_twice, _RATE, _scaling),
    ),
    Comparison(
        name="single-gpu-penalty",
        title="Single-GPU pods train only slightly slower than whole-node pods",
        limit=f"<= {PENALTY:.0%} fewer images/s",
        unit="share of images/s",
        tolerance="the Redpaper's loss; more is a warning; the median of repeats",
        applies="ResNet-50 on the same GPUs in pods of eight and in pods of one, where the Redpaper has figures",
        source="R-4.5-8",
        compare=lambda jobs: _compare(jobs, RATES, _is_split, _RATE, _penalty),
    ),
    Comparison(
        name="speed-up",
        title="Training on two nodes takes little more than half the time",
        limit=f">= {SPEED_UP:g}, an efficiency of {SPEED_UP / 2:.0%}",
        unit="ratio of seconds",
        tolerance="15 % of the ideal 2",
        applies="A2D2 on one node and on two, over GPUDirect, where the Redpaper has run times",
        source="R-5.2-6, E-31",
        compare=lambda jobs: _compare(jobs, ELAPSED, _is_twice, _TIME, _speed_up),
    ),
    Comparison(
        name="same-firmware",
        title="The HCAs of all nodes have the same firmware, those of one kind",
        limit="one version of each CA type",
        unit="versions",
        applies="two or more jobs with ibstat output",
        source="N-3.5",
        compare=_same_firmware,
    ),
)
