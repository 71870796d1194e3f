"""What a part of a training's time was spent with, and what interrupted it."""

from enum import StrEnum
from typing import NamedTuple

SLOW, STALLED = 1.25, 5.0
"""How many times the typical time a step takes that is slow, and in which the training stood still. Both are ours."""


class Cause(StrEnum):
    """What a part of the time was spent with."""

    PRODUCTIVE = "productive"
    """Steps that count."""
    QUEUE = "queue"
    """Waiting for nodes, at first or after an eviction."""
    START = "start"
    """From the first start to the first step."""
    DETECTION = "detection"
    """From the last step until a failure was noticed."""
    RESTART = "restart"
    """From there to the first step of the next start."""
    REDONE = "redone"
    """Steps that were trained before, and lost with a failure."""
    CHECKPOINT = "checkpoint"
    """Saving, while no step is trained."""
    STALL = "stall"
    """What steps took beyond their typical time that took more than five times as long."""
    SLOW = "slow"
    """What steps took beyond their typical time that took more than 1.25 times as long, as with a slow rank."""
    END = "end"
    """From the last step to the end."""


class Span(NamedTuple):
    """A part of the time that was lost; seconds since 1970."""

    begin: float
    end: float
    cause: Cause


class Interruption(NamedTuple):
    """A failure, or a start that no failure was seen before."""

    at: float
    """The last sign of training before it, seconds since 1970."""
    noticed_s: float | None
    """Seconds until it was noticed; None: no line shows it."""
    trains_s: float | None
    """Seconds until a step was trained again; None: it was not."""
    reached: int
    """Steps trained before it."""
    resumed: int | None
    """The step from which it went on; None: not known."""

    @property
    def lost(self) -> int:
        """Return the steps that were lost."""
        return max(self.reached - self.resumed, 0) if self.resumed is not None else 0
