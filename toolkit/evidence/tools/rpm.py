"""`rpm -qa`: packages of a host, of which an operator's driver allows no driver beside it."""

import re
from collections.abc import Mapping

from pydantic import Field

from core.model import Model
from toolkit.evidence.criterion import Criterion, Outcome, opening_proofs, passed, readings_of, row_proofs
from toolkit.evidence.host_parser import HostReading, RowsParser, record, typed
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import Job
from toolkit.evidence.wording import listed


class Package(Model):
    """A package."""

    name: str
    version: str = Field(description="with its release, e.g. 418.87.01-1.el7")
    line: int


class Rpm(HostReading):
    """Packages of drivers, of kernels and of containers."""

    rows: tuple[Package, ...]
    whole: bool = Field(description="whether the C library is listed, as in any list that is not filtered")


_ROW = re.compile(
    r"(?P<name>[A-Za-z][\w.+-]*)-(?P<version>[\w.+~^]+-[\w.+~^]+)\.(?:x86_64|noarch|i686|aarch64|ppc64le|\(none\))$"
)
_STORED = re.compile(r"nvidia|libnvidia|cuda|kernel|kmod|mlnx|mstflint|nv_peer|docker|cri-o|podman", re.IGNORECASE)
_IN_ANY_LIST = "glibc"


class RpmParser(RowsParser):
    """Reads the list; other packages are counted as read, and not stored."""

    tool = "rpm"
    kind = Rpm
    starts = rf"{_ROW.pattern.replace('?P<name>', '?:').replace('?P<version>', '?:')}|{typed('rpm -qa')}\b"
    command = re.compile(typed(r"rpm -qa\b"))
    contiguous = True

    def __init__(self) -> None:
        super().__init__()
        self._whole = False

    def read_line(self, line: Line) -> Taken:
        """Read a line."""
        if (row := _ROW.match(line.text)) is None:
            return Taken.NO
        self._whole |= row["name"] == _IN_ANY_LIST
        if not _STORED.match(row["name"]):
            return Taken.YES
        return self.add((row["name"], row["version"]), record(Package, row, line), Taken.YES)

    def facts(self) -> Mapping[str, object]:
        """Return whether the list is whole."""
        return {"whole": self._whole}


_DRIVER = re.compile(r"nvidia-driver|cuda|nvidia-container-")


def _no_driver(job: Job) -> Outcome | None:
    listings = readings_of(job, Rpm)
    drivers = [(listing.file, row) for listing in listings for row in listing.rows if _DRIVER.match(row.name)]
    if not drivers and not all(listing.whole for listing in listings):
        return None
    measured = listed(sorted({row.name for _, row in drivers})) if drivers else "none"
    return Outcome(passed(not drivers), measured, proofs=row_proofs(drivers) or opening_proofs(listings))


CRITERIA = (
    Criterion(
        name="host-driver-absent",
        title="A host has no GPU driver besides the operator's",
        limit="no package nvidia-driver*, cuda*, nvidia-container-*",
        applies="hosts with complete rpm -qa output, where an operator installs the driver",
        source="R-3.2.1-1, E-43",
        judge=_no_driver,
        when=lambda request: request.operator_driver is True,
    ),
)
