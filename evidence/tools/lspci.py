"""`lspci -vvv`: PCI devices, and whether address translation (ATS) is enabled in them (N-3.9)."""

import re
from typing import ClassVar

from pydantic import Field

from evidence.blocks import HostParser, HostReading, typed
from evidence.parser import Common, Taken
from evidence.text import Line
from hardware.model import Model


class PciDevice(Model):
    """A device; of one whose first line is not there (grep) only the capability is known."""

    address: str | None = Field(default=None, description="e.g. 0000:3b:00.0 or 3b:00.0; None: not shown")
    kind: str | None = Field(default=None, description="class, e.g. Infiniband controller")
    name: str | None = Field(default=None, description="vendor and device, as printed")
    numa_node: int | None = Field(default=None, description="None: not printed")
    driver: str | None = Field(default=None, description="kernel driver in use")
    capabilities: bool = Field(default=False, description="whether any is shown, which root alone sees")
    ats: bool = Field(default=False, description="whether it shows the capability Address Translation Service")
    ats_enabled: bool | None = Field(default=None, description="ATSCtl: Enable+ or Enable-; None: not printed")
    line: int


class LsPci(HostReading):
    """Devices of a host or machine."""

    rows: tuple[PciDevice, ...]


_HEAD = re.compile(r"((?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) ([A-Z0-9][^:]*?)(?: \[[0-9a-f]{4}\])?: (\S.*)$")
_CAPABILITY = re.compile(r"\s*Capabilities: \[[0-9a-f]+(?: v\d+)?\] (\S.*)$")
_CONTROL = re.compile(r"\s*ATSCtl:\s+Enable([+-])(?:, Smallest Translation Unit: [0-9a-f]+)?$")
_NODE = re.compile(r"\s+NUMA node: (\d+)$")
_DRIVER = re.compile(r"\s+Kernel driver in use: (\S+)$")
_COMMAND = typed(r"lspci\b")
_ATS = "Address Translation Service (ATS)"


class LsPciParser(HostParser):
    """Reads lspci of any verbosity."""

    tool: ClassVar[str] = "lspci"
    starts: ClassVar[str] = rf"{_HEAD.pattern}|\s*Capabilities: \[[0-9a-f]+(?: v\d+)?\] Address Translation|{_COMMAND}"
    command: ClassVar[re.Pattern[str] | None] = re.compile(_COMMAND)
    contiguous: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[PciDevice] = []
        self._seen: set[str] = set()
        self._asked_of: int | None = None
        """Line of a capability whose control line has not come."""

    def take(self, line: Line) -> Taken:
        """Read a line."""
        text = line.text
        if (head := _HEAD.match(text)) is not None:
            if head[1] in self._seen:
                return Taken.AGAIN
            self._seen.add(head[1])
            self._rows.append(PciDevice(address=head[1], kind=head[2], name=head[3], line=line.number))
            return Taken.YES
        if (capability := _CAPABILITY.match(text)) is not None:
            return self._capability(capability[1], line.number)
        if text.lstrip().startswith("ATSCtl"):
            return self._control(_CONTROL.match(text))
        if not self._rows:
            return Taken.NO
        if (node := _NODE.match(text)) is not None:
            self._tell(numa_node=int(node[1]))
        elif (driver := _DRIVER.match(text)) is not None:
            self._tell(driver=driver[1])
        return Taken.YES if text[0].isspace() or text == "--" else Taken.NO

    def _capability(self, name: str, line: int) -> Taken:
        if self._rows and not self._rows[-1].capabilities:
            self._tell(capabilities=True)
        if name == _ATS:
            if not self._rows or (self._rows[-1].address is None and self._rows[-1].ats_enabled is not None):
                self._rows.append(PciDevice(line=line))
            self._tell(ats=True)
            self._asked_of = line
            return Taken.YES
        if name.startswith("Address Trans"):
            return Taken.DAMAGED
        return Taken.YES if self._rows else Taken.NO

    def _control(self, found: re.Match[str] | None) -> Taken:
        if found is None or self._asked_of is None:
            return Taken.DAMAGED
        self._tell(ats_enabled=found[1] == "+")
        self._asked_of = None
        return Taken.YES

    def _tell(self, **told: object) -> None:
        self._rows[-1] = self._rows[-1].model_copy(update=told)

    def reading(self, common: Common) -> LsPci:
        """Return the devices."""
        missing = (
            None if self._rows else "no device",
            f"no ATSCtl of line {self._asked_of}" if self._asked_of is not None else None,
        )
        ending = self.ending(*missing)
        return LsPci(tool=self.tool, source=self.source, rows=tuple(self._rows), **ending, **common)
