"""`mmremotecluster show`: the Spectrum Scale clusters whose file systems are mounted here."""

import re
from collections.abc import Mapping

from pydantic import Field

from core.model import Model
from toolkit.evidence.block_parser import Block, BlocksParser, compiled
from toolkit.evidence.criterion import Criterion
from toolkit.evidence.host_parser import HostReading, typed
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line


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
        "Contact nodes": r"[\w.-]+(?:, ?[\w.-]+)*",
        "SHA digest": r"(?P<digest>[0-9a-f]{40,128})",
        "File systems": r"(?:[\w.-]+ \([\w.-]+\)(?:,? +)?)+|\(none defined\)",
    }
)
_NAME = re.compile(r"Cluster name:\s*(\S+)")
_FILE_SYSTEM = re.compile(r"[\w.-]+ \([\w.-]+\)")


class MmRemoteClusterParser(BlocksParser):
    """Reads a block a cluster."""

    tool = "mmremotecluster"
    kind = MmRemoteCluster
    starts = rf"Cluster name:\s+[\w.-]+$|{_COMMAND}"
    command = re.compile(_COMMAND)
    forms = _FORMS
    row = RemoteCluster
    no_rows = "no cluster"

    def read_line(self, line: Line) -> Taken:
        """Read a line."""
        if line.text.startswith("Cluster name:"):
            name = _NAME.fullmatch(line.text)
            return self.open(name[1], line.number, name=name[1]) if name else Taken.DAMAGED
        return self.block.read_line(line.text) if self.block is not None else Taken.NO

    def fields_of(self, block: Block) -> Mapping[str, object]:
        """Return the fields of a cluster, of which two are lists."""
        nodes = re.split(r", ?", block.get("Contact nodes") or "")
        systems = _FILE_SYSTEM.findall(block.get("File systems") or "")
        return {**block.fields(), "contact_nodes": tuple(nodes), "file_systems": tuple(systems)}


CRITERIA: tuple[Criterion, ...] = ()
"""None yet."""
