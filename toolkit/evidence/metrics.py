"""Reads what a user's own program prints of itself: metrics of its program file, found by their patterns."""

import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, repeat
from math import isfinite
from pathlib import Path
from statistics import median
from typing import Any, BinaryIO

from pydantic import Field

from core.metric import Metric, compiled
from core.model import Model
from toolkit.evidence import reader
from toolkit.evidence.line_shapes import shapes_of, treats_digits_alike
from toolkit.evidence.model import Reading, Unread
from toolkit.evidence.text import LONGEST, Text, clean, is_rewritten, opened

METRICS = "metrics"
"""Name of the tool, which is the program itself."""
COURSE = 100
"""Values of a metric that a report draws over the time of a job."""
_UNKNOWN = slice(0)
_SECOND, _REMEMBERED = 2, 20_000
"""When the place of the number is remembered, and of how many shapes of lines."""
_DIGIT = re.compile(rb"[0-9]")
_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:[eE][-+]?\d+)?|[-+]?(?:nan|inf)", re.IGNORECASE)


class Measured(Model):
    """What was found of one metric."""

    name: str
    unit: str
    count: int = Field(ge=0, description="values that the log has, with those of the warm-up")
    figure: float | None = Field(default=None, description="the value that counts; None: no line has one")
    line: int | None = Field(default=None, description="line of that value; of a median the last line")
    refused: Unread | None = Field(default=None, description="first line where the pattern gives no number, or several")
    tried: Unread | None = Field(
        default=None, description="without a value: the last line with a digit that was searched"
    )
    course: tuple[float, ...] = Field(
        default=(),
        description=f"values in the order of the log; of more than {COURSE} the medians of as many parts of equal size",
    )


class Metrics(Reading):
    """The metrics of one log."""

    rows: tuple[Measured, ...]

    def _figures(self) -> str:
        measured = ((row, row.figure) for row in self.rows if row.figure is not None)
        return ", ".join(f"{row.name} {figure:,.6g} {row.unit}".rstrip() for row, figure in measured)


def read_log(path: Path, metrics: Sequence[Metric]) -> tuple[Reading, ...]:
    """Return what tools printed in a log, and the metrics: not of standard input, which cannot be read twice.

    Raises OSError when the file cannot be read.
    """
    readings = reader.read(path)
    if not metrics or str(path) == "-":
        return readings
    with opened(path) as file:
        return *readings, read_stream(
            file, str(path), metrics, simulated=any(reading.simulated for reading in readings)
        )


def read_stream(file: BinaryIO, name: str, metrics: Sequence[Metric], *, simulated: bool = False) -> Metrics:
    """Return the metrics of an open log."""
    series = [_Series(metric) for metric in metrics]
    number, tried = 1, None
    for lines in Text(file).blocks():
        # One search over a block, in C++, passes over blocks without any value.
        whole = b"\n".join(lines)
        text = None if is_rewritten(whole) else whole.decode("utf-8", "replace")
        matching = [entry for entry in series if text is None or entry.may_match(text)]
        shapes = shapes_of(lines) if matching else ()
        for entry in matching:
            entry.feed(number, lines, shapes)
        if not all(entry.values for entry in series):
            tried = _last_figures(number, lines) or tried
        number += len(lines)
    return Metrics(
        tool=METRICS,
        file=name,
        complete=True,
        simulated=simulated,
        first_line=1,
        last_line=max(number - 1, 1),
        rows=tuple(entry.measured(tried) for entry in series),
    )


def _last_figures(first: int, lines: Sequence[bytes]) -> Unread | None:
    for offset in range(len(lines) - 1, -1, -1):
        if _DIGIT.search(lines[offset]) is not None:
            return Unread(line=first + offset, text=clean(first + offset, lines[offset][:LONGEST]).text[:200])
    return None


@dataclass
class _Series:
    """The values of one metric, in the order of the log."""

    metric: Metric
    values: "array[float]" = field(default_factory=lambda: array("d"))
    lines: "array[int]" = field(default_factory=lambda: array("L"))
    refused: Unread | None = None
    places: dict[bytes, slice | None] = field(default_factory=dict)
    """Shape of a line -> where its number is; None: it has none."""
    shape_counts: dict[bytes, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.pattern: Any = compiled(self.metric.pattern)
        # An anchor is of the line without its prefixes, which are still there in a block.
        self._alike = treats_digits_alike(self.metric.pattern)
        self._anchored = any(mark in self.metric.pattern for mark in ("^", "$", r"\A", r"\z"))

    def may_match(self, block: str) -> bool:
        """Return whether a block of lines may have a value."""
        return self._anchored or self.pattern.search(block) is not None

    def feed(self, first: int, lines: Sequence[bytes], shapes: Sequence[bytes]) -> None:
        """Read lines; `first` is the number of the first of them."""
        places = list(map(self.places.get, shapes, repeat(_UNKNOWN)))
        start = 0
        for end in (*(index for index, place in enumerate(places) if place is _UNKNOWN), len(lines)):
            if end > start:
                parts = zip(lines[start:end], places[start:end], strict=True)
                texts = b" ".join([raw[place] for raw, place in parts if place is not None])
                self.values.extend(map(float, texts.replace(b",", b"").split()))
                numbers = enumerate(places[start:end], first + start)
                self.lines.extend([number for number, place in numbers if place is not None])
            if end < len(lines):
                self._read(first + end, clean(first + end, lines[end][:LONGEST]).text)
                if self._alike:
                    self._decide(shapes[end])
            start = end + 1

    def _decide(self, shape: bytes) -> None:
        """Remember where lines of a shape that comes the second time have their number, or that they have none."""
        times = self.shape_counts[shape] = self.shape_counts.get(shape, 0) + 1
        if len(self.shape_counts) > _REMEMBERED:
            self.shape_counts.clear()
            self.places.clear()
        if times != _SECOND or len(shape) > LONGEST or is_rewritten(shape) or not shape.isascii():
            return
        whole, text = shape.decode("ascii").rstrip(), clean(1, shape).text
        matches = list(self.pattern.finditer(text))
        if not matches:
            self.places[shape] = None
        elif len(matches) == 1 and _number(matches[0][1] or "") is not None and whole.endswith(text):
            at = len(whole) - len(text)
            self.places[shape] = slice(at + matches[0].start(1), at + matches[0].end(1))

    def _read(self, number: int, text: str) -> None:
        numbers = list(self._numbers(text))
        if not numbers:
            return
        if len(numbers) > 1 or (value := _number(numbers[0])) is None:
            self.refused = self.refused or Unread(line=number, text=text[:200])
            return
        self.values.append(value)
        self.lines.append(number)

    def _numbers(self, text: str) -> Iterator[str]:
        """Yield what the group has, at most twice."""
        for count, match in enumerate(self.pattern.finditer(text)):
            yield match[1] or ""
            if count:
                return

    def measured(self, tried: Unread | None) -> Measured:
        """Return the value that counts; `tried` is a line that may be shown where there is none."""
        values, metric = self.values[self.metric.warm_up :], self.metric
        common = {"name": metric.name, "unit": metric.unit, "count": len(self.values), "refused": self.refused}
        if not self.values and self.refused is None:
            common["tried"] = tried
        if not values:
            return Measured.model_validate(common)
        figure, index = values[-1], len(values) - 1
        if metric.value == "median":
            figure = median(values)
        elif metric.value == "best":
            figure = max(values) if metric.better == "higher" else min(values)
            index = values.index(figure)
        common["course"] = _course(self.values)
        return Measured.model_validate({**common, "figure": figure, "line": self.lines[metric.warm_up + index]})


def _course(values: Sequence[float]) -> tuple[float, ...]:
    """Return values that can be drawn, in their order, of long series medians of parts."""
    finite = [value for value in values if isfinite(value)]
    if len(finite) <= COURSE:
        return tuple(finite)
    ends = [part * len(finite) // COURSE for part in range(COURSE + 1)]
    return tuple(median(finite[start:end]) for start, end in pairwise(ends))


def _number(text: str) -> float | None:
    """Return a number, which may have commas between its thousands; None for anything else."""
    if not text or not _NUMBER.fullmatch(text):
        return None
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None
