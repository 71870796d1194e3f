"""mmlscluster: nodes of a Spectrum Scale cluster (R-3.3-2)."""

import re
from typing import ClassVar

from pydantic import Field

from evidence.blocks import Block, HostParser, HostReading, compiled, typed
from evidence.parser import Common, Taken
from evidence.text import Line
from hardware.model import Model


class ScaleNode(Model):
    """A node."""

    number: int
    daemon_name: str
    address: str = Field(description="IP address")
    admin_name: str
    designation: tuple[str, ...] = Field(description="e.g. quorum, manager, perfmon; empty: a client")
    line: int


class MmLsCluster(HostReading):
    """The cluster."""

    name: str | None
    cluster_id: str | None = Field(description="e.g. 16217308676014575381, as storage classes and volumes name it")
    repository: str | None = Field(description="e.g. CCR")
    shortened: bool = Field(description="whether nodes were left out by hand, as `[ ... ]`")
    rows: tuple[ScaleNode, ...]


_COMMAND = typed(r"mmlscluster\b")
_FORMS = compiled(
    {
        "GPFS cluster name": r"\S+",
        "GPFS cluster id": r"\d+",
        "GPFS UID domain": r"\S+",
        "Remote shell command": r"\S.*",
        "Remote file copy command": r"\S.*",
        "Repository type": r"\S.*",
    }
)
_HEADER = re.compile(r"\s*Node\s+Daemon node name\s+IP address\s+Admin node name\s+Designation$")
_ROW = re.compile(
    r"\s*(\d+)\s+([A-Za-z0-9][\w.-]*)\s+(\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f:]*:[0-9a-f:]+)\s+([A-Za-z0-9][\w.-]*)"
    r"(?:\s+([a-z]+(?:-[a-z]+)*))?$"
)
_RULE = re.compile(r"\s*[-=]{5,}$")


class MmLsClusterParser(HostParser):
    """Reads the block and the table under it."""

    tool: ClassVar[str] = "mmlscluster"
    starts: ClassVar[str] = rf"GPFS cluster information$|{_COMMAND}"
    command: ClassVar[re.Pattern[str] | None] = re.compile(_COMMAND)
    contiguous: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self._block = Block(_FORMS, 1)
        self._begins = self._headed = self._short = False
        self._rows: dict[int, ScaleNode] = {}

    def take(self, line: Line) -> Taken:
        """Read a line."""
        text = line.text
        if text == "GPFS cluster information":
            again, self._begins = self._begins, True
            return Taken.AGAIN if again else Taken.YES
        if _HEADER.match(text):
            self._headed = True
        elif self._headed and re.match(r"\[\s*\.\.\.", text):
            self._short = True
        elif not (self._begins and _RULE.match(text)):
            return self._row(text, line.number) if self._headed else self._block.take(text)
        return Taken.YES

    def _row(self, text: str, line: int) -> Taken:
        row = _ROW.match(text)
        if row is None:
            return Taken.DAMAGED if re.match(r"\s*\d+\s+\S", text) else Taken.NO
        number = int(row[1])
        if number in self._rows:
            return Taken.DAMAGED
        designation = tuple(row[5].split("-")) if row[5] else ()
        self._rows[number] = ScaleNode(
            number=number,
            daemon_name=row[2],
            address=row[3],
            admin_name=row[4],
            designation=designation,
            line=line,
        )
        return Taken.YES

    def reading(self, common: Common) -> MmLsCluster:
        """Return the cluster."""
        missing = (
            *(f"no {key}" for key in self._block.lacks("GPFS cluster name", "GPFS cluster id")),
            None if self._rows else "no node",
            "nodes left out" if self._short else None,
        )
        return MmLsCluster(
            tool=self.tool,
            source=self.source,
            name=self._block.get("GPFS cluster name"),
            cluster_id=self._block.get("GPFS cluster id"),
            repository=self._block.get("Repository type"),
            shortened=self._short,
            rows=tuple(self._rows.values()),
            **self.ending(*missing),
            **common,
        )
