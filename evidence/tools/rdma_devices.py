"""`ls -l /dev/infiniband`: the devices that a pod was given (R-4.1-4)."""

import re
from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from evidence.blocks import HostParser, HostReading, typed
from evidence.parser import Common, Taken
from evidence.text import Line
from hardware.model import Model


class DeviceNode(Model):
    """A device file."""

    name: str = Field(description="e.g. uverbs0, rdma_cm")
    mode: str = Field(description="as printed, e.g. crw-rw-rw-.")
    owner: str
    group: str
    major: int
    minor: int
    line: int


class RdmaDevices(HostReading):
    """Device files of /dev/infiniband."""

    rows: tuple[DeviceNode, ...]
    failed: str | None = Field(description="what ls said when the folder was not there")

    @property
    def counts(self) -> Mapping[str, int]:
        """Files of each kind, e.g. uverbs -> 4: one an HCA."""
        kinds = [re.sub(r"\d+$", "", row.name) for row in self.rows]
        return {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}


_NAME = r"(?:issm|ucm|umad|uverbs)\d+|rdma_cm"
_DATE = r"\S+\s+\S+\s+\S+"
_ROW = re.compile(rf"(c[rwxsStT-]{{9}}[.+]?)\s+\d+\s+(\S+)\s+(\S+)\s+(\d+),\s*(\d+)\s+{_DATE}\s+({_NAME})$")
_LIKE = re.compile(rf"c[rwxsStT-]{{9}}.*\s(?:{_NAME})")
_OTHER = re.compile(r"total \d+$|d[rwxsStT-]{9}.*\s(?:by-ibdev|by-path|\.\.?)$")
_FAILED = re.compile(r"ls: cannot access '?/dev/infiniband.*")


class RdmaDevicesParser(HostParser):
    """Reads the listing."""

    tool: ClassVar[str] = "rdma-devices"
    starts: ClassVar[str] = rf"/dev/infiniband:$|ls: cannot access '?/dev/infiniband|c[rwx-]{{9}}.*\s(?:{_NAME})$"
    leads: ClassVar[str | None] = r"total \d+"
    command: ClassVar[re.Pattern[str] | None] = re.compile(typed(r"ls\b.*/dev/infiniband"))

    def __init__(self) -> None:
        super().__init__()
        self._rows: dict[str, DeviceNode] = {}
        self._failed: str | None = None
        self._here = False

    def take(self, line: Line) -> Taken:
        """Read a line."""
        if line.text.startswith("/"):
            again = bool(self._rows) and line.text == "/dev/infiniband:"
            self._here = line.text == "/dev/infiniband:"
            return Taken.AGAIN if again else Taken.YES if self._here else Taken.NO
        if (row := _ROW.match(line.text)) is not None:
            if row[6] in self._rows:
                return Taken.AGAIN
            self._rows[row[6]] = DeviceNode(
                mode=row[1],
                owner=row[2],
                group=row[3],
                major=int(row[4]),
                minor=int(row[5]),
                name=row[6],
                line=line.number,
            )
            return Taken.YES
        if (failed := _FAILED.match(line.text)) is not None:
            self._failed = failed[0]
            return Taken.YES
        if self._here and _OTHER.match(line.text):
            return Taken.YES
        return Taken.DAMAGED if _LIKE.match(line.text) else Taken.NO

    def reading(self, common: Common) -> RdmaDevices:
        """Return the devices."""
        missing = self._failed if self._failed else None if self._rows else "no device"
        return RdmaDevices(
            tool=self.tool,
            source=self.source,
            rows=tuple(self._rows.values()),
            failed=self._failed,
            **self.ending(missing),
            **common,
        )
