"""Comparing figures: medians of repeats, their spread, and how much faster one is. Pure functions over numbers."""

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


def faster(measured: float, reference: float, better: Better) -> float:
    """Return by which share `measured` is faster than `reference`; negative: slower.

    Of times it is the share of the reference's time that is saved: 740 s against 1328 s is 0.443, and not the 0.557
    that the paper prints, which is the share that is left (E-31). Raises ZeroDivisionError for a reference of zero.
    """
    change = (measured - reference) / reference
    return change if better == "more" else -change
