"""What a parser of one tool's output is."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import Enum, auto
from typing import ClassVar, TypedDict

from toolkit.evidence.model import NcclLog, Reading, Unread
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import Request


class Taken(Enum):
    """What a parser did with a line."""

    YES = auto()
    """Read, or known to be without figures."""
    DAMAGED = auto()
    """The tool's, without doubt, and not readable: cut, or mixed with another line."""
    NO = auto()
    """Not this tool's."""
    AGAIN = auto()
    """The first line of another run of the same tool: this run has ended."""


class Common(TypedDict):
    """The fields that the reader gives to every reading, so that no parser has to."""

    tool: str
    file: str
    simulated: bool
    first_line: int
    last_line: int
    nccl: NcclLog | None
    unread: tuple[Unread, ...]
    unread_total: int


class Ending(TypedDict):
    """Whether an output is complete."""

    complete: bool
    incomplete: str | None


def ending(*reasons: str | None) -> Ending:
    """Return that an output is complete, or why not: the reasons that are not None."""
    faults = [reason for reason in reasons if reason]
    return {"complete": not faults, "incomplete": "; ".join(faults) or None}


class Parser(ABC):
    """Reads the output of one run of one tool, a line at a time; stores figures and never lines.

    A parser is made when a line matches `starts`, and is given that line first. It gets only what no parser that began
    later took.
    """

    tool: ClassVar[str]
    """Name of the tool; one parser may read several (all primitives of nccl-tests are one)."""
    kind: ClassVar[type[Reading]]
    """What `reading` returns, as which a stored reading is read again."""
    rdma_test: ClassVar[frozenset[str]] = frozenset()
    """Sides of the RDMA test (RDMA_TEST, RDMA_LISTENER) that print it; what a program prints is in its file."""
    excuse: ClassVar[str | None] = None
    """Message by which a job reports that the output is not available."""
    starts: ClassVar[str]
    """Regular expression of a line that begins the tool's output; it is matched at the start of the text."""
    leads: ClassVar[str | None] = None
    """Regular expression of whole lines that may precede the first one that identifies the tool, e.g. a date."""
    by_source: ClassVar[bool] = False
    """Whether each rank or pod has a run of its own: then a parser gets the lines of one source only."""
    hosts_nccl: ClassVar[bool] = False
    """Whether it is a program that uses NCCL, whose messages then belong to its reading."""

    @classmethod
    def is_expected(cls, request: Request) -> bool:
        """Return whether a job was to print it."""
        return request.side in cls.rdma_test if request.is_rdma_test else cls.tool in request.prints

    @abstractmethod
    def feed(self, line: Line) -> Taken:
        """Read a line, and return what it was."""

    def ignores(self, _text: str) -> bool:
        """Return whether it will never take a line, nor call it damaged, that differs from a text in digits alone.

        True must stay true, and `feed` must change nothing for such lines; then they are no longer fed. The text has 0
        in place of each digit: patterns with 0 in each class that has a digit are enough. False: it is not known.
        """
        return False

    def counts(self, _text: str) -> bool:
        """Return whether it takes all lines that differ from a text in digits alone, and only counts them.

        True must stay true, and lines are then given to `pass_over`. The text is as for `ignores`.
        """
        return False

    def pass_over(self, lines: Sequence[bytes]) -> Sequence[int]:
        """Count lines for which `counts` is true, given with their prefixes; return the indices of those to be fed."""
        return range(len(lines))

    @abstractmethod
    def reading(self, common: Common) -> Reading:
        """Return what was read; called once, after the last line."""


def number(text: str) -> float:
    """Return a figure of a tool's output, which another language's settings may have written with a comma.

    Raises ValueError for what is none. A comma is a decimal one: no tool here groups digits.
    """
    return float(text.replace(",", ".", 1))
