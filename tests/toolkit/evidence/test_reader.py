"""Finding the tools in a log."""

import io
import random
from typing import ClassVar

import pytest

from toolkit.evidence import text as text_module
from toolkit.evidence.model import Reading, Unknown
from toolkit.evidence.parser import Common, Parser, Taken
from toolkit.evidence.reader import read_stream
from toolkit.evidence.text import LONGEST, Line
from toolkit.evidence.tool_run import ToolRun


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
        return Counted(complete=self.complete, numbers=tuple(self.numbers), **common)


def _read(text: str) -> tuple[Reading, ...]:
    return read_stream(io.BytesIO(text.encode()), "log", (Counter,))


def test_runs_of_one_tool_are_distinguished() -> None:
    """Repeats in one log are runs of their own."""
    found = _read("count:\n#1\nend\nsomething else\ncount:\n#2\n")
    assert [one.numbers for one in found if isinstance(one, Counted)] == [(1,), (2,)]
    assert [one.complete for one in found] == [True, False]
    assert [(one.first_line, one.last_line) for one in found] == [(1, 4), (5, 6)]


def test_what_no_tool_reads_is_listed_with_its_line() -> None:
    """A damaged row is listed with its line."""
    (found,) = _read("count:\n#1x\nnoise\n\nend\n")
    assert [(one.line, one.text) for one in found.unread] == [(2, "#1x"), (3, "noise")]
    assert found.unread_total == 2


def test_a_file_with_nothing_known_is_reported_as_that() -> None:
    """A file without a known tool is reported as such."""
    for text in ("", "hello\n"):
        (found,) = _read(text)
        assert isinstance(found, Unknown)
        assert (found.tool, found.complete) == ("unknown", False)


class Led(Counter):
    """The same, with a rule of equal signs, or a date, above its first line."""

    leads: ClassVar[str | None] = r"=+|today"


def test_lines_above_the_first_that_is_known_belong_to_it() -> None:
    """A date above a table belongs to it, and other dates do not."""
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
    """A line is offered to few runs, however many there are: counted, not timed."""
    offered = 0
    takes = ToolRun.takes

    def counted(run: ToolRun, line: Line) -> Taken:
        nonlocal offered
        offered += 1
        return takes(run, line)

    monkeypatch.setattr(ToolRun, "takes", counted)
    found = _read("count:\n#1\nend\nnoise\n" * 500)
    assert len(found) == 500
    assert offered <= 5 * 500


class Program(Counter):
    """The same as a program that uses NCCL."""

    tool: ClassVar[str] = "program"
    starts: ClassVar[str] = "program:|count:"
    hosts_nccl: ClassVar[bool] = True

    def feed(self, line: Line) -> Taken:
        """Take its first line, too."""
        return super().feed(line._replace(text=line.text.replace("program:", "count:")))


NCCL = "h:1:2 [0] NCCL INFO Channel 0{} : 0[0] -> 1[1] via P2P/IPC\n"
CUT = "h:1:2 [0] NCCL INFO Channel 00 : 0[0\n"


def _programs(text: str, block: int = 1 << 20) -> tuple[Reading, ...]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_module, "BLOCK", block)
        return read_stream(io.BytesIO(text.encode()), "log", (Program,))


def test_what_nccl_says_before_the_program_does_is_the_programs() -> None:
    """Messages of NCCL before the program's first line belong to the program."""
    (found,) = _programs(NCCL.format(0) + CUT + "noise\n" + "program:\n#1\n" + NCCL.format(1) + "end\n")
    assert (found.tool, found.first_line, found.last_line) == ("program", 1, 7)
    assert found.nccl is not None
    assert found.nccl.transports == {"P2P/IPC": 2}
    assert [one.line for one in found.unread] == [2, 3]


def test_a_line_held_before_a_program_takes_over_is_not_lost() -> None:
    """A date between NCCL's lines, which leads to no tool, is listed."""

    class Dated(Program):
        leads: ClassVar[str | None] = "today"

    text = NCCL.format(0) + "[1,0]<stdout>:today\n[1,1]<stdout>:program:\n[1,1]<stdout>:end\n"
    (found,) = read_stream(io.BytesIO(text.encode()), "log", (Dated,))
    assert ([one.line for one in found.unread], found.first_line) == ([2], 1)


def test_each_program_has_what_nccl_said_in_it() -> None:
    """Each program has the messages of NCCL that were printed while it ran."""
    first, second = _programs(
        "program:\n" + NCCL.format(0) + NCCL.format(1) + "end\nprogram:\n" + NCCL.format(1) + "end\n" + NCCL.format(1)
    )
    assert first.nccl is not None
    assert second.nccl is not None
    assert (first.nccl.transports, second.nccl.transports) == ({"P2P/IPC": 2}, {"P2P/IPC": 1})
    assert (first.last_line, second.first_line, second.last_line) == (4, 5, 8)


def test_a_log_of_nccl_alone_is_complete_when_all_ranks_are_ready() -> None:
    """A log of NCCL alone is complete when all ranks are ready."""
    line = "h:1:2 [0] NCCL INFO comm 0x1 rank {} nranks 2 cudaDev 0 nvmlDev 0 - Init COMPLETE\n"
    (half,) = _programs("some line\n" + line.format(0))
    assert (half.tool, half.complete, half.incomplete) == ("nccl", False, "1 of 2 ranks print Init COMPLETE")
    (whole,) = _programs(line.format(0) + line.format(1))
    assert (whole.tool, whole.complete) == ("nccl", True)


def test_lines_of_the_simulator_are_not_the_tools() -> None:
    """Lines of the simulator are not listed as unread."""
    (found,) = _programs("simulated by hpc 0.6\nprogram:\nsimulated by hpc: 2 nodes\nend\n")
    assert (found.simulated, found.complete, found.unread_total) == (True, True, 0)


def test_a_line_that_is_too_long_is_of_no_tool() -> None:
    """A line that is too long belongs to no tool."""
    (found,) = _programs("program:\n#" + "1" * (LONGEST + 5) + "\n#2\nend\n")
    assert isinstance(found, Counted)
    assert found.numbers == (2,)
    assert [one.line for one in found.unread] == [2]
    assert found.unread[0].text.endswith("... (cut here)")


def test_many_lines_that_no_tool_reads_are_counted_and_few_stored() -> None:
    """Lines of unknown tools are counted, and few are stored."""
    (found,) = _programs("noise\n" * 1500)
    assert (len(found.unread), found.unread_total, found.last_line) == (1000, 1500, 1500)


@pytest.mark.parametrize("seed", range(30))
def test_numbers_of_lines_are_exact_whatever_the_blocks(seed: int) -> None:
    """Line numbers are exact, whatever the blocks."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    kinds = (NCCL.format(1), NCCL.format(2), CUT, "noise\n", "\n", "#1\n", "#1x\n", "h:1:2 [0] NCCL INFO Launch mode\n")
    lines = ["program:\n", *chance.choices(kinds, k=chance.randrange(1, 200))]
    unread = [number for number, line in enumerate(lines, 1) if line in {CUT, "noise\n", "#1x\n"}]
    for block in (1, 13, 200, 1 << 20):
        (found,) = _programs("".join(lines), block)
        assert isinstance(found, Counted)
        assert [one.line for one in found.unread] == unread
        assert len(found.numbers) == lines.count("#1\n")
        assert found.last_line == max(number for number, line in enumerate(lines, 1) if line.strip())


@pytest.mark.parametrize("seed", range(30))
def test_no_bytes_raise(seed: int) -> None:
    """No bytes raise, whatever they are."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    pieces = (
        *(bytes([one]) for one in b"\n\r\x1b\0\xff[]:0 "), NCCL.encode(), b"NCCL INFO", b" NCCL WARN ", b"Trees [0] ",
        b"comm 0x1 rank ", b"[1,0]<stdout>:", b"2026-11-21T20:01:02Z ", b"NET/IB : Using [0]", chance.randbytes(9),
    )  # fmt: skip
    (*found,) = read_stream(io.BytesIO(b"".join(chance.choices(pieces, k=800))), "log")
    assert found
