"""Reads the events of a training from its log: steps, checkpoints and starts by the program's own patterns.

What torchrun, NCCL's watchdog and other programs print of failures needs no pattern.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise, repeat
from statistics import median
from typing import Any, BinaryIO, NamedTuple

from core.goodput import GoodputLines
from toolkit.evidence.failures import hinted, is_failure
from toolkit.evidence.goodput.events import NONE, Events, Kind
from toolkit.evidence.goodput.patterns import TORCHRUN_STARTS, TORCHRUN_STOPS, TRIES_AGAIN, Patterns, number_of
from toolkit.evidence.goodput.times import Clock
from toolkit.evidence.line_shapes import shapes_of
from toolkit.evidence.text import LONGEST, Text, clean, is_rewritten

_REMEMBERED = 20_000
"""Shapes of lines of which it is remembered where they have their number."""
_CHUNK, _EVEN = 64, 0.02
"""Step lines of which the last alone is stored where their time is even: within this share of that of those before.

A step that takes five times as long makes such a chunk 6 % longer.
"""


class Read(NamedTuple):
    """What a log has."""

    events: Events
    lines: int
    untimed: int
    """Lines that show an event, and have no time."""
    first_step: int
    last_step: int
    """Lines of the first and the last step; 0: none."""


class _Place(NamedTuple):
    """Where step lines of a shape have their number and their time."""

    number: slice
    time: slice


_UNKNOWN = _Place(slice(0), slice(0))
"""Of shapes that are not known yet."""


def read_stream(file: BinaryIO, goodput: GoodputLines) -> Read:
    """Return the events of an open log; memory grows with its steps, at most 17 bytes each."""
    log = _Log(goodput)
    number = 1
    for lines in Text(file).blocks():
        log.feed(number, lines)
        number += len(lines)
    log.end()
    return Read(log.events, number - 1, log.untimed, log.first_step, log.last_step)


class _Log:
    def __init__(self, goodput: GoodputLines) -> None:
        self.events = Events()
        self.untimed = self.first_step = self.last_step = 0
        self._patterns = Patterns(goodput)
        self._clock = Clock()
        self._places: dict[bytes, _Place | None] = {}
        self._seen: set[bytes] = set()
        self._first, self._block = 1, list[bytes]()
        self._time = self._typical = 0.0
        """Of the last step, and of a step by the last chunk."""
        self._current = NONE
        self._leaders: set[str] = set()
        """Sources that printed a step first since the last start: those whose numbers do not go back."""
        self._failing = False
        self._reported: float | None = None
        """When a program reported a failure after which it may go on: what comes next shows it."""

    def feed(self, first: int, lines: list[bytes]) -> None:
        """Read lines; `first` is the number of the first of them."""
        self._first, self._block = first, lines
        if not len(self.events):
            self._begin()
        for index in self._relevant(lines):
            self._read(index)

    def _relevant(self, lines: list[bytes]) -> Iterable[int]:
        """Yield lines to be read with care; step lines of known shapes are read on the way."""
        places = list(map(self._places.get, shapes_of(lines), repeat(_UNKNOWN)))
        unknown = [index for index, place in enumerate(places) if place is _UNKNOWN]
        matching = self._matching([lines[index] for index in unknown])
        start = 0
        for end, may_match in (*zip(unknown, matching, strict=True), (len(lines), False)):
            if end > start:
                self._feed_steps(start, places[start:end])
            if may_match:
                yield end
            start = end + 1

    def _matching(self, lines: Sequence[bytes]) -> Sequence[bool]:
        """Return which lines may show an event; the shapes of the others are remembered."""
        whole = b"\n".join(lines)
        if self._patterns.anchored or is_rewritten(whole) or self._patterns.may_match(whole):
            return [True] * len(lines)
        failures = hinted(lines)
        if self._patterns.same_shape:
            for index, shape in enumerate(shapes_of(lines)):
                if index not in failures:
                    self._decide(shape, None)
        return [index in failures for index in range(len(lines))]

    def _feed_steps(self, first: int, places: Sequence[_Place | None]) -> None:
        """Read lines of known shapes, from the index `first` of the block on."""
        raws = self._block[first : first + len(places)]
        numbers = [int(raw[place[0]]) for raw, place in zip(raws, places, strict=True) if place is not None]
        indices: Sequence[int] = range(len(places))
        if len(numbers) < len(places):
            indices = [index for index, place in enumerate(places) if place is not None]
        for start in range(0, len(numbers), _CHUNK):
            steps, chosen = numbers[start : start + _CHUNK], indices[start : start + _CHUNK]
            last = steps.index(max(steps))
            place = places[chosen[last]]
            if place is not None and self._is_even(steps, last, first + chosen[last], place.time):
                continue
            before = len(self.events)
            for step, index in zip(steps, chosen, strict=True):
                if step != self._current and (place := places[index]) is not None:
                    self._step(first + index, step, place.time)
            self._typical = _step_time(self.events.times[before:], self.events.steps[before:]) or self._typical

    def _is_even(self, steps: Sequence[int], last: int, index: int, place: slice) -> bool:
        """Note the last step of a chunk whose steps take the time of those before, and return whether they do."""
        if not self._typical or self._reported is not None or self._failing or steps[0] < self._current:
            return False
        if steps[last] == self._current:
            return steps[-1] == self._current
        time = self._clock.read(self._block[index][place])
        expected = (steps[last] - self._current) * self._typical
        if time is None or abs(time - self._time - expected) > _EVEN * expected or [*steps] != sorted(steps):
            return False
        self._trained(index, steps[last], time)
        return True

    def _begin(self) -> None:
        """Note the time of the first line that has one: then the processes of the log started."""
        time = next(filter(None, map(self._time_of, self._block)), None)
        if time is not None:
            self.events.add(time, Kind.START)

    def end(self) -> None:
        """Note the time of the last line that has one."""
        self._settle()
        time = next(filter(None, map(self._time_of, reversed(self._block))), None)
        if time is not None and len(self.events):
            self.events.add(max(time, self.events.times[-1]), Kind.END)

    def _time_of(self, raw: bytes) -> float | None:
        place = self._clock.place(raw)
        return self._clock.read(raw[place]) if place is not None else None

    def _source(self, index: int) -> str:
        return clean(1, self._block[index][:LONGEST]).source

    def _settle(self) -> None:
        """Note a failure that a program reported: what came next shows that it did not go on."""
        if self._reported is not None:
            self.events.add(self._reported, Kind.FAULT)
            self._reported, self._failing = None, True

    def _step(self, index: int, step: int, place: slice | None) -> None:
        """Note that so many steps are trained; the first rank that prints it counts."""
        time = self._clock.read(self._block[index][place]) if place is not None else None
        if time is None:
            self.untimed += 1
            return
        if step <= self._current and (step == self._current or self._source(index) not in self._leaders):
            return
        if step < self._current:
            self._settle()
        if step < self._current or not self._leaders:
            self._leaders = {self._source(index)}
        self._reported = None
        self._trained(index, step, time)

    def _trained(self, index: int, step: int, time: float) -> None:
        self.events.add(time, Kind.STEP, step)
        self._current, self._time, self._failing = step, time, False
        self.last_step = self._first + index
        self.first_step = self.first_step or self.last_step

    def _read(self, index: int) -> None:
        """Read a line with care, and remember where lines of its shape have their number."""
        raw = self._block[index][:LONGEST]
        text = clean(1, raw).text
        if (found := self._patterns.find(text)) is not None:
            self._match(found[0], index, text, found[1])
        elif TORCHRUN_STARTS in text:
            self._add(Kind.START, raw)
        elif hinted([raw]):
            if TORCHRUN_STOPS.search(text) is not None:
                self._settle()
                self._add(Kind.FAULT, raw)
            elif self._reported is None and not self._failing and is_failure(text) and TRIES_AGAIN not in text:
                self._reported = self._time_of(raw)
        elif self._patterns.same_shape:
            self._decide(shapes_of([raw])[0], None)

    def _match(self, kind: Kind, index: int, text: str, match: Any) -> None:
        raw = self._block[index][:LONGEST]
        step = number_of(match)
        if kind is not Kind.STEP or step is None:
            self._add(kind, raw, NONE if step is None else step)
            return
        place = self._clock.place(raw)
        self._step(index, step, place)
        before = len(raw.rstrip()) - len(text)
        if place is not None and self._patterns.same_shape and not is_rewritten(raw) and text.isascii() and before >= 0:
            number = slice(before + match.start(1), before + match.end(1))
            self._decide(shapes_of([raw])[0], _Place(number, place) if raw[number].isdigit() else None)

    def _add(self, kind: Kind, raw: bytes, step: int = NONE) -> None:
        time = self._time_of(raw)
        if time is None:
            self.untimed += 1
            return
        if kind is Kind.FAULT:
            if self._failing:
                return  # the first line shows when it was noticed
            self._failing = True
        elif kind in (Kind.START, Kind.RESUMED):
            self._settle()
            self._current, self._failing = NONE, False
            self._leaders.clear()
        self.events.add(time, kind, step)

    def _decide(self, shape: bytes, place: _Place | None) -> None:
        """Remember what lines of a shape are, the second time that it comes."""
        if len(self._seen) > _REMEMBERED:
            self._seen.clear()
            self._places.clear()
        if shape in self._seen:
            self._places[shape] = place
        self._seen.add(shape)


def _step_time(times: Sequence[float], steps: Sequence[int]) -> float | None:
    """Return the median time of a step; None where there are none."""
    pairs = zip(pairwise(times), pairwise(steps), strict=True)
    spans = [(later - time) / (more - step) for (time, later), (step, more) in pairs if more > step]
    return median(spans) if spans else None
