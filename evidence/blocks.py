"""What the parsers of hosts and fabric share: typed commands, `key: value` blocks, and what is missing in the end."""

import re
from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar, TypedDict

from pydantic import Field

from evidence.model import Reading
from evidence.parser import Parser, Taken
from evidence.text import Line

_PROMPT = r"(?:(?:(?:\[[^\]]*\]|[\w.-]+@[\w.:~/-]+)\s?)?(?:\+{1,9}|[#$])\s*(?:sudo\s+)?|sudo\s+)"
BLANKS = 2
"""Empty lines that may stand within a list."""

LONGEST = 4096
"""Characters of a line of these tools; lscpu's flags are the longest. What is longer is none, and takes no time."""

_SHELL = re.compile(r"\+{1,9} (?:for|while|if|echo|sleep|set|\[)(?: |$)")


def typed(command: str) -> str:
    """Return the expression of a command as a terminal or `set -x` shows it; `command` is an expression, too."""
    return rf"{_PROMPT}(?:/\S*/)?(?:{command})"


class HostReading(Reading):
    """What a tool printed on one host, or in one pod."""

    source: str = Field(default="", description="pod or rank that printed it; empty when no prefix of the lines tells")


class Ending(TypedDict):
    """Whether all is there."""

    complete: bool
    incomplete: str | None


class HostParser(Parser):
    """A parser of a tool that runs once on each host, and whose command may stand before its output."""

    by_source: ClassVar[bool] = True
    command: ClassVar[re.Pattern[str] | None] = None
    """How the command is shown that was typed; it begins another run."""
    traced: ClassVar[bool] = False
    """Whether it often stands in a loop of a shell that traces: then the lines of the loop are its own."""

    contiguous: ClassVar[bool] = False
    """Whether its lines look like any other's: then the first that is not its own ends it, and so does a gap."""

    def __init__(self) -> None:
        self.source = ""
        self.damaged = 0
        self._begun = self._over = False
        self._at_line = 0

    def feed(self, line: Line) -> Taken:
        """Read a line."""
        if not self._begun:
            self.source = line.source
        if len(line.text) > LONGEST or self._over or self._apart(line):
            return Taken.NO
        command = self.command.match(line.text) if self.command else None
        if command is not None:
            taken = Taken.AGAIN if self._begun else Taken.YES
            if taken is Taken.YES:
                self.asked(line.text)
        else:
            taken = self.take(line)
            if taken is Taken.NO and _SHELL.match(line.text):
                taken = Taken.YES if self.traced else Taken.NO
        self._begun = True
        self.damaged += taken is Taken.DAMAGED
        self._over = self.contiguous and taken is Taken.NO
        self._at_line = line.number
        return taken

    def _apart(self, line: Line) -> bool:
        """Return whether lines of others lie between; where sources are told, they may, and the source binds."""
        if self.contiguous and self._begun and not line.source and line.number > self._at_line + BLANKS + 1:
            self._over = True
        return self._over

    def asked(self, text: str) -> None:
        """Read the command itself."""

    @abstractmethod
    def take(self, line: Line) -> Taken:
        """Read a line of output."""

    def ending(self, *missing: str | None) -> Ending:
        """Return what is missing: the reasons given, and damaged lines."""
        damage = f"{self.damaged} damaged line{'s' * (self.damaged > 1)}" if self.damaged else None
        reasons = [one for one in (*missing, damage) if one]
        return {"complete": not reasons, "incomplete": "; ".join(reasons) or None}


class Block:
    """The values of a block of `key: value` lines, each of a known form."""

    def __init__(self, known: Mapping[str, re.Pattern[str]], line: int) -> None:
        self.line = line
        self.damaged = False
        self._known = known
        self._found: dict[str, re.Match[str]] = {}

    def take(self, text: str, separator: str = ":") -> Taken:
        """Read a line; NO for a key that is not known, DAMAGED for a value that is not of its form, or told twice."""
        key, colon, value = text.partition(separator)
        form = self._known.get(key.strip())
        if form is None or not colon:
            return Taken.NO
        found = form.fullmatch(value.strip())
        if found is None or key.strip() in self._found:
            self.damaged = True
            return Taken.DAMAGED
        self._found[key.strip()] = found
        return Taken.YES

    def get(self, key: str, group: int = 0) -> str | None:
        """Return a value, or a group of its form; None when it was not told."""
        found = self._found.get(key)
        return found[group] if found is not None else None

    def value(self, key: str, group: int = 0) -> str:
        """Return a value that `lacks` did not name.

        Raises KeyError for one that was not told.
        """
        return self._found[key][group] or ""

    def lacks(self, *keys: str) -> list[str]:
        """Return which of these keys (all known ones when none is given) were not told."""
        return [key for key in keys or self._known if key not in self._found]


def compiled(known: Mapping[str, str]) -> Mapping[str, re.Pattern[str]]:
    """Return compiled forms of values."""
    return {key: re.compile(form) for key, form in known.items()}
