"""`semodule -l`: modules of the SELinux policy."""

import re

from pydantic import Field

from core.model import Model
from toolkit.evidence.criterion import Criterion, Outcome, opening_proofs, passed, readings_of, row_proofs
from toolkit.evidence.host_parser import HostReading, RowsParser, typed
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import Job


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


class SeModuleParser(RowsParser):
    """Reads the list; a name alone on a line is a module only after the command."""

    tool = "semodule"
    kind = SeModule
    starts = (
        rf"{_KNOWN}(?:\s+\d+(?:\.\d+)*)?$|[a-zA-Z][\w.-]*\t\d+\.\d+(?:\.\d+)*$|\d{{3}} [\w.-]+\s+(?:pp|cil)$|{_COMMAND}"
    )
    command = re.compile(_COMMAND)
    contiguous = True
    no_rows = "no module"

    def __init__(self) -> None:
        super().__init__()
        self._bare = False

    def feed(self, line: Line) -> Taken:
        """Read a line; the command that installs a module precedes the one that lists them."""
        if not self.rows and self._begun and self.command and self.command.match(line.text):
            self.read_command(line.text)
            return Taken.YES
        return super().feed(line)

    def read_command(self, text: str) -> None:
        """Read whether the modules are listed."""
        self._bare = _LIST.search(text) is not None

    def read_line(self, line: Line) -> Taken:
        """Read a line."""
        row = _FULL.match(line.text) or _ROW.match(line.text)
        if row is None:
            return Taken.DAMAGED if re.match(rf"{_KNOWN}\s", line.text) else Taken.NO
        version = row[2] if row.re is _ROW else None
        if version is None and row.re is _ROW and not self._bare and not re.match(rf"{_KNOWN}$", line.text):
            return Taken.NO
        return self.add(row[1], PolicyModule(name=row[1], version=version, line=line.number))


def _selinux(job: Job) -> Outcome | None:
    listings = readings_of(job, SeModule)
    rows = [(listing.file, row) for listing in listings for row in listing.rows if row.name == "infiniband"]
    proofs = row_proofs(rows)
    return Outcome(
        passed(len(rows) >= len(listings)),
        "installed" if rows else "not installed",
        proofs=proofs or opening_proofs(listings),
    )


CRITERIA = (
    Criterion(
        name="selinux-infiniband",
        title="SELinux lets containers use InfiniBand",
        limit="module infiniband",
        applies="nodes on InfiniBand with semodule output",
        source="R-3.2.4-1",
        judge=_selinux,
        when=lambda request: request.is_infiniband,
    ),
)
