"""What the parsers of hosts and fabric share: typed commands, rows, and what is missing in the end."""

import re
from abc import abstractmethod
from collections.abc import Hashable, Iterable, Mapping
from typing import ClassVar, TypeVar

from pydantic import Field

from core.wording import plural
from toolkit.evidence.model import Reading, Record
from toolkit.evidence.parser import Common, Parser, Taken, ending
from toolkit.evidence.text import Line

Kind = TypeVar("Kind", bound=Record)

_PROMPT = r"(?:(?:(?:\[[^\]]*\]|[\w.-]+@[\w.:~/-]+)\s?)?(?:\+{1,9}|[#$])\s*(?:sudo\s+)?|sudo\s+)"
BLANKS = 2
"""Empty lines that may be within a list."""

LONGEST = 4096
"""Characters of a line of these tools; lscpu's flags are the longest. What is longer is none, and takes no time."""

_SHELL = re.compile(r"\+{1,9} (?:for|while|if|echo|sleep|set|\[)(?: |$)")


def typed(command: str) -> str:
    """Return the expression of a command as a terminal or `set -x` shows it; `command` is an expression, too."""
    return rf"{_PROMPT}(?:/\S*/)?(?:{command})"


class HostReading(Reading):
    """What a tool printed on one host, or in one pod."""

    source: str = Field(default="", description="pod or rank that printed it; empty: no prefix of the lines names it")


class HostParser(Parser):
    """A parser of a tool that runs once on each host, and whose command may precede its output."""

    by_source: ClassVar[bool] = True
    command: ClassVar[re.Pattern[str] | None] = None
    """How the command is shown that was typed; it begins another run."""
    argument: ClassVar[re.Pattern[str] | None] = None
    """What in it is of interest: the named groups are fields of the reading, None where they are not there."""
    traced: ClassVar[bool] = False
    """Whether it is often in a loop of a shell that traces: then the lines of the loop are its own."""

    contiguous: ClassVar[bool] = False
    """Whether its lines look like any other's: then the first that is not its own ends it, and so does a gap."""

    def __init__(self) -> None:
        self.source = ""
        self.line = 1
        """The first, unless a parser sets that of its figure."""
        self.damaged = 0
        self.arguments: dict[str, str | None] = dict.fromkeys(self.argument.groupindex if self.argument else ())
        self._begun = self._over = False
        self._at_line = 0

    def feed(self, line: Line) -> Taken:
        """Read a line."""
        if not self._begun:
            self.source, self.line = line.source, line.number
        if len(line.text) > LONGEST or self._over or self._apart(line):
            return Taken.NO
        command = self.command.match(line.text) if self.command else None
        if command is not None:
            taken = Taken.AGAIN if self._begun else Taken.YES
            if taken is Taken.YES:
                self._read_command(line.text)
        else:
            taken = self._read_line(line)
            if taken is Taken.NO and _SHELL.match(line.text):
                taken = Taken.YES if self.traced else Taken.NO
        self._begun = True
        self.damaged += taken is Taken.DAMAGED
        self._over = self.contiguous and taken is Taken.NO
        self._at_line = line.number
        return taken

    def _apart(self, line: Line) -> bool:
        """Return whether lines of other tools lie between; where lines have sources, they may."""
        if self.contiguous and self._begun and not line.source and line.number > self._at_line + BLANKS + 1:
            self._over = True
        return self._over

    def ignores(self, _text: str) -> bool:
        """Return whether its output has ended."""
        return self._over

    def _read_command(self, text: str) -> None:
        if self.argument is not None and (match := self.argument.search(text)) is not None:
            self.arguments |= match.groupdict()

    @abstractmethod
    def _read_line(self, line: Line) -> Taken:
        """Read a line of output."""

    def _facts(self) -> Mapping[str, object]:
        """Return the tool's own fields of the reading."""
        return {}

    def _missing(self) -> Iterable[str | None]:
        """Return the reasons why the output is incomplete, but for damaged lines; None is not a reason."""
        return ()

    def reading(self, common: Common) -> Reading:
        """Return what was read, and what is missing."""
        damage = plural(self.damaged, "damaged line") if self.damaged else None
        whole = ending(*self._reasons(), damage)
        return self.kind.model_validate({**common, "source": self.source, **self.arguments, **self._fields(), **whole})

    def _fields(self) -> Mapping[str, object]:
        return self._facts()

    def _reasons(self) -> Iterable[str | None]:
        return self._missing()


class RowsParser(HostParser):
    """A parser of a tool that prints rows, each under a key of its own."""

    no_rows: ClassVar[str | None] = None
    """What is missing where no row was read, e.g. `no device`; None: nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[Hashable, Record] = {}

    def add(self, key: Hashable, row: Record, again: Taken = Taken.AGAIN) -> Taken:
        """Store a row; `again` is what a second one under its key means: another run, or damage."""
        if key in self.rows:
            return again
        self.rows[key] = row
        return Taken.YES

    def _fields(self) -> Mapping[str, object]:
        return {"rows": tuple(self.rows.values()), **self._facts()}

    def _reasons(self) -> Iterable[str | None]:
        return (None if self.rows else self.no_rows, *self._missing())


def record(kind: type[Kind], match: re.Match[str], line: Line, **fields: object) -> Kind:
    """Return a record of a line, whose named groups are its fields, with others beside them."""
    return kind.model_validate({**match.groupdict(), "line": line.number, **fields})
