"""What is installed on a host: `ofed_info -s`, `rpm -qa`, and the modules of the SELinux policy, `semodule -l`."""

import re
from collections.abc import Iterable, Mapping

from pydantic import Field

from toolkit.evidence.criterion import Criterion, Outcome, opening_proofs, passed, readings_of, row_proofs
from toolkit.evidence.host_parser import HostParser, HostReading, RowsParser, record, typed
from toolkit.evidence.model import Record
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import Job
from toolkit.evidence.wording import listed


class OfedInfo(HostReading):
    """What a host has."""

    version: str | None = Field(description="e.g. 4.7-3.2.9.0; None: the output is not whole")

    def _figures(self) -> str:
        return self.version or ""


_VERSION = re.compile(r"(?:MLNX_OFED_LINUX|OFED-internal)-(\d+\.\d+-\d+(?:\.\d+)*):?$")


class OfedInfoParser(HostParser):
    """Reads the one line."""

    tool = "ofed-info"
    kind = OfedInfo
    starts = rf"(?:MLNX_OFED_LINUX|OFED-internal)-\d|{typed('ofed_info')}\b"
    command = re.compile(typed(r"ofed_info\b"))
    contiguous = True

    def __init__(self) -> None:
        super().__init__()
        self._version: str | None = None

    def _read_line(self, line: Line) -> Taken:
        if (match := _VERSION.match(line.text)) is None:
            return Taken.DAMAGED if re.match(r"(?:MLNX_OFED_LINUX|OFED-internal)-", line.text) else Taken.NO
        if self._version is not None:
            return Taken.AGAIN
        self._version = match[1]
        return Taken.YES

    def _facts(self) -> Mapping[str, object]:
        return {"version": self._version}

    def _missing(self) -> Iterable[str | None]:
        return (None if self._version else "no version",)


def _one_version(job: Job) -> Outcome | None:
    outputs = [output for output in readings_of(job, OfedInfo) if output.version]
    versions = sorted({output.version for output in outputs if output.version})
    return Outcome(passed(len(versions) == 1), listed(versions), proofs=opening_proofs(outputs)) if versions else None


class Package(Record):
    """A package."""

    name: str
    version: str = Field(description="with its release, e.g. 418.87.01-1.el7")


class Rpm(HostReading):
    """Packages of drivers, of kernels and of containers."""

    rows: tuple[Package, ...]
    whole: bool = Field(description="whether the C library is listed, as in any list that is not filtered")


_PACKAGE = re.compile(
    r"(?P<name>[A-Za-z][\w.+-]*)-(?P<version>[\w.+~^]+-[\w.+~^]+)\.(?:x86_64|noarch|i686|aarch64|ppc64le|\(none\))$"
)
_STORED = re.compile(r"nvidia|libnvidia|cuda|kernel|kmod|mlnx|mstflint|nv_peer|docker|cri-o|podman", re.IGNORECASE)
_IN_ANY_LIST = "glibc"


class RpmParser(RowsParser):
    """Reads the list; other packages are counted as read, and not stored."""

    tool = "rpm"
    kind = Rpm
    starts = rf"{_PACKAGE.pattern.replace('?P<name>', '?:').replace('?P<version>', '?:')}|{typed('rpm -qa')}\b"
    command = re.compile(typed(r"rpm -qa\b"))
    contiguous = True

    def __init__(self) -> None:
        super().__init__()
        self._whole = False

    def _read_line(self, line: Line) -> Taken:
        if (row := _PACKAGE.match(line.text)) is None:
            return Taken.NO
        self._whole |= row["name"] == _IN_ANY_LIST
        if not _STORED.match(row["name"]):
            return Taken.YES
        return self.add((row["name"], row["version"]), record(Package, row, line), Taken.YES)

    def _facts(self) -> Mapping[str, object]:
        return {"whole": self._whole}


_DRIVER = re.compile(r"nvidia-driver|cuda|nvidia-container-")


def _no_driver(job: Job) -> Outcome | None:
    listings = readings_of(job, Rpm)
    drivers = [(listing.file, row) for listing in listings for row in listing.rows if _DRIVER.match(row.name)]
    if not drivers and not all(listing.whole for listing in listings):
        return None
    measured = listed(sorted({row.name for _, row in drivers})) if drivers else "none"
    return Outcome(passed(not drivers), measured, proofs=row_proofs(drivers) or opening_proofs(listings))


class PolicyModule(Record):
    """A module of the policy."""

    name: str = Field(description="e.g. infiniband")
    version: str | None = Field(description="e.g. 1.0; None: tools since RHEL 8 print none")


class SeModule(HostReading):
    """Modules that are installed."""

    rows: tuple[PolicyModule, ...]


_SEMODULE_COMMAND = typed(r"semodule\b")
_KNOWN_MODULES = r"(?:infiniband|nvidia[_-]container)"
_FULL = re.compile(r"\d{3} ([\w.-]+)\s+(?:pp|cil)(?:\s+disabled)?$")
_NAMED = re.compile(r"([a-zA-Z][\w.-]*)(?:\s+(\d+(?:\.\d+)*))?$")
_LIST = re.compile(r"-l\b|--list")


class SeModuleParser(RowsParser):
    """Reads the list; a name alone on a line is a module only after the command."""

    tool = "semodule"
    kind = SeModule
    starts = (
        rf"{_KNOWN_MODULES}(?:\s+\d+(?:\.\d+)*)?$|[a-zA-Z][\w.-]*\t\d+\.\d+(?:\.\d+)*$"
        rf"|\d{{3}} [\w.-]+\s+(?:pp|cil)$|{_SEMODULE_COMMAND}"
    )
    command = re.compile(_SEMODULE_COMMAND)
    contiguous = True
    no_rows = "no module"

    def __init__(self) -> None:
        super().__init__()
        self._bare = False

    def feed(self, line: Line) -> Taken:
        """Read a line; the command that installs a module precedes the one that lists them."""
        if not self.rows and self._begun and self.command and self.command.match(line.text):
            self._read_command(line.text)
            return Taken.YES
        return super().feed(line)

    def _read_command(self, text: str) -> None:
        self._bare = _LIST.search(text) is not None

    def _read_line(self, line: Line) -> Taken:
        row = _FULL.match(line.text) or _NAMED.match(line.text)
        if row is None:
            return Taken.DAMAGED if re.match(rf"{_KNOWN_MODULES}\s", line.text) else Taken.NO
        version = row[2] if row.re is _NAMED else None
        if version is None and row.re is _NAMED and not self._bare and not re.match(rf"{_KNOWN_MODULES}$", line.text):
            return Taken.NO
        return self.add(row[1], PolicyModule(name=row[1], version=version, line=line.number))


def _selinux(job: Job) -> Outcome | None:
    listings = readings_of(job, SeModule)
    rows = [(listing.file, row) for listing in listings for row in listing.rows if row.name == "infiniband"]
    measured = "installed" if rows else "not installed"
    proofs = row_proofs(rows) or opening_proofs(listings)
    return Outcome(passed(len(rows) >= len(listings)), measured, proofs=proofs)


CRITERIA = (
    Criterion(
        name="one-ofed",
        title="All hosts have the same version of MLNX_OFED",
        limit="one version",
        applies="machines with ofed_info -s output",
        source="R-3.2.2-1",
        needs=("ofed-info",),
        judge=_one_version,
    ),
    Criterion(
        name="host-driver-absent",
        title="A host has no GPU driver besides the operator's",
        limit="no package nvidia-driver*, cuda*, nvidia-container-*",
        applies="hosts with complete rpm -qa output, where an operator installs the driver",
        source="R-3.2.1-1, E-43",
        needs=("rpm",),
        judge=_no_driver,
        when=lambda request: request.operator_driver is True,
    ),
    Criterion(
        name="selinux-infiniband",
        title="SELinux lets containers use InfiniBand",
        limit="module infiniband",
        applies="nodes on InfiniBand with semodule output",
        source="R-3.2.4-1",
        needs=("semodule",),
        judge=_selinux,
        when=lambda request: request.is_infiniband,
    ),
)
