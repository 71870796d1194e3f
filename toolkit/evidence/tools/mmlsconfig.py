"""mmlsconfig: settings of a Spectrum Scale cluster, of all nodes and of groups of them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote

from pydantic import Field

from core.hardware.topology import pagepool_gib
from core.wording import plural
from toolkit.evidence.criterion import Criterion, Outcome, opening_proofs, passed, readings_of, row_proofs
from toolkit.evidence.host_parser import HostReading, RowsParser, typed
from toolkit.evidence.model import Record
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import Job, Request, Status
from toolkit.evidence.wording import listed

COMMON = "common"
"""The group of all nodes."""
_CLUSTER_NAME = "clusterName"
MOST = 20_000
"""Settings that are stored: there are some hundred, each once per group of nodes."""


class ScaleSetting(Record):
    """A setting that is not the default."""

    group: str = Field(description="nodes that it is of: common for all, else a class or names")
    name: str = Field(description="e.g. pagepool")
    value: str = Field(description="as printed, e.g. 128G")


class MmLsConfig(HostReading):
    """The settings."""

    cluster: str | None = Field(description="name of the cluster; None: not read")
    rows: tuple[ScaleSetting, ...]

    def value(self, name: str, group: str = COMMON) -> str | None:
        """Return what a group of nodes has: its own setting, else that of all nodes; None: the default."""
        values = {row.group: row.value for row in self.rows if row.name == name}
        return values.get(group, values.get(COMMON))


_COMMAND = typed(r"mmlsconfig\b")
_HEADER = re.compile(r"Configuration data for cluster (\S+):$")
_FOOTER = re.compile(r"(?:File systems in cluster (\S+):|\(none\))$")
_GROUP = re.compile(r"\[([A-Za-z0-9][\w.,-]*)\]$")
_SETTING = re.compile(r"([a-z][A-Za-z0-9_-]*) (\S.*)$")
_RULE = re.compile(r"-{5,}$")
_FILE_SYSTEM = re.compile(r"/dev/[\w.-]+$")
_PARSABLE = "mmlsconfig::"
_HEADER_Y = re.compile(r"mmlsconfig::HEADER:version:reserved:reserved:configParameter:value:nodeList:$")
_RECORD = re.compile(r"mmlsconfig::0:1:::([a-z][A-Za-z0-9_-]*):([^:]*):([^:]*):$")
"""A record of `mmlsconfig -Y`: fields are percent-encoded, as mmclidecode of IBM's reference decodes them."""


class MmLsConfigParser(RowsParser):
    """Reads all settings, also of -Y; a setting queried by name is printed without the frame, and not read."""

    tool = "mmlsconfig"
    kind = MmLsConfig
    starts = rf"Configuration data for cluster \S+:$|{_COMMAND}(?:\s+-Y)?\s*$|{_HEADER_Y.pattern}"
    command = re.compile(rf"{_COMMAND}(?:\s+-Y)?\s*$")
    contiguous = True

    def __init__(self) -> None:
        super().__init__()
        self._cluster: str | None = None
        self._group: str | None = COMMON
        self._whole = False
        self._parsable = False

    def _read_line(self, line: Line) -> Taken:
        text = line.text.rstrip()
        if text.startswith(_PARSABLE) or self._parsable:
            return self._record(text, line.number)
        if (header := _HEADER.match(text)) is not None:
            again = self._cluster is not None
            self._cluster = self._cluster or header[1]
            return Taken.AGAIN if again else Taken.YES
        if self._cluster is None:
            return Taken.NO
        if (footer := _FOOTER.match(text)) is not None:
            self._whole = True
            return Taken.DAMAGED if footer[1] not in (None, self._cluster) else Taken.YES
        if _RULE.match(text) or (self._whole and _FILE_SYSTEM.match(text)):
            return Taken.YES
        return Taken.NO if self._whole else self._setting(text, line.number)

    def _record(self, text: str, line: int) -> Taken:
        if _HEADER_Y.match(text):
            if self._parsable or self._cluster is not None:
                return Taken.AGAIN
            self._parsable = True
            return Taken.YES
        record = _RECORD.match(text)
        if record is None or not self._parsable or len(self.rows) >= MOST:
            return Taken.DAMAGED if text.startswith(_PARSABLE) else Taken.NO
        name, value, nodes = record[1], unquote(record[2]), unquote(record[3])
        if name == _CLUSTER_NAME:
            self._cluster = value
        row = ScaleSetting(group=nodes or COMMON, name=name, value=value, line=line)
        return self.add((row.group, name), row, Taken.DAMAGED)

    def _setting(self, text: str, line: int) -> Taken:
        if text.startswith("["):
            # Settings of a group that cannot be read belong to no node.
            group = _GROUP.match(text)
            self._group = group[1] if group else None
            return Taken.YES if group else Taken.DAMAGED
        if (setting := _SETTING.match(text)) is None:
            return Taken.NO
        name, value = setting[1], setting[2]
        if self._group is None or len(self.rows) >= MOST:
            return Taken.DAMAGED
        row = ScaleSetting(group=self._group, name=name, value=value, line=line)
        return self.add((self._group, name), row, Taken.DAMAGED)

    def _facts(self) -> Mapping[str, object]:
        return {"cluster": self._cluster}

    def _missing(self) -> Iterable[str | None]:
        if self._parsable:
            return (None if self._cluster else f"no {_CLUSTER_NAME}",)
        return (
            None if self._cluster else "no settings",
            None if self._whole or not self._cluster else "no list of file systems after them",
        )


_OF_ALL = ("enforceFilesetQuotaOnRoot", "controlSetxattrImmutableSELinux")
"""What the driver of OpenShift needs on every node."""
_SIZE = re.compile(r"(\d{1,18})([KMGT]?)(%?)$")
_GIB = {"": 2.0**-30, "K": 2.0**-20, "M": 2.0**-10, "G": 1.0, "T": 2.0**10}


def _settings(job: Job) -> Outcome | None:
    listings = [listing for listing in readings_of(job, MmLsConfig) if listing.rows]
    if not listings:
        return Outcome(Status.MISSING, "no settings")
    faults = [(listing, row, text) for listing in listings for row, text in _faults(listing, job.request)]
    absent = [listing for listing, row, _ in faults if row is None]
    proofs = row_proofs((listing.file, row) for listing, row, _ in faults if row is not None)
    measured = listed((text for *_, text in faults), 4) if faults else f"all, in {plural(len(listings), 'list')}"
    short = len(absent) == len(faults)
    return Outcome(passed(not faults), measured, proofs=proofs or opening_proofs(absent or listings), short=short)


def _faults(listing: MmLsConfig, request: Request) -> Iterator[tuple[ScaleSetting | None, str]]:
    """Yield what is not as planned, with its setting; None: it is not set."""
    common = {row.name: row for row in listing.rows if row.group == COMMON}
    for name in _OF_ALL:
        rows = [row for row in listing.rows if row.name == name]
        if not rows:
            yield None, f"{name}: not set"
        yield from ((row, f"{name}: {row.value}") for row in rows if row.value.lower() != "yes")
    for group in _groups(listing):
        own = {**common, **{row.name: row for row in listing.rows if row.group == group}}
        yield from ((row, f"{text} [{group}]") for row, text in _of_machine(own, request))


def _groups(listing: MmLsConfig) -> list[str]:
    """Return the nodes that use RDMA; where none do, all."""
    groups = dict.fromkeys(row.group for row in listing.rows if row.name in ("verbsPorts", "verbsRdma"))
    return [*groups] or [COMMON]


def _of_machine(own: Mapping[str, ScaleSetting], request: Request) -> Iterator[tuple[ScaleSetting | None, str]]:
    profile = request.machine
    pool = own.get("pagepool")
    if profile is not None and pool is not None:
        size = _gib(pool.value, profile.memory_gib)
        if size is not None and size > pagepool_gib(profile):
            yield pool, f"pagepool: {pool.value}, planned {pagepool_gib(profile)}G"
    if request.fabric != "infiniband" or profile is None:
        return
    rdma, ports = own.get("verbsRdma"), own.get("verbsPorts")
    if rdma is None or rdma.value.lower() != "enable":
        yield rdma, f"verbsRdma: {rdma.value if rdma else 'not set'}"
    planned = {hca.name for hca in profile.storage_hcas or profile.hcas}
    configured = {port.partition("/")[0] for port in re.split(r"[\s,]+", ports.value)} if ports else set()
    if absent := planned - configured:
        yield ports, f"verbsPorts without {listed(sorted(absent))}"
    if unplanned := configured - {hca.name for hca in (*profile.hcas, *profile.storage_hcas)}:
        yield ports, f"verbsPorts with {listed(sorted(unplanned))}"


def _gib(value: str, memory_gib: int) -> float | None:
    """Return a size as GiB; None: it is none, e.g. dynamic."""
    match = _SIZE.match(value.upper())
    if match is None:
        return None
    return int(match[1]) / 100 * memory_gib if match[3] else int(match[1]) * _GIB[match[2]]


CRITERIA = (
    Criterion(
        name="scale-settings",
        title="Spectrum Scale is configured as planned",
        limit=f"{' and '.join(_OF_ALL)} yes; over InfiniBand verbsRdma enable, and verbsPorts with the profile's "
        "HCAs (its storage HCAs, if any); pagepool <= a quarter of the profile's memory, which pods leave free",
        tolerance="what the profile does not have; a pagepool that is smaller or not set",
        applies="machines with mmlsconfig output",
        source="R-3.3-7, R-3.4.5-4, R-3.4.5-7",
        judge=_settings,
    ),
)
