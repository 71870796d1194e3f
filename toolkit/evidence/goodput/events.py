"""Events in the life of a training, in the order of their times."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple


class Kind(IntEnum):
    """What happened."""

    SUBMITTED = 0
    """The job was created, and waits for its nodes."""
    ADMITTED = 1
    """It may start: its nodes are there."""
    EVICTED = 2
    """It lost its nodes, and waits for others."""
    START = 3
    """Its processes start, the first time or again."""
    RESUMED = 4
    """A checkpoint was loaded; `step` is its step."""
    STEP = 5
    """`step` steps are trained."""
    SAVING = 6
    SAVED = 7
    """A checkpoint was saved; `step` is its step, or NONE."""
    FAULT = 8
    """A failure was noticed: by a rank, by torchrun, or by Kubernetes."""
    END = 9


NONE = -1
"""The step of an event that has none."""


class Event(NamedTuple):
    """One event."""

    time: float
    """Seconds since 1970, UTC."""
    kind: Kind
    step: int = NONE


class Events:
    """Many events in little memory: 17 bytes each."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.times, self.kinds, self.steps = array("d"), array("b"), array("q")
        for event in events:
            self.add(*event)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.times)

    def __iter__(self) -> Iterator[tuple[float, int, int]]:
        """Yield time, kind and step of each."""
        return zip(self.times, self.kinds, self.steps, strict=True)

    def add(self, time: float, kind: Kind, step: int = NONE) -> None:
        """Add an event."""
        self.times.append(time)
        self.kinds.append(kind)
        self.steps.append(step)


def merged(logs: Sequence[Events]) -> Events:
    """Return the events of several logs in the order of their times; a step counts when the first one has it."""
    if len(logs) == 1:
        return logs[0]
    rows = sorted((row, log) for log, events in enumerate(logs) for row in events)
    whole = Events()
    reached: dict[int, int] = {}
    current = NONE
    for (time, kind, step), log in rows:
        if kind == Kind.STEP:
            is_late = step <= current and reached.get(log, NONE) < step
            reached[log] = step
            if is_late:
                continue
            current = step
        elif kind in (Kind.START, Kind.RESUMED):
            reached.clear()
            current = NONE
        elif kind == Kind.END:
            continue
        whole.add(time, Kind(kind), step)
    ends = [row[0] for row, _ in rows if row[1] == Kind.END]
    if ends:
        whole.add(max(ends), Kind.END)
    return whole
