"""Points and limits of plots."""

from typing import Literal, NamedTuple

Measure = Literal["time", "busbw"]


class Point(NamedTuple):
    """One message size."""

    bytes: int
    time_us: float
    busbw_gb_s: float

    def value(self, measure: Measure) -> float:
        """Return what is drawn."""
        return self.time_us if measure == "time" else self.busbw_gb_s


class Limit(NamedTuple):
    """A limit over the sizes from `first` to `last`."""

    measure: Measure
    kind: Literal["most", "least"]
    first: int
    last: int
    value: float
