"""ibstatus: the state of each port of the HCAs."""

import re
from collections.abc import Iterable, Mapping

from pydantic import Field

from core.wording import plural
from toolkit.evidence.block_parser import Block, BlocksParser, compiled
from toolkit.evidence.criterion import Criterion, Outcome, opening_proofs, passed, readings_of, row_proofs
from toolkit.evidence.host_parser import HostReading, typed
from toolkit.evidence.model import Record
from toolkit.evidence.parser import Taken, number
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import RDMA_TEST, Job, Status
from toolkit.evidence.wording import listed


class Port(Record):
    """One port of an HCA."""

    device: str = Field(description="e.g. mlx5_0")
    port: int
    gid: str = Field(description="default GID")
    base_lid: str = Field(description="as printed, e.g. 0xb; 0x0 on RoCE")
    sm_lid: str = Field(description="LID of the subnet manager, e.g. 0x9; 0x0 on RoCE")
    state: str = Field(description="ACTIVE, INIT, ARMED or DOWN")
    phys_state: str = Field(description="e.g. LinkUp, Polling, Disabled")
    rate_gbps: float = Field(description="Gb/s")
    width: str | None = Field(description="lanes and generation, e.g. 4X EDR; None: not printed")
    link_layer: str = Field(description="InfiniBand or Ethernet")

    @property
    def up(self) -> bool:
        """Return whether the port carries traffic."""
        return self.state == "ACTIVE" and self.phys_state == "LinkUp"


class IbStatus(HostReading):
    """Ports of a host, or of those that a pod sees."""

    rows: tuple[Port, ...] = Field(description="ports of which all seven lines were read")
    failed: tuple[str, ...] = Field(description="errors that the tool printed, e.g. of a device that does not exist")

    def _figures(self) -> str:
        return f"{sum(port.up for port in self.rows)} of {plural(len(self.rows), 'port')} up"


_HEAD = re.compile(r"Infiniband device '([\w.-]+)' port (\d+) status:$")
_FAILED = re.compile(r"Fatal error:\s+(.+)")
_FORMS = compiled(
    {
        "default gid": r"(?P<gid>[0-9a-f]{4}(?::[0-9a-f]{4}){7})",
        "base lid": r"(?P<base_lid>0x[0-9a-f]+)",
        "sm lid": r"(?P<sm_lid>0x[0-9a-f]+)",
        "state": r"\d+: (?P<state>[\w ]+)",
        "phys state": r"\d+: (?P<phys_state>[\w ]+)",
        "rate": r"(?P<rate_gbps>\d{1,6}(?:[.,]\d{1,6})?) Gb/sec(?: \((?P<width>\d+X(?: \w+)?)\))?",
        "link_layer": r"(?P<link_layer>InfiniBand|Ethernet)",
    }
)


class IbStatusParser(BlocksParser):
    """Reads ibstatus."""

    tool = "ibstatus"
    kind = IbStatus
    rdma_test = frozenset({RDMA_TEST})
    starts = rf"Infiniband device '[\w.-]+' port \d+ status:|Fatal error:\s+device '|{typed('ibstatus')}\b"
    command = re.compile(typed(r"ibstatus\b"))
    traced = True
    forms = _FORMS
    row = Port
    no_rows = "no port"

    def __init__(self) -> None:
        super().__init__()
        self._failed: list[str] = []

    def _read_line(self, line: Line) -> Taken:
        if (head := _HEAD.match(line.text)) is not None:
            return self.open(f"port {head[1]}/{head[2]}", line.number, device=head[1], port=head[2])
        if (failed := _FAILED.match(line.text)) is not None:
            self._failed.append(failed[1])
            return Taken.YES
        if line.text.startswith("Infiniband device"):
            self.block = None
            return Taken.DAMAGED
        return self.block.read_line(line.text) if self.block is not None else Taken.NO

    def _fields_of(self, block: Block) -> Mapping[str, object]:
        fields = block.fields()
        return {**fields, "rate_gbps": number(str(fields["rate_gbps"]))}

    def _facts(self) -> Mapping[str, object]:
        return {"failed": tuple(self._failed)}

    def _missing(self) -> Iterable[str]:
        return self._failed


def ports(job: Job) -> list[tuple[str, Port]]:
    """Return the ports that ibstatus shows, with the file of each."""
    return [(output.file, port) for output in readings_of(job, IbStatus) for port in output.rows]


def _active(job: Job) -> Outcome | None:
    hcas, rate = job.request.hcas, job.request.port_rate_gbps
    limit = f"ACTIVE, LinkUp, {rate} Gb/s" if rate else "ACTIVE, LinkUp"
    compute_ports = _of_compute(job)
    if not compute_ports:
        none = f"none of {listed(sorted(hcas))}" if hcas else "no port"
        return Outcome(Status.FAIL, none, limit, opening_proofs(readings_of(job, IbStatus)), short=True)
    # An adapter of two ports has one cable where the profile has one port of it.
    carrying = {(file, port.device) for file, port in compute_ports if _carries(port, rate)}
    inactive = [(file, port) for file, port in compute_ports if (file, port.device) not in carrying]
    states = [f"{port.device}: {port.state}, {port.phys_state}, {port.rate_gbps:g} Gb/s" for _, port in inactive]
    measured = listed(states, 4) if inactive else plural(len(carrying), "port")
    return Outcome(passed(not inactive), measured, limit, row_proofs(inactive or compute_ports))


def _of_compute(job: Job) -> list[tuple[str, Port]]:
    """Return the ports that jobs are to use: storage may have HCAs and a fabric of its own."""
    hcas = job.request.hcas
    return [(file, port) for file, port in ports(job) if not hcas or port.device in hcas]


def _carries(port: Port, rate: int | None) -> bool:
    return port.up and (rate is None or port.rate_gbps >= rate)


def _present(job: Job) -> Outcome | None:
    hcas, shown = job.request.hcas, {port.device for _, port in ports(job)}
    absent = sorted(hcas - shown)
    measured = f"{listed(absent)} absent" if absent else listed(sorted(shown))
    return Outcome(passed(not absent), measured, listed(sorted(hcas)), row_proofs(ports(job)), short=True)


def _one_manager(job: Job) -> Outcome | None:
    active = [(file, port) for file, port in _of_compute(job) if port.link_layer == "InfiniBand" and port.up]
    lids = sorted({port.sm_lid for _, port in active})
    if not active:
        return Outcome(Status.MISSING, "no active port")
    return Outcome(passed(len(lids) == 1 and int(lids[0], 16) > 0), f"sm lid {listed(lids)}", proofs=row_proofs(active))


CRITERIA = (
    Criterion(
        name="ports-active",
        title="Every port is up, at its rate",
        limit="ACTIVE, LinkUp, at least the profile's rate",
        unit="ports",
        tolerance="an uncabled second port of an HCA; storage HCAs",
        applies="jobs with ibstatus output",
        source="R-4.1-6",
        judge=_active,
    ),
    Criterion(
        name="ports-present",
        title="Every HCA is in the machine",
        limit="every HCA assigned to the pods, else every HCA of the profile",
        unit="HCAs",
        tolerance="pods see all HCAs of the machine; their device files show which ones are assigned",
        applies="jobs with ibstatus output, of profiles whose HCAs have names",
        source="R-4.1-6, R-3.4.2-2",
        judge=_present,
        when=lambda request: bool(request.hcas),
    ),
    Criterion(
        name="one-subnet-manager",
        title="One subnet manager serves all ports",
        limit="one sm lid",
        tolerance="storage HCAs may have another; two subnets whose managers have the same lid cannot be distinguished",
        applies="jobs over InfiniBand with ibstatus output",
        source="R-4.1-6, R-3.1-1",
        judge=_one_manager,
        when=lambda request: request.is_infiniband,
    ),
)
