"""`mmremotecluster show`: the Spectrum Scale clusters whose file systems are mounted here (R-3.3-4)."""

import re
from typing import ClassVar

from pydantic import Field

from evidence.blocks import Block, HostParser, HostReading, compiled, typed
from evidence.parser import Common, Taken
from evidence.text import Line
from hardware.model import Model


class RemoteCluster(Model):
    """A cluster that owns file systems."""

    name: str
    contact_nodes: tuple[str, ...]
    digest: str = Field(description="SHA digest of its public key")
    file_systems: tuple[str, ...] = Field(description="as printed: remote name, local name in brackets")
    line: int


class MmRemoteCluster(HostReading):
    """Clusters that are known."""

    rows: tuple[RemoteCluster, ...]


_COMMAND = typed(r"mmremotecluster\s+show\b")
_FORMS = compiled(
    {
        "Cluster name": r"\S+",
        "Contact nodes": r"[\w.-]+(?:, ?[\w.-]+)*",
        "SHA digest": r"[0-9a-f]{40,128}",
        "File systems": r"(?:[\w.-]+ \([\w.-]+\)(?:,? +)?)+|\(none defined\)",
    }
)
_FILE_SYSTEM = re.compile(r"[\w.-]+ \([\w.-]+\)")


class MmRemoteClusterParser(HostParser):
    """Reads a block a cluster."""

    tool: ClassVar[str] = "mmremotecluster"
    starts: ClassVar[str] = rf"Cluster name:\s+[\w.-]+$|{_COMMAND}"
    command: ClassVar[re.Pattern[str] | None] = re.compile(_COMMAND)

    def __init__(self) -> None:
        super().__init__()
        self._blocks: dict[str, Block] = {}
        self._block: Block | None = None

    def take(self, line: Line) -> Taken:
        """Read a line."""
        if line.text.startswith("Cluster name:"):
            block = Block(_FORMS, line.number)
            taken = block.take(line.text)
            name = block.get("Cluster name")
            if name is None or name in self._blocks:
                return Taken.DAMAGED if name is None else Taken.AGAIN
            self._block = self._blocks[name] = block
            return taken
        return self._block.take(line.text) if self._block is not None else Taken.NO

    def reading(self, common: Common) -> MmRemoteCluster:
        """Return the clusters."""
        cut = [f"{name}: no {', '.join(block.lacks())}" for name, block in self._blocks.items() if block.lacks()]
        whole = [block for block in self._blocks.values() if not block.lacks() and not block.damaged]
        ending = self.ending(*cut, None if self._blocks else "no cluster")
        return MmRemoteCluster(tool=self.tool, source=self.source, rows=tuple(map(_row, whole)), **ending, **common)


def _row(block: Block) -> RemoteCluster:
    return RemoteCluster(
        name=block.value("Cluster name"),
        contact_nodes=tuple(re.split(r", ?", block.value("Contact nodes"))),
        digest=block.value("SHA digest"),
        file_systems=tuple(_FILE_SYSTEM.findall(block.value("File systems"))),
        line=block.line,
    )
