"""Finding the tools in a log."""

import io
from typing import ClassVar

import pytest

from evidence import reader
from evidence.model import Reading, Unknown
from evidence.parser import Common, Parser, Taken
from evidence.reader import read_stream
from evidence.text import Line, clean


class Counted(Reading):
    """A tool that counts."""

    numbers: tuple[int, ...]


class Counter(Parser):
    """Reads `count:`, then numbers, then `end`."""

    tool: ClassVar[str] = "counter"
    starts: ClassVar[str] = "count:"

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.begun = self.complete = False

    def feed(self, line: Line) -> Taken:
        """Take numbers."""
        if line.text == "count:":
            again = self.begun
            self.begun = True
            return Taken.AGAIN if again else Taken.YES
        if line.text == "end":
            self.complete = True
            return Taken.YES
        if line.text.startswith("#"):
            if not line.text[1:].isdecimal():
                return Taken.DAMAGED
            self.numbers.append(int(line.text[1:]))
            return Taken.YES
        return Taken.NO

    def reading(self, common: Common) -> Reading:
        """Return the numbers."""
        return Counted(tool=self.tool, complete=self.complete, numbers=tuple(self.numbers), **common)


def _read(text: str) -> tuple[Reading, ...]:
    return read_stream(io.BytesIO(text.encode()), "log", (Counter,))


def test_runs_of_one_tool_are_told_apart() -> None:
    """Prevents five repeats in one log whose figures become one run's."""
    found = _read("count:\n#1\nend\nsomething else\ncount:\n#2\n")
    assert [one.numbers for one in found if isinstance(one, Counted)] == [(1,), (2,)]
    assert [one.complete for one in found] == [True, False]
    assert [(one.first_line, one.last_line) for one in found] == [(1, 4), (5, 6)]


def test_what_nobody_reads_is_listed_with_its_line() -> None:
    """Prevents a damaged row that is skipped in silence."""
    (found,) = _read("count:\n#1x\nnoise\n\nend\n")
    assert [(one.line, one.text) for one in found.unread] == [(2, "#1x"), (3, "noise")]
    assert found.unread_total == 2


def test_a_file_with_nothing_known_is_said_to_be_that() -> None:
    """Prevents a log of an unknown tool that looks like one without faults."""
    for text in ("", "hello\n"):
        (found,) = _read(text)
        assert isinstance(found, Unknown)
        assert (found.tool, found.complete) == ("unknown", False)


def test_prefixes_of_mpirun_kubectl_and_terminals_are_taken_off() -> None:
    """Prevents a log that can only be read as it came from the launcher, without time stamps or colours."""
    for raw, text, source in (
        (b"[1,0]<stdout>:#1", "#1", "1,0"),
        (b"[1,12]<stderr>: x", "x", "1,12"),
        (b"2026-11-21T20:01:02.123456789Z [1,3]<stdout>:x", "x", "1,3"),
        (b"2026-11-21T20:01:02.123456789Z stdout F x", "x", ""),
        (b"[pod/job-launcher-x/main] x  ", "x", "job-launcher-x"),
        (b"\x1b[31mred\x1b[0m", "red", ""),
        (b"10 %\r100 %", "100 %", ""),
    ):
        assert clean(7, raw) == Line(7, text, source)


class Led(Counter):
    """The same, with a rule of equal signs, or a date, above its first line."""

    leads: ClassVar[str | None] = r"=+|today"


def test_lines_above_the_first_that_is_known_belong_to_it() -> None:
    """Prevents a date above a table from being an unknown tool, and any date from being a table's."""
    for text, first, unread in (
        ("today\n===\ncount:\n#1\nend\n", [1], [[]]),
        ("[1,0]<stdout>:today\n[1,1]<stdout>:other\n[1,0]<stdout>:count:\n[1,0]<stdout>:end\n", [1, 2], [[], [2]]),
        ("today\nother\ncount:\nend\n", [1, 3], [[1, 2], []]),
        ("count:\nend\ntoday\n===\n", [1], [[3, 4]]),
        ("count:\nend\ntoday\n\ncount:\nend\n", [1, 3], [[], []]),
        ("count:\ntoday\n#1\nend\n", [1], [[2]]),
        ("today\n", [1], [[1]]),
    ):
        found = read_stream(io.BytesIO(text.encode()), "log", (Led,))
        assert [one.first_line for one in found] == first
        assert [[line.line for line in one.unread] for one in found] == unread


def test_a_tool_that_runs_every_second_is_read_in_linear_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prevents each line of a day's log from being offered to every run before it: counted, not timed."""
    offered = 0
    takes = reader._Run.takes

    def counted(run: reader._Run, line: Line) -> Taken:
        nonlocal offered
        offered += 1
        return takes(run, line)

    monkeypatch.setattr(reader._Run, "takes", counted)
    found = _read("count:\n#1\nend\nnoise\n" * 500)
    assert len(found) == 500
    assert offered <= 5 * 500
