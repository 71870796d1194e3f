"""`ls -l /dev/infiniband`: the devices that a pod was given."""

import re
from collections.abc import Iterable, Mapping

from pydantic import Field

from core.model import Model
from toolkit.evidence.criterion import Criterion, Outcome, passed, proofs_at, readings_of
from toolkit.evidence.host_parser import HostParser, HostReading, record, typed
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import RDMA_TEST, Job, Proof
from toolkit.evidence.wording import listed


class DeviceNode(Model):
    """A device file."""

    name: str = Field(description="e.g. uverbs0, rdma_cm")
    mode: str = Field(description="as printed, e.g. crw-rw-rw-.")
    owner: str
    group: str
    major: int
    minor: int
    line: int


class RdmaDevices(HostReading):
    """Device files of /dev/infiniband."""

    rows: tuple[DeviceNode, ...]
    failed: str | None = Field(description="error of ls when the folder does not exist")

    @property
    def counts(self) -> Mapping[str, int]:
        """Files of each kind, e.g. uverbs -> 4: one an HCA."""
        kinds = [re.sub(r"\d+$", "", row.name) for row in self.rows]
        return {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}

    def figures(self) -> str:
        """Return the few figures that a table has room for."""
        return listed(f"{count} {kind}" for kind, count in self.counts.items())


_NAME = r"(?:issm|ucm|umad|uverbs)\d+|rdma_cm"
_DATE = r"\S+\s+\S+\s+\S+"
_ROW = re.compile(
    rf"(?P<mode>c[rwxsStT-]{{9}}[.+]?)\s+\d+\s+(?P<owner>\S+)\s+(?P<group>\S+)\s+(?P<major>\d+),\s*(?P<minor>\d+)"
    rf"\s+{_DATE}\s+(?P<name>{_NAME})$"
)
_LIKE = re.compile(rf"c[rwxsStT-]{{9}}.*\s(?:{_NAME})")
_OTHER = re.compile(r"total \d+$|d[rwxsStT-]{9}.*\s(?:by-ibdev|by-path|\.\.?)$")
_FAILED = re.compile(r"ls: cannot access '?/dev/infiniband.*")


class RdmaDevicesParser(HostParser):
    """Reads the listing."""

    tool = "rdma-devices"
    kind = RdmaDevices
    rdma_test = frozenset({RDMA_TEST})
    starts = rf"/dev/infiniband:$|ls: cannot access '?/dev/infiniband|c[rwx-]{{9}}.*\s(?:{_NAME})$"
    leads = r"total \d+"
    command = re.compile(typed(r"ls\b.*/dev/infiniband"))

    def __init__(self) -> None:
        super().__init__()
        self._rows: dict[str, DeviceNode] = {}
        self._failed: str | None = None
        self._here = False

    def read_line(self, line: Line) -> Taken:
        """Read a line."""
        if line.text.startswith("/"):
            again = bool(self._rows) and line.text == "/dev/infiniband:"
            self._here = line.text == "/dev/infiniband:"
            return Taken.AGAIN if again else Taken.YES if self._here else Taken.NO
        if (row := _ROW.match(line.text)) is not None:
            if row["name"] in self._rows:
                return Taken.AGAIN
            self._rows[row["name"]] = record(DeviceNode, row, line)
            return Taken.YES
        if (failed := _FAILED.match(line.text)) is not None:
            self._failed = failed[0]
            return Taken.YES
        if self._here and _OTHER.match(line.text):
            return Taken.YES
        return Taken.DAMAGED if _LIKE.match(line.text) else Taken.NO

    def facts(self) -> Mapping[str, object]:
        """Return the devices, or the error."""
        return {"rows": tuple(self._rows.values()), "failed": self._failed}

    def missing(self) -> Iterable[str | None]:
        """Return the error, or that there is no device."""
        return (self._failed or (None if self._rows else "no device"),)


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


CRITERIA = (
    Criterion(
        name="rdma-device-files",
        title="The pod has the device files of every HCA",
        limit="one issm, umad and uverbs per HCA, and rdma_cm",
        unit="files",
        tolerance="ucm may be absent: newer kernels lack it",
        applies="jobs that list /dev/infiniband over InfiniBand, of profiles whose HCAs have names",
        source="R-4.1-4",
        judge=_device_files,
        when=lambda request: request.is_infiniband and bool(request.hcas),
    ),
)
