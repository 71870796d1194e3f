"""ibhosts: the channel adapters that the subnet shows (R-4.1-7)."""

import re
from typing import ClassVar

from pydantic import Field

from evidence.blocks import HostParser, HostReading, typed
from evidence.parser import Common, Taken
from evidence.text import Line
from hardware.model import Model


class ChannelAdapter(Model):
    """An adapter of a host, or the aggregation node of a switch."""

    guid: str = Field(description="node GUID, e.g. 0x248a0703001f0426")
    ports: int
    name: str = Field(description="node description, e.g. dgx02 HCA-3")
    line: int

    @property
    def aggregation_node(self) -> bool:
        """Whether it is the part of a switch that reduces (SHARP)."""
        return "Aggregation Node" in self.name


class IbHosts(HostReading):
    """The subnet as one HCA sees it."""

    hca: str | None = Field(description="through which it was asked (-C), e.g. mlx5_0; None: not told")
    rows: tuple[ChannelAdapter, ...]
    failed: tuple[str, ...] = Field(description="errors that the tool printed")
    excuse: str | None = Field(default=None, description="why there is no list, as our RDMA test says it")


_ROW = re.compile(r'Ca\s*: (0x[0-9a-f]{16}) ports (\d+) "(.*)"$')
_FAILED = re.compile(
    r"ibwarn: |ibpanic: |.*\bibnetdisc\w*[.: ].*fail|.*[Ff]ailed to .*(?:umad|UMAD|MAD)|discover failed"
)
_SAID = re.compile(r"[\w.-]+: no list of hosts, ")
"""What our RDMA test says where the tool may not ask, or could not."""
_HCA = re.compile(r"(?:-C|--Ca)[ =]?([\w.-]+)")


class IbHostsParser(HostParser):
    """Reads ibhosts; a GUID that comes again begins another run."""

    tool: ClassVar[str] = "ibhosts"
    starts: ClassVar[str] = rf"Ca\s*: 0x|{typed('ibhosts')}\b"
    command: ClassVar[re.Pattern[str] | None] = re.compile(typed(r"ibhosts\b"))
    traced: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self._hca: str | None = None
        self._rows: dict[str, ChannelAdapter] = {}
        self._failed: list[str] = []
        self._excuse: str | None = None

    def asked(self, text: str) -> None:
        """Read which HCA was asked."""
        found = _HCA.search(text)
        self._hca = found[1] if found else None

    def take(self, line: Line) -> Taken:
        """Read a line."""
        if (row := _ROW.match(line.text)) is not None:
            if row[1] in self._rows:
                return Taken.AGAIN
            self._rows[row[1]] = ChannelAdapter(guid=row[1], ports=int(row[2]), name=row[3], line=line.number)
            return Taken.YES
        if _FAILED.match(line.text):
            self._failed.append(line.text)
            return Taken.YES
        if _SAID.match(line.text):
            self._excuse = line.text
            return Taken.YES
        return Taken.DAMAGED if re.match(r"Ca\s*:", line.text) else Taken.NO

    def reading(self, common: Common) -> IbHosts:
        """Return the adapters."""
        missing = (None if self._rows else "no adapter", *self._failed)
        return IbHosts(
            tool=self.tool,
            source=self.source,
            hca=self._hca,
            rows=tuple(self._rows.values()),
            failed=tuple(self._failed),
            excuse=self._excuse,
            **self.ending(*missing),
            **common,
        )
