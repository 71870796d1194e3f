"""/proc/net/bonding/*: a bond of network ports, with its partner by LACP."""

import re
from typing import ClassVar

from pydantic import Field

from evidence.blocks import Block, HostParser, HostReading, compiled, typed
from evidence.parser import Common, Taken
from evidence.text import Line
from hardware.model import Model

NO_PARTNER = "00:00:00:00:00:00"
"""Partner of a bond whose switch does not speak LACP."""


class BondPort(Model):
    """A port of the bond."""

    name: str
    up: bool = Field(description="MII status")
    speed_mbps: int | None = Field(description="Mb/s; None: unknown, as of a port that is down, or not printed")
    duplex: str | None
    failures: int = Field(description="how often the link was lost")
    aggregator: int | None = Field(description="id by LACP: all ports of a bond that works have one; None: no LACP")
    line: int


class Bonding(HostReading):
    """A bond; tool_version is the driver's."""

    bond: str | None = Field(description="name, of the command that printed the file; None: not told")
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
        """Whether it is a bond by LACP that has found its partner."""
        return bool(self.mode and "802.3ad" in self.mode and self.partner not in (None, NO_PARTNER))


_COMMAND = typed(r"(?:cat|head|tail)\b.*/proc/net/bonding/")
_BANNER = r"Ethernet Channel Bonding Driver: "
_VERSION = re.compile(rf"{_BANNER}(v?[\w.-]+)")
_MAC = r"[0-9a-f]{2}(?::[0-9a-f]{2}){5,19}"
_OF_BOND = compiled(
    {
        "Bonding Mode": r"\S.*",
        "Transmit Hash Policy": r"\S.*",
        "MII Status": r"up|down|going down|going back",
        "LACP rate": r"slow|fast",
        "Aggregator ID": r"\d+",
        "Number of ports": r"\d+",
        "Partner Mac Address": _MAC,
    }
)
_OF_PORT = compiled(
    {
        "Slave Interface": r"[\w.@-]+",
        "MII Status": r"up|down|going down|going back",
        "Speed": r"(\d+) Mbps|Unknown",
        "Duplex": r"full|half|Unknown|unknown",
        "Link Failure Count": r"\d+",
        "Aggregator ID": r"\d+|N/A",
    }
)
_NEEDED = ("Bonding Mode", "MII Status")
_NEEDED_OF_PORT = ("MII Status", "Link Failure Count")
_OTHER = re.compile(
    r"\s*(?:MII Polling|Up Delay|Down Delay|Peer Notification|Primary Slave|Currently Active|802\.3ad info|LACP active|"
    r"Min links|Aggregator selection|System (?:priority|MAC)|Active Aggregator Info|Actor Key|Partner Key|"
    r"Permanent HW addr|Slave queue|Actor Churn|Partner Churn|Actor Churned|Partner Churned|details (?:actor|partner)|"
    r"system |port |oper |ARP |NS IPv6|Fail over|All Slaves)"
)


class BondingParser(HostParser):
    """Reads one bond's file."""

    tool: ClassVar[str] = "bonding"
    starts: ClassVar[str] = rf"{_BANNER}|{_COMMAND}"
    command: ClassVar[re.Pattern[str] | None] = re.compile(_COMMAND)

    def __init__(self) -> None:
        super().__init__()
        self._bond: str | None = None
        self._version: str | None = None
        self._head = Block(_OF_BOND, 1)
        self._ports: dict[str, Block] = {}
        self._block = self._head

    def asked(self, text: str) -> None:
        """Read which bond's file it is."""
        found = re.search(r"/proc/net/bonding/([\w.-]+)", text)
        self._bond = found[1] if found else None

    def take(self, line: Line) -> Taken:
        """Read a line."""
        text = line.text
        if (version := _VERSION.match(text)) is not None:
            if self._version is not None:
                return Taken.AGAIN
            self._version = version[1]
            return Taken.YES
        if self._version is None:
            return Taken.NO
        if text.startswith("Slave Interface:"):
            return self._port(line)
        return Taken.YES if _OTHER.match(text) else self._block.take(text)

    def _port(self, line: Line) -> Taken:
        block = Block(_OF_PORT, line.number)
        taken = block.take(line.text)
        name = block.get("Slave Interface")
        if name is None or name in self._ports:
            return Taken.DAMAGED
        self._block = self._ports[name] = block
        return taken

    def reading(self, common: Common) -> Bonding:
        """Return the bond."""
        head = self._head
        whole = {name: port for name, port in self._ports.items() if not port.lacks(*_NEEDED_OF_PORT)}
        cut = [f"{name}: not all lines" for name in self._ports if name not in whole]
        missing = [f"no {key}" for key in head.lacks(*_NEEDED)]
        status, aggregator, ports = head.get("MII Status"), head.get("Aggregator ID"), head.get("Number of ports")
        return Bonding(
            tool=self.tool,
            tool_version=self._version,
            source=self.source,
            bond=self._bond,
            mode=head.get("Bonding Mode"),
            up=None if status is None else status == "up",
            hash_policy=head.get("Transmit Hash Policy"),
            lacp_rate=head.get("LACP rate"),
            aggregator=None if aggregator is None else int(aggregator),
            ports=None if ports is None else int(ports),
            partner=head.get("Partner Mac Address"),
            rows=tuple(_port(name, port) for name, port in whole.items() if not port.damaged),
            **self.ending(*missing, *cut, None if self._ports else "no port"),
            **common,
        )


def _port(name: str, port: Block) -> BondPort:
    speed, aggregator = port.get("Speed", 1), port.get("Aggregator ID")
    return BondPort(
        name=name,
        up=port.value("MII Status") == "up",
        speed_mbps=None if speed is None else int(speed),
        duplex=port.get("Duplex"),
        failures=int(port.value("Link Failure Count")),
        aggregator=None if aggregator in (None, "N/A") else int(aggregator or 0),
        line=port.line,
    )
