"""Comparing figures: medians of repeats, spread, differences, scaling. Pure functions over numbers."""

from collections.abc import Sequence
from statistics import median
from typing import Literal

from pydantic import Field

from hardware.model import Model

Better = Literal["more", "less"]
"""Which direction is better: more images/s, less seconds."""


class Repeats(Model):
    """Repeats of one measurement. The documents take the median of five (R-4.5-1, R-5.2-5)."""

    values: tuple[float, ...] = Field(min_length=1, description="in the order measured, one unit")

    @property
    def median(self) -> float:
        """Return the median; of an even number the mean of the middle two."""
        return median(self.values)

    @property
    def spread(self) -> float:
        """Return how far the farthest repeat is from the median, as a share of it; 0 for one repeat.

        Raises ZeroDivisionError for a median of zero.
        """
        middle = self.median
        return max(abs(value - middle) for value in self.values) / abs(middle) if len(self.values) > 1 else 0.0


def repeats(values: Sequence[float]) -> Repeats:
    """Return repeats. Raises pydantic's ValidationError for none."""
    return Repeats(values=tuple(values))


def difference(measured: float, reference: float) -> float:
    """Return (measured - reference) / reference. Raises ZeroDivisionError for a reference of zero."""
    return (measured - reference) / reference


def faster(measured: float, reference: float, better: Better) -> float:
    """Return by which share `measured` is faster than `reference`; negative: slower.

    Of times it is the share of the reference's time that is saved: 740 s against 1328 s is 0.443, and not the 0.557
    that the paper prints, which is the share that is left (E-31).
    """
    change = difference(measured, reference)
    return change if better == "more" else -change


def speed_up(before: float, after: float, better: Better) -> float:
    """Return how many times as fast `after` is: of rates after/before, of times before/after."""
    return after / before if better == "more" else before / after


class Scaling(Model):
    """What more nodes or GPUs gave."""

    before: float
    after: float
    factor: float = Field(gt=0, description="how many times as many nodes or GPUs")
    better: Better

    @property
    def speed_up(self) -> float:
        """Return how many times as fast it became."""
        return speed_up(self.before, self.after, self.better)

    @property
    def efficiency(self) -> float:
        """Return the share of the ideal speed-up that was reached; 1 is ideal."""
        return self.speed_up / self.factor

    @property
    def ideal(self) -> float:
        """Return the figure that ideal scaling would give."""
        return self.before * self.factor if self.better == "more" else self.before / self.factor


def regressed(measured: Sequence[float], earlier: Sequence[float], better: Better, *, least_noise: float = 0.0) -> bool:
    """Return whether the medians differ for the worse by more than the repeats of either side do among themselves.

    `least_noise` is the share that is noise whatever the repeats say, for one where there are no repeats. Raises
    ValueError for no figures, ZeroDivisionError for a median of zero.
    """
    now, then = repeats(measured), repeats(earlier)
    return faster(now.median, then.median, better) < -max(now.spread, then.spread, least_noise)
