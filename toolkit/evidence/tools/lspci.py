"""`lspci -vvv`: PCI devices, and whether address translation (ATS) is enabled in them."""

import re
from collections.abc import Iterable, Mapping

from pydantic import Field

from core.wording import plural
from toolkit.evidence.criterion import Criterion, Outcome, passed, readings_of, row_proofs
from toolkit.evidence.host_parser import HostParser, HostReading, typed
from toolkit.evidence.model import Record
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import Job, Status


class PciDevice(Record):
    """A device; of one whose first line is not there (grep) only the capability is known."""

    address: str | None = Field(default=None, description="e.g. 0000:3b:00.0 or 3b:00.0; None: not shown")
    kind: str | None = Field(default=None, description="class, e.g. Infiniband controller")
    name: str | None = Field(default=None, description="vendor and device, as printed")
    numa_node: int | None = Field(default=None, description="None: not printed")
    driver: str | None = Field(default=None, description="kernel driver in use")
    capabilities: bool = Field(default=False, description="whether any is shown, which root alone sees")
    ats: bool = Field(default=False, description="whether it shows the capability Address Translation Service")
    ats_enabled: bool | None = Field(default=None, description="ATSCtl: Enable+ or Enable-; None: not printed")


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

    tool = "lspci"
    kind = LsPci
    starts = rf"{_HEAD.pattern}|\s*Capabilities: \[[0-9a-f]+(?: v\d+)?\] Address Translation|{_COMMAND}"
    command = re.compile(_COMMAND)
    contiguous = True

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[PciDevice] = []
        self._seen: set[str] = set()
        self._waits: int | None = None
        """Line of a capability whose control line has not come."""

    def _read_line(self, line: Line) -> Taken:
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
            self._update(numa_node=int(node[1]))
        elif (driver := _DRIVER.match(text)) is not None:
            self._update(driver=driver[1])
        return Taken.YES if text[0].isspace() or text == "--" else Taken.NO

    def _capability(self, name: str, line: int) -> Taken:
        if self._rows and not self._rows[-1].capabilities:
            self._update(capabilities=True)
        if name == _ATS:
            if not self._rows or (self._rows[-1].address is None and self._rows[-1].ats_enabled is not None):
                self._rows.append(PciDevice(line=line))
            self._update(ats=True)
            self._waits = line
            return Taken.YES
        if name.startswith("Address Trans"):
            return Taken.DAMAGED
        return Taken.YES if self._rows else Taken.NO

    def _control(self, match: re.Match[str] | None) -> Taken:
        if match is None or self._waits is None:
            return Taken.DAMAGED
        self._update(ats_enabled=match[1] == "+")
        self._waits = None
        return Taken.YES

    def _update(self, **fields: object) -> None:
        self._rows[-1] = self._rows[-1].model_copy(update=fields)

    def _facts(self) -> Mapping[str, object]:
        return {"rows": tuple(self._rows)}

    def _missing(self) -> Iterable[str | None]:
        waiting = f"no ATSCtl of line {self._waits}" if self._waits is not None else None
        return (None if self._rows else "no device", waiting)


def _is_adapter(row: PciDevice) -> bool:
    """Return whether it is a whole adapter for RoCE."""
    name, kind = row.name or "", row.kind or ""
    return "Mellanox" in name and "Virtual Function" not in name and kind.startswith("Ethernet")


def _ats_device(job: Job) -> Outcome | None:
    rows = [(listing.file, row) for listing in readings_of(job, LsPci) for row in listing.rows if row.ats]
    adapters = [(listing.file, row) for listing in readings_of(job, LsPci) for row in listing.rows if _is_adapter(row)]
    # The capability goes when the firmware has it off. To whom is not root lspci shows none, and without -v neither.
    if without := [(file, row) for file, row in adapters if row.capabilities and not row.ats]:
        proofs = row_proofs(without)
        return Outcome(Status.FAIL, f"{len(without)} of {len(adapters)} adapters without ATS", proofs=proofs)
    if adapters and not rows:
        return Outcome(Status.MISSING, "no capabilities shown: ask as root, by lspci -vvv")
    if not rows:
        return None
    off = [(file, row) for file, row in rows if not row.ats_enabled]
    proofs = row_proofs(off or rows)
    measured = f"off on {len(off)} of {plural(len(rows), 'device')}" if off else f"on {plural(len(rows), 'device')}"
    return Outcome(passed(not off), measured, proofs=proofs)


CRITERIA = (
    Criterion(
        name="ats-device",
        title="The adapter uses ATS",
        limit="ATSCtl: Enable+",
        unit="devices",
        tolerance="virtual functions: not all of them show it",
        applies="machines with lspci -vvv output of Mellanox Ethernet adapters, or of the ATS capability of any device",
        source="N-3.9",
        judge=_ats_device,
    ),
)
