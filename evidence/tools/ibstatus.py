"""ibstatus: the state of each port of the HCAs (R-4.1-6)."""

import re
from typing import ClassVar

from pydantic import Field

from evidence.blocks import Block, HostParser, HostReading, compiled, typed
from evidence.parser import Common, Taken, number
from evidence.text import Line
from hardware.model import Model


class Port(Model):
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
    line: int

    @property
    def up(self) -> bool:
        """Whether the port carries traffic."""
        return self.state == "ACTIVE" and self.phys_state == "LinkUp"


class IbStatus(HostReading):
    """Ports of a host, or of those that a pod sees."""

    rows: tuple[Port, ...] = Field(description="ports of which all seven lines were read")
    failed: tuple[str, ...] = Field(description="errors that the tool printed, e.g. of a device that does not exist")


_HEAD = re.compile(r"Infiniband device '([\w.-]+)' port (\d+) status:$")
_FAILED = re.compile(r"Fatal error:\s+(.+)")
_STATE = r"(\d+): ([\w ]+)"
_FORMS = compiled(
    {
        "default gid": r"[0-9a-f]{4}(?::[0-9a-f]{4}){7}",
        "base lid": r"0x[0-9a-f]+",
        "sm lid": r"0x[0-9a-f]+",
        "state": _STATE,
        "phys state": _STATE,
        "rate": r"(\d{1,6}(?:[.,]\d{1,6})?) Gb/sec(?: \((\d+X(?: \w+)?)\))?",
        "link_layer": r"InfiniBand|Ethernet",
    }
)


class IbStatusParser(HostParser):
    """Reads ibstatus."""

    tool: ClassVar[str] = "ibstatus"
    starts: ClassVar[str] = (
        rf"Infiniband device '[\w.-]+' port \d+ status:|Fatal error:\s+device '|{typed('ibstatus')}\b"
    )
    command: ClassVar[re.Pattern[str] | None] = re.compile(typed(r"ibstatus\b"))
    traced: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self._ports: dict[tuple[str, int], Block] = {}
        self._failed: list[str] = []
        self._block: Block | None = None

    def take(self, line: Line) -> Taken:
        """Read a line."""
        if (head := _HEAD.match(line.text)) is not None:
            port = (head[1], int(head[2]))
            if port in self._ports:
                return Taken.AGAIN
            self._block = self._ports[port] = Block(_FORMS, line.number)
            return Taken.YES
        if (failed := _FAILED.match(line.text)) is not None:
            self._failed.append(failed[1])
            return Taken.YES
        if line.text.startswith("Infiniband device"):
            self._block = None
            return Taken.DAMAGED
        return self._block.take(line.text) if self._block is not None else Taken.NO

    def reading(self, common: Common) -> IbStatus:
        """Return the ports."""
        whole = {port: block for port, block in self._ports.items() if not block.lacks() and not block.damaged}
        rows = tuple(_port(*port, block) for port, block in whole.items())
        cut = [
            f"port {device}/{port}: no {', '.join(block.lacks())}"
            for (device, port), block in self._ports.items()
            if block.lacks()
        ]
        missing = (*cut, None if self._ports else "no port", *self._failed)
        return IbStatus(
            tool=self.tool, source=self.source, rows=rows, failed=tuple(self._failed), **self.ending(*missing), **common
        )


def _port(device: str, port: int, block: Block) -> Port:
    return Port(
        device=device,
        port=port,
        gid=block.value("default gid"),
        base_lid=block.value("base lid"),
        sm_lid=block.value("sm lid"),
        state=block.value("state", 2),
        phys_state=block.value("phys state", 2),
        rate_gbps=number(block.value("rate", 1)),
        width=block.get("rate", 2),
        link_layer=block.value("link_layer"),
        line=block.line,
    )
