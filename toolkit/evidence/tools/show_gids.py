"""show_gids: the addresses of RoCE ports, and by which index a job finds the routable one (NCCL_IB_GID_INDEX)."""

import re
from collections.abc import Iterable, Mapping

from pydantic import Field

from core.model import Model
from toolkit.evidence.criterion import Criterion, Outcome, passed, readings_of, row_proofs
from toolkit.evidence.host_parser import HostReading, RowsParser, typed
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import Job, Status
from toolkit.evidence.wording import listed


class Gid(Model):
    """An entry of the table of a port."""

    device: str = Field(description="e.g. mlx5_0")
    port: int
    index: int
    gid: str
    ipv4: str | None = Field(description="address of the interface that it is of; None: it has none")
    version: str = Field(description="of RoCE: v1 or v2")
    interface: str | None
    line: int


class ShowGids(HostReading):
    """The entries of all ports of a host."""

    rows: tuple[Gid, ...]

    def figures(self) -> str:
        """Return the few figures that a table has room for."""
        return f"{len({row.device for row in self.rows})} devices, {len(self.rows)} GIDs"


_COMMAND = typed(r"show_gids\b")
_ROW = re.compile(
    r"(?P<device>[A-Za-z]\w{0,30})\s+(?P<port>\d{1,3})\s+(?P<index>\d{1,3})\s+(?P<gid>[0-9a-f]{4}(?::[0-9a-f]{4}){7})"
    r"\s+(?:(?P<ipv4>\d{1,3}(?:\.\d{1,3}){3})\s+)?(?P<version>v[12])(?:\s+(?P<interface>[\w.@-]{1,32}))?$"
)
_KNOWN = re.compile(r"\w+\s+\d+\s+\d+\s+[0-9a-f]{4}:")
_HEADER = r"DEV\s+PORT\s+INDEX\s+GID\s+IPv4\s+VER\b"
_OTHER = re.compile(rf"{_HEADER}|-{{3,}}\s+-{{4,}}|n_gids_found=(\d{{1,6}})$")


class ShowGidsParser(RowsParser):
    """Reads the table."""

    tool = "show-gids"
    kind = ShowGids
    starts = rf"{_HEADER}|{_COMMAND}"
    command = re.compile(_COMMAND)
    no_rows = "no GID"

    def __init__(self) -> None:
        super().__init__()
        self._count: int | None = None

    def read_line(self, line: Line) -> Taken:
        """Read a line."""
        if (row := _ROW.match(line.text)) is not None:
            entry = Gid.model_validate({**row.groupdict(), "line": line.number})
            return self.add((entry.device, entry.port, entry.index), entry, Taken.DAMAGED)
        if (other := _OTHER.match(line.text)) is not None:
            if re.match(_HEADER, line.text) and self.rows:
                return Taken.AGAIN
            self._count = int(other[1]) if other[1] else self._count
            return Taken.YES
        return Taken.DAMAGED if _KNOWN.match(line.text) else Taken.NO

    def facts(self) -> Mapping[str, object]:
        """Return nothing beside the rows."""
        return {}

    def missing(self) -> Iterable[str | None]:
        """Return whether entries are missing."""
        if self._count is None:
            return ("no n_gids_found",)
        return (None if self._count == len(self.rows) else f"{len(self.rows)} of {self._count} GIDs",)


def _routable(job: Job) -> Outcome | None:
    """Return whether each port has an entry of RoCE v2 with an address of IPv4, all of them at one index of a host."""
    rows = [(table.file, row) for table in readings_of(job, ShowGids) for row in table.rows]
    if not rows:
        return Outcome(Status.MISSING, "no GID")
    ports = dict.fromkeys((file, row.device, row.port) for file, row in rows)
    routable = {(file, row.device, row.port): row for file, row in rows if row.version == "v2" and row.ipv4}
    without = [f"{device}/{port}" for file, device, port in ports if (file, device, port) not in routable]
    indices = sorted({row.index for row in routable.values()})
    measured = f"none: {listed(without, 4)}" if without else f"index {listed(map(str, indices))}"
    unroutable = [(file, row) for file, row in rows if (file, row.device, row.port) not in routable]
    proofs = row_proofs(unroutable or ((file, row) for (file, *_), row in routable.items()))
    return Outcome(passed(not without), measured, proofs=proofs)


CRITERIA = (
    Criterion(
        name="roce-address",
        title="Every RoCE port has a routable address",
        limit="a GID of RoCE v2 with an IPv4 address",
        applies="hosts with show_gids output",
        source="N-1.1, github.com/Mellanox/mlnx-tools",
        judge=_routable,
    ),
)
