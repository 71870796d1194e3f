"""/proc/net/bonding/*: a bond of network ports, with its partner by LACP."""

import re
from collections.abc import Iterable, Mapping

from pydantic import Field

from core.wording import plural
from toolkit.evidence.block_parser import Block, BlocksParser, compiled
from toolkit.evidence.criterion import Criterion, Outcome, opening_proofs, passed, readings_of
from toolkit.evidence.host_parser import HostReading, typed
from toolkit.evidence.model import Record
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import Job
from toolkit.evidence.wording import listed

NO_PARTNER = "00:00:00:00:00:00"
"""Partner of a bond whose switch does not speak LACP."""


class BondPort(Record):
    """A port of the bond."""

    name: str
    up: bool = Field(description="MII status")
    speed_mbps: int | None = Field(description="Mb/s; None: unknown, as of a port that is down, or not printed")
    duplex: str | None
    failures: int = Field(description="how often the link was lost")
    aggregator: int | None = Field(description="id by LACP: all ports of a bond that works have one; None: no LACP")


class Bonding(HostReading):
    """A bond; tool_version is the driver's."""

    bond: str | None = Field(description="name, of the command that printed the file; None: unknown")
    mode: str | None = Field(description="e.g. IEEE 802.3ad Dynamic link aggregation")
    up: bool | None = Field(description="MII status; None: not read")
    hash_policy: str | None = Field(description="e.g. layer3+4 (1)")
    lacp_rate: str | None = Field(description="slow or fast; None: no LACP")
    aggregator: int | None = Field(description="the active one; None: no LACP, or not shown to this user")
    ports: int | None = Field(description="in the active aggregator")
    partner: str | None = Field(description=f"MAC address of the switch; {NO_PARTNER} is none")
    rows: tuple[BondPort, ...]

    @property
    def lacp(self) -> bool:
        """Return whether it is a bond by LACP that has found its partner."""
        return bool(self.mode and "802.3ad" in self.mode and self.partner not in (None, NO_PARTNER))

    def _figures(self) -> str:
        return f"{sum(row.up for row in self.rows)} of {plural(len(self.rows), 'port')} up"


_COMMAND = typed(r"(?:cat|head|tail)\b.*/proc/net/bonding/")
_BANNER = r"Ethernet Channel Bonding Driver: "
_VERSION = re.compile(rf"{_BANNER}(v?[\w.-]+)")
_MAC = r"[0-9a-f]{2}(?::[0-9a-f]{2}){5,19}"
_STATUS = r"up|down|going down|going back"
_OF_BOND = compiled(
    {
        "Bonding Mode": r"(?P<mode>\S.*)",
        "Transmit Hash Policy": r"(?P<hash_policy>\S.*)",
        "MII Status": _STATUS,
        "LACP rate": r"(?P<lacp_rate>slow|fast)",
        "Aggregator ID": r"(?P<aggregator>\d+)",
        "Number of ports": r"(?P<ports>\d+)",
        "Partner Mac Address": rf"(?P<partner>{_MAC})",
    }
)
_OF_PORT = compiled(
    {
        "MII Status": _STATUS,
        "Speed": r"(?P<speed_mbps>\d+) Mbps|Unknown",
        "Duplex": r"(?P<duplex>full|half|Unknown|unknown)",
        "Link Failure Count": r"(?P<failures>\d+)",
        "Aggregator ID": r"(?P<aggregator>\d+)|N/A",
    }
)
_PORT = re.compile(r"Slave Interface:\s*([\w.@-]+)\s*")
_OTHER = re.compile(
    r"\s*(?:MII Polling|Up Delay|Down Delay|Peer Notification|Primary Slave|Currently Active|802\.3ad info|LACP active|"
    r"Min links|Aggregator selection|System (?:priority|MAC)|Active Aggregator Info|Actor Key|Partner Key|"
    r"Permanent HW addr|Slave queue|Actor Churn|Partner Churn|Actor Churned|Partner Churned|details (?:actor|partner)|"
    r"system |port |oper |ARP |NS IPv6|Fail over|All Slaves)"
)


class BondingParser(BlocksParser):
    """Reads one bond's file."""

    tool = "bonding"
    kind = Bonding
    starts = rf"{_BANNER}|{_COMMAND}"
    command = re.compile(_COMMAND)
    argument = re.compile(r"/proc/net/bonding/(?P<bond>[\w.-]+)")
    forms = _OF_PORT
    needed = ("MII Status", "Link Failure Count")
    row = BondPort
    no_rows = "no port"

    def __init__(self) -> None:
        super().__init__()
        self._version: str | None = None
        self._head = Block(_OF_BOND, 1)

    def _read_line(self, line: Line) -> Taken:
        text = line.text
        if (version := _VERSION.match(text)) is not None:
            if self._version is not None:
                return Taken.AGAIN
            self._version = version[1]
            return Taken.YES
        if self._version is None:
            return Taken.NO
        if text.startswith("Slave Interface:"):
            port = _PORT.fullmatch(text)
            return self.open(port[1], line.number, Taken.DAMAGED, name=port[1]) if port else Taken.DAMAGED
        return Taken.YES if _OTHER.match(text) else (self.block or self._head).read_line(text)

    def _fields_of(self, block: Block) -> Mapping[str, object]:
        return {**block.fields(), "up": block.get("MII Status") == "up"}

    def _facts(self) -> Mapping[str, object]:
        status = self._head.get("MII Status")
        up = None if status is None else status == "up"
        return {**self._head.groups(), "tool_version": self._version, "up": up}

    def _missing(self) -> Iterable[str]:
        return (f"no {key}" for key in self._head.lacks("Bonding Mode", "MII Status"))


def _bond(job: Job) -> Outcome | None:
    bonds = readings_of(job, Bonding)
    broken = [bond for bond in bonds if not _bundles(bond)]
    faults = [
        f"{bond.bond or 'bond'}: {listed(row.name for row in bond.rows if not row.up) or _unbundled(bond)}"
        for bond in broken
    ]
    measured = listed(faults) if broken else listed(plural(len(bond.rows), "port") for bond in bonds)
    short = all(not bond.rows for bond in broken)
    return Outcome(passed(not broken), measured, proofs=opening_proofs(broken or bonds), short=short)


def _unbundled(bond: Bonding) -> str:
    if not bond.rows:
        return "no port"
    if bond.lacp and bond.ports:
        return f"{bond.ports} of {plural(len(bond.rows), 'port')} in the aggregator"
    return "no partner"


def _bundles(bond: Bonding) -> bool:
    aggregators = {row.aggregator for row in bond.rows if row.aggregator is not None}
    bundled = bond.lacp and bond.up is True and all(row.up for row in bond.rows) and len(aggregators) <= 1
    return bool(bond.rows) and bundled and bond.ports in (None, len(bond.rows))


CRITERIA = (
    Criterion(
        name="bond-up",
        title="All ports of the bond carry traffic",
        limit="802.3ad with a partner, all ports up in one aggregator",
        unit="ports",
        applies="nodes with /proc/net/bonding output",
        source="B-2.3",
        judge=_bond,
    ),
)
