"""Spectrum Scale: mmlscluster, the nodes of a cluster; `mmremotecluster show`, those whose file systems are mounted."""

import re
from collections.abc import Iterable, Mapping

from pydantic import Field

from core.wording import plural
from toolkit.evidence.block_parser import Block, BlocksParser, compiled
from toolkit.evidence.criterion import Criterion, Outcome, opening_proofs, passed, readings_of, row_proofs
from toolkit.evidence.host_parser import HostReading, RowsParser, record, typed
from toolkit.evidence.model import Record
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import Job
from toolkit.evidence.wording import listed


class ScaleNode(Record):
    """A node."""

    number: int
    daemon_name: str
    address: str = Field(description="IP address")
    admin_name: str
    designation: tuple[str, ...] = Field(description="e.g. quorum, manager, perfmon; empty: a client")


class MmLsCluster(HostReading):
    """The cluster."""

    name: str | None
    cluster_id: str | None = Field(description="e.g. 16217308676014575381, as storage classes and volumes name it")
    repository: str | None = Field(description="e.g. CCR")
    shortened: bool = Field(description="whether nodes were left out manually, as `[ ... ]`")
    rows: tuple[ScaleNode, ...]


_LIST_COMMAND = typed(r"mmlscluster\b")
_FORMS = compiled(
    {
        "GPFS cluster name": r"(?P<name>\S+)",
        "GPFS cluster id": r"(?P<cluster_id>\d+)",
        "GPFS UID domain": r"\S+",
        "Remote shell command": r"\S.*",
        "Remote file copy command": r"\S.*",
        "Repository type": r"(?P<repository>\S.*)",
    }
)
_HEADER = re.compile(r"\s*Node\s+Daemon node name\s+IP address\s+Admin node name\s+Designation$")
_ROW = re.compile(
    r"\s*(?P<number>\d+)\s+(?P<daemon_name>[A-Za-z0-9][\w.-]*)"
    r"\s+(?P<address>\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f:]*:[0-9a-f:]+)\s+(?P<admin_name>[A-Za-z0-9][\w.-]*)"
    r"(?:\s+(?P<designation>[a-z]+(?:-[a-z]+)*))?$"
)
_RULE = re.compile(r"\s*[-=]{5,}$")


class MmLsClusterParser(RowsParser):
    """Reads the block and the table under it."""

    tool = "mmlscluster"
    kind = MmLsCluster
    starts = rf"GPFS cluster information$|{_LIST_COMMAND}"
    command = re.compile(_LIST_COMMAND)
    contiguous = True
    no_rows = "no node"

    def __init__(self) -> None:
        super().__init__()
        self._block = Block(_FORMS, 1)
        self._begins = self._headed = self._short = False

    def _read_line(self, line: Line) -> Taken:
        text = line.text
        if text == "GPFS cluster information":
            again, self._begins = self._begins, True
            return Taken.AGAIN if again else Taken.YES
        if _HEADER.match(text):
            self._headed = True
        elif self._headed and re.match(r"\[\s*\.\.\.", text):
            self._short = True
        elif not (self._begins and _RULE.match(text)):
            return self._row(line) if self._headed else self._block.read_line(text)
        return Taken.YES

    def _row(self, line: Line) -> Taken:
        row = _ROW.match(line.text)
        if row is None:
            return Taken.DAMAGED if re.match(r"\s*\d+\s+\S", line.text) else Taken.NO
        designation = tuple(row["designation"].split("-")) if row["designation"] else ()
        return self.add(int(row["number"]), record(ScaleNode, row, line, designation=designation), Taken.DAMAGED)

    def _facts(self) -> Mapping[str, object]:
        return {**self._block.groups(), "shortened": self._short}

    def _missing(self) -> Iterable[str]:
        """Yield what the cluster lacks, and that nodes were left out."""
        yield from (f"no {key}" for key in self._block.lacks("GPFS cluster name", "GPFS cluster id"))
        if self._short:
            yield "nodes left out"


def _members(job: Job) -> Outcome | None:
    listings, nodes = readings_of(job, MmLsCluster), job.request.nodes
    rows = [(listing.file, row) for listing in listings for row in listing.rows]
    named = [(file, row, (row.admin_name, row.daemon_name)) for file, row in rows]
    absent = [name for name in nodes if not any(_same(name, other) for *_, names in named for other in names)]
    ours = (
        (file, row)
        for file, row, names in named
        if any(_same(name, node_name) for name in nodes for node_name in names)
    )
    measured = f"{listed(absent)} absent" if absent else f"{len(nodes)} of {plural(len(rows), 'node')}"
    proofs = opening_proofs(listings) if absent else row_proofs(ours)
    return Outcome(passed(not absent), measured, listed(nodes), proofs, short=True)


def _same(name: str, other: str) -> bool:
    """Return whether two names are one machine's: Scale has a network, and so a domain, of its own."""
    return name == other or name.partition(".")[0] == other.partition(".")[0]


class RemoteCluster(Record):
    """A cluster that owns file systems."""

    name: str
    contact_nodes: tuple[str, ...]
    digest: str = Field(description="SHA digest of its public key")
    file_systems: tuple[str, ...] = Field(description="as printed: remote name, local name in brackets")


class MmRemoteCluster(HostReading):
    """Clusters that are known."""

    rows: tuple[RemoteCluster, ...]


_REMOTE_COMMAND = typed(r"mmremotecluster\s+show\b")
_REMOTE_FORMS = compiled(
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
    starts = rf"Cluster name:\s+[\w.-]+$|{_REMOTE_COMMAND}"
    command = re.compile(_REMOTE_COMMAND)
    forms = _REMOTE_FORMS
    row = RemoteCluster
    no_rows = "no cluster"

    def _read_line(self, line: Line) -> Taken:
        if line.text.startswith("Cluster name:"):
            name = _NAME.fullmatch(line.text)
            return self.open(name[1], line.number, name=name[1]) if name else Taken.DAMAGED
        return self.block.read_line(line.text) if self.block is not None else Taken.NO

    def _fields_of(self, block: Block) -> Mapping[str, object]:
        nodes = re.split(r", ?", block.get("Contact nodes") or "")
        systems = _FILE_SYSTEM.findall(block.get("File systems") or "")
        return {**block.fields(), "contact_nodes": tuple(nodes), "file_systems": tuple(systems)}


CRITERIA = (
    Criterion(
        name="scale-members",
        title="The nodes are in the Spectrum Scale cluster",
        limit="every node of the job",
        unit="nodes",
        tolerance="names are compared without their domain: Spectrum Scale has a separate network",
        applies="machines with mmlscluster output, where the nodes are known",
        source="R-3.3-2",
        needs=("mmlscluster",),
        judge=_members,
        when=lambda request: bool(request.nodes),
    ),
)
