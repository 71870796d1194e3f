"""What can be known of a table beyond its rows: its factor, sizes that are not there, rows that cannot be right."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from toolkit.evidence.tools.nccl_tests.model import Figures, Row, Settings
from toolkit.evidence.tools.nccl_tests.primitives import PRIMITIVES, WORD_BYTES, Primitive

MISSING_KEPT = 1000
ENOUGH = 0.75
"""Share of the figures that distinguish factors that must agree before one is inferred."""
SLACK = 32
"""Bytes of a rank that `size` may be rounded down by: today's alignment is 16, that of old versions 4 elements."""
RELATIVE = 1e-9


class Precision(NamedTuple):
    """Half of the last digit that was printed, so how far the true figure may be off."""

    time: float
    algbw: float
    busbw: float


class Measured(NamedTuple):
    """A row with the precision of its halves, out of place first."""

    row: Row
    precisions: tuple[Precision, ...]

    def halves(self) -> Iterator[tuple[str, Figures, Precision]]:
        """Yield name, figures and precision of each half."""
        halves = (("out-of-place", self.row.out_of_place), ("in-place", self.row.in_place))
        present = [(name, half) for name, half in halves if half is not None]
        for (name, half), precision in zip(present, self.precisions, strict=False):
            yield name, half, precision


def contradiction(
    measured: Measured, *, ranks: int | None, primitive: Primitive | None, factor: float | None, timed: bool
) -> str | None:
    """Return why the figures of a row cannot all be right, None when they can.

    `timed`: whether the printed time is that of the bandwidth (it is not with --report_cputime).
    """
    row = measured.row
    if not _sizes_agree(row, ranks):
        return f"{row.bytes} bytes are not {row.count} elements of {row.type}"
    shares = {1.0}
    if ranks and (primitive is None or any(variant.sent_only for variant in primitive.variants)):
        shares.add((ranks - 1) / ranks)
    for name, half, precision in measured.halves():
        if timed and not any(_speed_agrees(row.bytes * share, half, precision) for share in shares):
            return f"{name}: algbw {half.algbw_gb_s:g} GB/s is not {row.bytes} B in {half.time_us:g} us"
        if factor is not None and not _factor_agrees(half, precision, factor):
            return f"{name}: busbw {half.busbw_gb_s:g} is not algbw {half.algbw_gb_s:g} times {factor:g}"
    return None


def _sizes_agree(row: Row, ranks: int | None) -> bool:
    word = WORD_BYTES.get(row.type)
    if word is None:
        return True
    own = row.count * word
    if ranks is None:
        return row.bytes == own if own == 0 else row.bytes % own == 0
    return row.bytes in (own, own * ranks)


def _speed_agrees(size: float, half: Figures, precision: Precision) -> bool:
    slowest = half.time_us + precision.time
    fastest = half.time_us - precision.time
    low = size / 1e3 / slowest if slowest > 0 else 0.0
    high = size / 1e3 / fastest if fastest > 0 else math.inf
    return _meets(low, high, half.algbw_gb_s, precision.algbw)


def _factor_agrees(half: Figures, precision: Precision, factor: float) -> bool:
    low = (half.algbw_gb_s - precision.algbw) * factor
    high = (half.algbw_gb_s + precision.algbw) * factor
    return _meets(low, high, half.busbw_gb_s, precision.busbw)


def _meets(low: float, high: float, figure: float, half_digit: float) -> bool:
    margin = RELATIVE * max(abs(figure), 1.0)
    return low - half_digit - margin <= figure <= high + half_digit + margin


def fitting_factor(rows: Sequence[Measured], among: Sequence[float]) -> float | None:
    """Return the one factor that the rows show, None when they do not show one.

    Figures that any factor would fit (small sizes) are not evidence. A few damaged rows do not hide it.
    """
    fits: Counter[float] = Counter()
    telling = 0
    candidates = sorted(set(among))
    for measured in rows:
        for _, half, precision in measured.halves():
            fitting = [factor for factor in candidates if _factor_agrees(half, precision, factor)]
            if len(fitting) < len(candidates) or len(candidates) == 1:
                telling += 1
                fits.update(fitting)
    if not telling:
        return None
    best = [factor for factor, count in fits.items() if count == max(fits.values())]
    return best[0] if len(best) == 1 and fits[best[0]] >= ENOUGH * telling else None


def inferred(rows: Sequence[Measured], ranks: int, *, timed: bool) -> tuple[Primitive | None, float | None]:
    """Return the primitive and the factor that rows of an unnamed test show; None each where they do not."""
    variants = [variant for primitive in PRIMITIVES.values() for variant in primitive.variants]
    factor = fitting_factor(rows, [variant.factor(ranks) for variant in variants])
    if factor is None:
        return None, None
    reduces = {measured.row.redop is not None for measured in rows}
    rooted = {(measured.row.root if measured.row.root is not None else -1) >= 0 for measured in rows}
    shares = {sent for sent in (False, True) if not timed or _share_fits(rows, (ranks - 1) / ranks if sent else 1.0)}
    by_rank = _by_rank(rows, ranks)
    fitting = [
        primitive
        for primitive in PRIMITIVES.values()
        if (by_rank is None or primitive.by_rank == by_rank or len(primitive.variants) > 1)
        and (primitive.reduces is None or {primitive.reduces} == reduces)
        and {primitive.rooted} == rooted
        and any(variant.factor(ranks) == factor and variant.sent_only in shares for variant in primitive.variants)
    ]
    return (fitting[0] if len(fitting) == 1 else None), factor


def _by_rank(rows: Sequence[Measured], ranks: int) -> bool | None:
    """Return whether counts are of one rank and sizes of all; None: rows do not show it."""
    shown = {row.bytes != row.count * WORD_BYTES[row.type] for row, _ in rows if row.count and row.type in WORD_BYTES}
    return shown.pop() if len(shown) == 1 and ranks > 1 else None


def _share_fits(rows: Sequence[Measured], share: float) -> bool:
    """Return whether algbw is this share of size / time, in all but a few damaged figures."""
    fits = [
        _speed_agrees(measured.row.bytes * share, half, precision)
        for measured in rows
        for _, half, precision in measured.halves()
    ]
    return sum(fits) >= ENOUGH * len(fits)


def factor_of(primitive: Primitive, rows: Sequence[Measured], ranks: int) -> float:
    """Return the factor of a known test: that of the version which the rows show, today's where they show none."""
    factors = [variant.factor(ranks) for variant in primitive.variants]
    return factors[0] if len(factors) == 1 else fitting_factor(rows, factors) or factors[0]


def announced(settings: Settings, largest: int) -> Iterator[int]:
    """Yield the sizes that a run goes through, smallest first."""
    size = settings.min_bytes
    while size <= largest:
        yield size
        following = size * settings.step if settings.step_is == "factor" else size + settings.step
        if following <= size:
            return
        size = following


def missing(
    settings: Settings, largest: int, rows: Sequence[Row], primitive: Primitive | None, ranks: int | None
) -> list[int]:
    """Return the announced sizes that are in no row, in each pass through them; at most MISSING_KEPT."""
    absent: list[int] = []
    for single in _passes(rows):
        slack = WORD_BYTES.get(single[0].type, 8) if primitive and not primitive.by_rank else SLACK * (ranks or 1)
        sizes = iter([row.bytes for row in single])
        current = next(sizes, None)
        for size in announced(settings, largest):
            if len(absent) >= MISSING_KEPT:
                return absent
            if current is not None and size - slack < current <= size:
                current = next(sizes, None)
            else:
                absent.append(size)
    return absent


def _passes(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Split rows where a table begins again: another type, operation or root, or the next of several cycles."""
    single: list[Row] = []
    for row in rows:
        if single:
            last = single[-1]
            same = (last.type, last.redop, last.root) == (row.type, row.redop, row.root)
            if not same or row.bytes < last.bytes:
                yield single
                single = []
        single.append(row)
    if single:
        yield single


def mean_busbw(rows: Sequence[Row]) -> float | None:
    """Return the mean of all busbw figures, None when there are none."""
    figures = [half.busbw_gb_s for row in rows for half in (row.out_of_place, row.in_place) if half is not None]
    return math.fsum(figures) / len(figures) if figures else None
