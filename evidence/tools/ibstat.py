"""ibstat: each HCA with its firmware, and the state of its ports."""

import re
from typing import ClassVar

from pydantic import Field

from evidence.blocks import Block, HostParser, HostReading, compiled, typed
from evidence.parser import Common, Taken
from evidence.text import Line
from hardware.model import Model


class IbStatPort(Model):
    """One port."""

    device: str = Field(description="e.g. mlx5_0")
    port: int
    state: str = Field(description="Active, Initializing, Armed or Down")
    phys_state: str = Field(description="e.g. LinkUp, Polling, Disabled")
    rate_gbps: float = Field(description="Gb/s")
    base_lid: int
    sm_lid: int = Field(description="LID of the subnet manager; 0 on RoCE")
    guid: str = Field(description="port GUID")
    link_layer: str = Field(description="InfiniBand or Ethernet")
    line: int

    @property
    def up(self) -> bool:
        """Whether the port carries traffic."""
        return self.state == "Active" and self.phys_state == "LinkUp"


class Hca(Model):
    """One adapter."""

    device: str
    kind: str = Field(description="CA type, e.g. MT4115")
    firmware: str
    node_guid: str
    line: int


class IbStat(HostReading):
    """Adapters and ports of a host."""

    rows: tuple[IbStatPort, ...] = Field(description="ports of which every line was read")
    adapters: tuple[Hca, ...]


_HEAD = re.compile(r"CA '([\w.-]+)'$")
_PORT = re.compile(r"\s+Port (\d+):$")
_GUID = r"0x[0-9a-f]{16}"
_OF_CA = compiled(
    {
        "CA type": r"\S.*",
        "Number of ports": r"\d+",
        "Firmware version": r"\S+",
        "Hardware version": r"\S+",
        "Node GUID": _GUID,
        "System image GUID": _GUID,
    }
)
_OF_PORT = compiled(
    {
        "State": r"[A-Z][a-z]+",
        "Physical state": r"[A-Z]\w+(?: \w+)*",
        "Rate": r"\d{1,6}(?:\.\d{1,6})?",
        "Base lid": r"\d+",
        "SM lid": r"\d+",
        "Port GUID": _GUID,
        "Link layer": r"InfiniBand|Ethernet",
        "LMC": r"\d+",
        "Capability mask": r"0x[0-9a-f]+",
    }
)


class IbStatParser(HostParser):
    """Reads ibstat."""

    tool: ClassVar[str] = "ibstat"
    starts: ClassVar[str] = rf"CA '[\w.-]+'$|{typed('ibstat')}(?!us)\b"
    command: ClassVar[re.Pattern[str] | None] = re.compile(typed(r"ibstat(?!us)\b"))

    def __init__(self) -> None:
        super().__init__()
        self._adapters: dict[str, Block] = {}
        self._ports: dict[tuple[str, int], Block] = {}
        self._device = ""
        self._block: Block | None = None

    def take(self, line: Line) -> Taken:
        """Read a line."""
        if (head := _HEAD.match(line.text)) is not None:
            if head[1] in self._adapters:
                return Taken.AGAIN
            self._device = head[1]
            self._block = self._adapters[head[1]] = Block(_OF_CA, line.number)
            return Taken.YES
        if (port := _PORT.match(line.text)) is not None and self._device:
            key = (self._device, int(port[1]))
            if key in self._ports:
                return Taken.DAMAGED
            self._block = self._ports[key] = Block(_OF_PORT, line.number)
            return Taken.YES
        if line.text.startswith("CA '"):
            self._device, self._block = "", None
            return Taken.DAMAGED
        return self._block.take(line.text) if self._block is not None and line.text[0].isspace() else Taken.NO

    def reading(self, common: Common) -> IbStat:
        """Return adapters and ports."""
        broken = [
            f"{name}: no {', '.join(block.lacks())}"
            for name, block in (
                *self._adapters.items(),
                *((f"{device}/{port}", block) for (device, port), block in self._ports.items()),
            )
            if block.lacks()
        ]
        counted = [
            f"{device}: ports missing"
            for device, block in self._adapters.items()
            if int(block.get("Number of ports") or 0) != sum(of == device for of, _ in self._ports)
        ]
        return IbStat(
            tool=self.tool,
            source=self.source,
            rows=tuple(_port(*key, block) for key, block in self._ports.items() if _whole(block)),
            adapters=tuple(_adapter(device, block) for device, block in self._adapters.items() if _whole(block)),
            **self.ending(*broken, *counted, None if self._adapters else "no adapter"),
            **common,
        )


def _whole(block: Block) -> bool:
    return not block.lacks() and not block.damaged


def _port(device: str, port: int, block: Block) -> IbStatPort:
    return IbStatPort(
        device=device,
        port=port,
        state=block.value("State"),
        phys_state=block.value("Physical state"),
        rate_gbps=float(block.value("Rate")),
        base_lid=int(block.value("Base lid")),
        sm_lid=int(block.value("SM lid")),
        guid=block.value("Port GUID"),
        link_layer=block.value("Link layer"),
        line=block.line,
    )


def _adapter(device: str, block: Block) -> Hca:
    return Hca(
        device=device,
        kind=block.value("CA type"),
        firmware=block.value("Firmware version"),
        node_guid=block.value("Node GUID"),
        line=block.line,
    )
