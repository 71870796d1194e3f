"""`semodule -l`: modules of the SELinux policy (R-3.2.4-1)."""

import re
from typing import ClassVar

from pydantic import Field

from evidence.blocks import HostParser, HostReading, typed
from evidence.parser import Common, Taken
from evidence.text import Line
from hardware.model import Model


class PolicyModule(Model):
    """A module of the policy."""

    name: str = Field(description="e.g. infiniband")
    version: str | None = Field(description="e.g. 1.0; None: tools since RHEL 8 print none")
    line: int


class SeModule(HostReading):
    """Modules that are installed."""

    rows: tuple[PolicyModule, ...]


_COMMAND = typed(r"semodule\b")
_KNOWN = r"(?:infiniband|nvidia[_-]container)"
_FULL = re.compile(r"\d{3} ([\w.-]+)\s+(?:pp|cil)(?:\s+disabled)?$")
_ROW = re.compile(r"([a-zA-Z][\w.-]*)(?:\s+(\d+(?:\.\d+)*))?$")
_LIST = re.compile(r"-l\b|--list")


class SeModuleParser(HostParser):
    """Reads the list; a name alone on a line is a module only after the command."""

    tool: ClassVar[str] = "semodule"
    starts: ClassVar[str] = (
        rf"{_KNOWN}(?:\s+\d+(?:\.\d+)*)?$|[a-zA-Z][\w.-]*\t\d+\.\d+(?:\.\d+)*$|\d{{3}} [\w.-]+\s+(?:pp|cil)$|{_COMMAND}"
    )
    command: ClassVar[re.Pattern[str] | None] = re.compile(_COMMAND)
    contiguous: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self._rows: dict[str, PolicyModule] = {}
        self._bare = False

    def feed(self, line: Line) -> Taken:
        """Read a line; the command that installs a module stands before the one that lists them."""
        if not self._rows and self._begun and self.command and self.command.match(line.text):
            self.asked(line.text)
            return Taken.YES
        return super().feed(line)

    def asked(self, text: str) -> None:
        """Read whether the modules are listed."""
        self._bare = _LIST.search(text) is not None

    def take(self, line: Line) -> Taken:
        """Read a line."""
        row = _FULL.match(line.text) or _ROW.match(line.text)
        if row is None:
            return Taken.DAMAGED if re.match(rf"{_KNOWN}\s", line.text) else Taken.NO
        version = row[2] if row.re is _ROW else None
        if version is None and row.re is _ROW and not self._bare and not re.match(rf"{_KNOWN}$", line.text):
            return Taken.NO
        if row[1] in self._rows:
            return Taken.AGAIN
        self._rows[row[1]] = PolicyModule(name=row[1], version=version, line=line.number)
        return Taken.YES

    def reading(self, common: Common) -> SeModule:
        """Return the modules."""
        ending = self.ending(None if self._rows else "no module")
        return SeModule(tool=self.tool, source=self.source, rows=tuple(self._rows.values()), **ending, **common)
