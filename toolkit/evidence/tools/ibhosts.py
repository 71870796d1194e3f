"""ibhosts: the channel adapters that the subnet shows."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from pydantic import Field

from core.apis.names import NO_HOSTS
from core.wording import plural
from toolkit.evidence.criterion import Criterion, Outcome, opening_proofs, passed, readings_of, row_proofs
from toolkit.evidence.host_parser import HostReading, RowsParser, record, typed
from toolkit.evidence.model import Record
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import RDMA_TEST, Job, Request, Status
from toolkit.evidence.wording import listed


class ChannelAdapter(Record):
    """An adapter of a host, or the aggregation node of a switch."""

    guid: str = Field(description="node GUID, e.g. 0x248a0703001f0426")
    ports: int
    name: str = Field(description="node description, e.g. node02 HCA-3")

    @property
    def aggregation_node(self) -> bool:
        """Return whether it is the part of a switch that reduces (SHARP)."""
        return "Aggregation Node" in self.name


class IbHosts(HostReading):
    """The subnet as one HCA sees it."""

    hca: str | None = Field(description="through which the subnet was queried (-C), e.g. mlx5_0; None: unknown")
    rows: tuple[ChannelAdapter, ...]
    failed: tuple[str, ...] = Field(description="errors that the tool printed")
    excuse: str | None = Field(default=None, description="why there is no list, as the RDMA test prints it")

    def _figures(self) -> str:
        return f"{plural(len(self.rows), 'CA')}{f' from {self.hca}' if self.hca else ''}"

    def refusal(self) -> str | None:
        """Return why there is no list."""
        return self.excuse


_ROW = re.compile(r'Ca\s*: (?P<guid>0x[0-9a-f]{16}) ports (?P<ports>\d+) "(?P<name>.*)"$')
_FAILED = re.compile(
    r"ibwarn: |ibpanic: |.*\bibnetdisc\w*[.: ].*fail|.*[Ff]ailed to .*(?:umad|UMAD|MAD)|discover failed"
)
_EXCUSE = re.compile(r"[\w.-]+: no list of hosts, ")
"""What the RDMA test prints where the tool is not permitted, or failed."""


class IbHostsParser(RowsParser):
    """Reads ibhosts; a GUID that comes again begins another run."""

    tool = "ibhosts"
    kind = IbHosts
    rdma_test = frozenset({RDMA_TEST})
    excuse = NO_HOSTS
    starts = rf"Ca\s*: 0x|{typed('ibhosts')}\b"
    command = re.compile(typed(r"ibhosts\b"))
    argument = re.compile(r"(?:-C|--Ca)[ =]?(?P<hca>[\w.-]+)")
    traced = True
    no_rows = "no adapter"

    @classmethod
    def is_expected(cls, request: Request) -> bool:
        """Return whether a job was to print it: InfiniBand alone has such a list."""
        return request.is_infiniband and super().is_expected(request)

    def __init__(self) -> None:
        super().__init__()
        self._failed: list[str] = []
        self._excuse: str | None = None

    def _read_line(self, line: Line) -> Taken:
        if (row := _ROW.match(line.text)) is not None:
            return self.add(row["guid"], record(ChannelAdapter, row, line))
        if _FAILED.match(line.text):
            self._failed.append(line.text)
            return Taken.YES
        if _EXCUSE.match(line.text):
            self._excuse = line.text
            return Taken.YES
        return Taken.DAMAGED if re.match(r"Ca\s*:", line.text) else Taken.NO

    def _facts(self) -> Mapping[str, object]:
        return {"failed": tuple(self._failed), "excuse": self._excuse}

    def _missing(self) -> Iterable[str]:
        return self._failed


def _consistent(job: Job) -> Outcome | None:
    views = [view for view in readings_of(job, IbHosts) if view.rows]
    if not views:
        return Outcome(Status.MISSING, "no list of hosts")
    sets = [frozenset(row.guid for row in view.rows) for view in views]
    everywhere = frozenset.intersection(*sets)
    differing = [view for view, guids in zip(views, sets, strict=True) if guids != frozenset.union(*sets)]
    incomplete = [f"{view.hca or 'one HCA'} sees {len(view.rows)}" for view in differing]
    queried = sorted({view.hca for view in views if view.hca})
    missing = sorted(job.request.hcas - {*queried}) if queried else []
    if missing and not incomplete:
        return Outcome(Status.MISSING, f"no list from {listed(missing)}", proofs=opening_proofs(views))
    measured = listed(incomplete) if incomplete else f"{plural(len(everywhere), 'CA')} from each of {len(views)}"
    return Outcome(passed(not incomplete), measured, proofs=opening_proofs(differing or views), short=True)


def _complete(job: Job) -> Outcome | None:
    profile = job.request.known_machine
    rows = {row.guid: (view.file, row) for view in readings_of(job, IbHosts) for row in view.rows}
    if not rows:
        return Outcome(Status.MISSING, "no list of hosts")
    hosts = Counter(_host(row) for _, row in rows.values() if not row.aggregation_node)
    reducing = [(file, row) for file, row in rows.values() if row.aggregation_node]
    ports_each, names = profile.ports.count, (*job.request.nodes, *job.request.peers)
    missing = [f"{name}: {hosts[_short(name)]} CAs" for name in names if hosts[_short(name)] < ports_each]
    # Where the nodes are not known: two machines; storage and further ones may be there, too.
    complete = [name for name, count in hosts.items() if count >= ports_each]
    if len(complete) < max(2, len(names)):
        missing.append(f"{plural(len(complete), 'host')} with {plural(ports_each, 'CA')}")
    missing += ["no Aggregation Node"] if job.request.sharp and not reducing else []
    limit = f">= {plural(ports_each, 'CA')} of {f'each of {listed(names)}' if names else 'each of 2 hosts'}"
    limit += ", and an Aggregation Node" if job.request.sharp else ""
    proofs = row_proofs(reducing)
    measured = f"{plural(hosts.total(), 'CA')} of {plural(len(hosts), 'host')}, {len(reducing)} Aggregation Nodes"
    shown = f"{listed(missing, 4)} ({measured})" if missing else measured
    return Outcome(passed(not missing), shown, limit, proofs or opening_proofs(readings_of(job, IbHosts)), short=True)


def _host(row: ChannelAdapter) -> str:
    """Return the host of `node02 HCA-3`, as drivers describe nodes."""
    return _short(row.name.partition(" ")[0])


def _short(name: str) -> str:
    return name.partition(".")[0]


CRITERIA = (
    Criterion(
        name="fabric-consistent",
        title="Every HCA sees the same subnet",
        limit="the same CAs from every HCA",
        unit="CAs",
        applies="jobs that list InfiniBand hosts; not where only root may use umad devices, as on RHCOS",
        source="R-4.1-7",
        judge=_consistent,
        when=lambda request: request.is_infiniband,
    ),
    Criterion(
        name="fabric-complete",
        title="The subnet has every HCA of the nodes, and with SHARP an Aggregation Node",
        limit="the profile's HCAs of each participating node; where the nodes are unknown, of two hosts",
        unit="CAs",
        tolerance="additional CAs, of storage and of other machines; a host is the first word of a node description",
        applies="jobs that list InfiniBand hosts, of a known profile",
        source="R-4.1-7, D-3.8",
        judge=_complete,
        when=lambda request: request.is_infiniband and request.machine is not None,
    ),
)
