"""RDMA devices: the files that a pod was given (`ls -l /dev/infiniband`), and addresses of RoCE ports (show_gids)."""

import re
from collections.abc import Iterable, Mapping

from pydantic import Field

from toolkit.evidence.criterion import Criterion, Outcome, passed, proofs_at, readings_of, row_proofs
from toolkit.evidence.host_parser import HostReading, RowsParser, record, typed
from toolkit.evidence.model import Record
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import RDMA_TEST, Job, Proof, Status
from toolkit.evidence.wording import listed


class DeviceNode(Record):
    """A device file."""

    name: str = Field(description="e.g. uverbs0, rdma_cm")
    mode: str = Field(description="as printed, e.g. crw-rw-rw-.")
    owner: str
    group: str
    major: int
    minor: int


class RdmaDevices(HostReading):
    """Device files of /dev/infiniband."""

    rows: tuple[DeviceNode, ...]
    failed: str | None = Field(description="error of ls when the folder does not exist")

    @property
    def counts(self) -> Mapping[str, int]:
        """Files of each kind, e.g. uverbs -> 4: one an HCA."""
        kinds = [re.sub(r"\d+$", "", row.name) for row in self.rows]
        return {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}

    def _figures(self) -> str:
        return listed(f"{count} {kind}" for kind, count in self.counts.items())


_NAME = r"(?:issm|ucm|umad|uverbs)\d+|rdma_cm"
_DATE = r"\S+\s+\S+\s+\S+"
_FILE = re.compile(
    rf"(?P<mode>c[rwxsStT-]{{9}}[.+]?)\s+\d+\s+(?P<owner>\S+)\s+(?P<group>\S+)\s+(?P<major>\d+),\s*(?P<minor>\d+)"
    rf"\s+{_DATE}\s+(?P<name>{_NAME})$"
)
_LIKE = re.compile(rf"c[rwxsStT-]{{9}}.*\s(?:{_NAME})")
_OTHER_FILES = re.compile(r"total \d+$|d[rwxsStT-]{9}.*\s(?:by-ibdev|by-path|\.\.?)$")
_FAILED = re.compile(r"ls: cannot access '?/dev/infiniband.*")


class RdmaDevicesParser(RowsParser):
    """Reads the listing."""

    tool = "rdma-devices"
    kind = RdmaDevices
    rdma_test = frozenset({RDMA_TEST})
    starts = rf"/dev/infiniband:$|ls: cannot access '?/dev/infiniband|c[rwx-]{{9}}.*\s(?:{_NAME})$"
    leads = r"total \d+"
    command = re.compile(typed(r"ls\b.*/dev/infiniband"))

    def __init__(self) -> None:
        super().__init__()
        self._failed: str | None = None
        self._here = False

    def _read_line(self, line: Line) -> Taken:
        if line.text.startswith("/"):
            again = bool(self.rows) and line.text == "/dev/infiniband:"
            self._here = line.text == "/dev/infiniband:"
            return Taken.AGAIN if again else Taken.YES if self._here else Taken.NO
        if (row := _FILE.match(line.text)) is not None:
            return self.add(row["name"], record(DeviceNode, row, line))
        if (failed := _FAILED.match(line.text)) is not None:
            self._failed = failed[0]
            return Taken.YES
        if self._here and _OTHER_FILES.match(line.text):
            return Taken.YES
        return Taken.DAMAGED if _LIKE.match(line.text) else Taken.NO

    def _facts(self) -> Mapping[str, object]:
        return {"failed": self._failed}

    def _missing(self) -> Iterable[str | None]:
        return (self._failed or (None if self.rows else "no device"),)


_OF_EACH_HCA = ("issm", "umad", "uverbs")


def _device_files(job: Job) -> Outcome | None:
    count = len(job.request.hcas)
    limit = f"{count} each of {listed(_OF_EACH_HCA)}, and rdma_cm"
    faults: list[str] = []
    proofs: list[Proof] = []
    for files in readings_of(job, RdmaDevices):
        counts = files.counts
        absent = [kind for kind in _OF_EACH_HCA if counts.get(kind, 0) < count]
        absent += [] if "rdma_cm" in counts else ["rdma_cm"]
        if absent:
            faults.append(files.failed or ", ".join(f"{counts.get(kind, 0)} {kind}" for kind in absent))
        proofs += proofs_at(files.file, files.first_line, files.last_line)
    short = not any(files.failed for files in readings_of(job, RdmaDevices))
    return Outcome(passed(not faults), listed(faults) if faults else "all there", limit, tuple(proofs), short)


class Gid(Record):
    """An entry of the table of a port."""

    device: str = Field(description="e.g. mlx5_0")
    port: int
    index: int
    gid: str
    ipv4: str | None = Field(description="address of the interface that it is of; None: it has none")
    version: str = Field(description="of RoCE: v1 or v2")
    interface: str | None


class ShowGids(HostReading):
    """The entries of all ports of a host."""

    rows: tuple[Gid, ...]

    def _figures(self) -> str:
        return f"{len({row.device for row in self.rows})} devices, {len(self.rows)} GIDs"


_COMMAND = typed(r"show_gids\b")
_GID_ROW = re.compile(
    r"(?P<device>[A-Za-z]\w{0,30})\s+(?P<port>\d{1,3})\s+(?P<index>\d{1,3})\s+(?P<gid>[0-9a-f]{4}(?::[0-9a-f]{4}){7})"
    r"\s+(?:(?P<ipv4>\d{1,3}(?:\.\d{1,3}){3})\s+)?(?P<version>v[12])(?:\s+(?P<interface>[\w.@-]{1,32}))?$"
)
_GID_BEGUN = re.compile(r"\w+\s+\d+\s+\d+\s+[0-9a-f]{4}:")
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

    def _read_line(self, line: Line) -> Taken:
        if (row := _GID_ROW.match(line.text)) is not None:
            entry = Gid.model_validate({**row.groupdict(), "line": line.number})
            return self.add((entry.device, entry.port, entry.index), entry, Taken.DAMAGED)
        if (other := _OTHER.match(line.text)) is not None:
            if re.match(_HEADER, line.text) and self.rows:
                return Taken.AGAIN
            self._count = int(other[1]) if other[1] else self._count
            return Taken.YES
        return Taken.DAMAGED if _GID_BEGUN.match(line.text) else Taken.NO

    def _facts(self) -> Mapping[str, object]:
        return {}

    def _missing(self) -> Iterable[str | None]:
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
        name="rdma-device-files",
        title="The pod has the device files of every HCA",
        limit="one issm, umad and uverbs per HCA, and rdma_cm",
        unit="files",
        tolerance="ucm may be absent: newer kernels lack it",
        applies="jobs that list /dev/infiniband over InfiniBand, of profiles whose HCAs have names",
        source="R-4.1-4",
        needs=("rdma-devices",),
        judge=_device_files,
        when=lambda request: request.is_infiniband and bool(request.hcas),
    ),
    Criterion(
        name="roce-address",
        title="Every RoCE port has a routable address",
        limit="a GID of RoCE v2 with an IPv4 address",
        applies="hosts with show_gids output",
        source="N-1.1, github.com/Mellanox/mlnx-tools",
        needs=("show-gids",),
        judge=_routable,
    ),
)
