"""The account of a training's time: how much of it trained steps that count, and what the rest was lost to.

Peers have two ratios, and both are here. ml-goodput-measurement of Google divides the productive time by all of the
job's time. The cluster readiness engine of NVIDIA (docs/api-reference/goodput-measurement.md) leaves the wait for nodes
out of both parts, and subtracts work done again, resuming and saving, but no stall: (t_w - t_ch - t_rm - t_re - t_save)
/ (t_w - t_re).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from toolkit.evidence.goodput.causes import Cause, Interruption, Span
from toolkit.evidence.goodput.events import NONE, Events, Kind
from toolkit.evidence.goodput.ledger import Ledger

_SAMPLES = 100_000
"""Steps of which the typical time is the median, at most: of longer runs every so many."""
_SPANS, _COURSE = 500, 400
"""Losses, and points of the course, that are stored for a plot."""


@dataclass(frozen=True)
class Account:
    """The whole account."""

    begin: float
    """Of the first event, seconds since 1970."""
    wall_s: float
    seconds: dict[Cause, float]
    """By cause; their sum is `wall_s`."""
    reached: int
    """Steps that count."""
    typical_s: float | None
    """Median time of a step; None: fewer than two steps."""
    interruptions: tuple[Interruption, ...]
    losses: tuple[Span, ...]
    course: tuple[tuple[float, int], ...]
    """Time and step, of long runs every so many."""

    @property
    def goodput(self) -> float | None:
        """Return the productive share of all of the job's time, as Google defines goodput."""
        return self.seconds[Cause.PRODUCTIVE] / self.wall_s if self.wall_s else None

    @property
    def without_waiting(self) -> float | None:
        """Return the share as NVIDIA's cluster readiness engine defines it: waiting for nodes is in neither part."""
        spent = self.wall_s - self.seconds[Cause.QUEUE]
        lost = sum(self.seconds[cause] for cause in (Cause.REDONE, Cause.START, Cause.RESTART, Cause.CHECKPOINT))
        return (spent - lost) / spent if spent else None


def account(events: Events) -> Account:
    """Return the account of events, which are in the order of their times.

    The time to the first step of a start is lost but for the steps that the line reports, at their typical time.
    """
    typical = _typical(events)
    ledger = Ledger(typical or 0.0)
    for event in events:
        ledger.post(*event)
    begin = events.times[0] if len(events) else 0.0
    return Account(
        begin=begin,
        wall_s=ledger.now - begin,
        seconds=ledger.seconds,
        reached=ledger.highest,
        typical_s=typical,
        interruptions=tuple(ledger.interruptions),
        losses=_longest(ledger.spans),
        course=_course(events),
    )


def _typical(events: Events) -> float | None:
    values = [
        (time - before) / (step - done)
        for (before, last, done), (time, kind, step) in pairwise(events)
        if kind == Kind.STEP == last and step > done
    ]
    return median(values[:: len(values) // _SAMPLES + 1]) if values else None


def _longest(spans: Sequence[Span]) -> tuple[Span, ...]:
    longest = sorted(spans, key=lambda span: span.begin - span.end)[:_SPANS]
    return tuple(sorted(longest))


def _course(events: Events) -> tuple[tuple[float, int], ...]:
    """Return points of the course: every so many steps, and those at which it changes its direction."""
    every = len(events) // _COURSE + 1
    points: list[tuple[float, int]] = []
    last: tuple[float, int] | None = None
    for index, (time, kind, step) in enumerate(events):
        if kind != Kind.STEP or step == NONE:
            continue
        turned = last is not None and step <= last[1]
        if turned and last is not None and points[-1] != last:
            points.append(last)
        if turned or index % every == 0 or not points:
            points.append((time, step))
        last = (time, step)
    if last is not None and points[-1] != last:
        points.append(last)
    return tuple(points)
