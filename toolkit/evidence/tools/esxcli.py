"""`esxcli` of an ESXi host: options of its kernel, of which atsSupport is one; PCI devices with their NUMA nodes."""

import re

from pydantic import Field

from core.wording import plural
from toolkit.evidence.block_parser import BlocksParser, compiled
from toolkit.evidence.criterion import Criterion, Outcome, opening_proofs, passed, readings_of, row_proofs
from toolkit.evidence.host_parser import HostReading, RowsParser, record
from toolkit.evidence.model import Record
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import Job, Status
from toolkit.evidence.wording import listed


class KernelOption(Record):
    """An option."""

    name: str
    kind: str = Field(description="e.g. Bool")
    configured: str = Field(description="from the next boot on, e.g. TRUE")
    runtime: str = Field(description="now, e.g. TRUE")
    default: str


class EsxcliKernel(HostReading):
    """Options of one host."""

    rows: tuple[KernelOption, ...]

    def option(self, name: str) -> KernelOption | None:
        """Return an option, None when it is not listed."""
        return next((row for row in self.rows if row.name == name), None)


_KERNEL_COMMAND = r"(?:\[[^\]]*\]\s*)?(?:[#$]\s*)?esxcli system settings kernel (list|set)\b"
_HEADER = re.compile(r"Name\s+Type\s+Configured\s+Runtime\s+Default\s+Description$")
_RULE = re.compile(r"-+(?:\s+-+){5}$")
_ROW = re.compile(
    r"(?P<name>\w+)\s+(?P<kind>Bool|String|u?int(?:8|16|32|64))\s+(?P<configured>\S+)\s+(?P<runtime>\S+)"
    r"\s+(?P<default>\S+)\s+\S.*$",
    re.IGNORECASE,
)


class EsxcliKernelParser(RowsParser):
    """Reads the table."""

    tool = "esxcli-kernel"
    kind = EsxcliKernel
    starts = rf"{_HEADER.pattern}|{_KERNEL_COMMAND.replace('(list|set)', 'list')}"
    contiguous = True
    no_rows = "no option"

    def __init__(self) -> None:
        super().__init__()
        self._headed = self._ruled = False

    def _read_line(self, line: Line) -> Taken:
        text = line.text
        if (command := re.match(_KERNEL_COMMAND, text)) is not None:
            return Taken.AGAIN if self._headed else Taken.YES if command[1] == "list" else Taken.NO
        if _HEADER.match(text):
            again, self._headed = self._headed, True
            return Taken.AGAIN if again else Taken.YES
        if self._headed and not self._ruled and _RULE.match(text):
            self._ruled = True
            return Taken.YES
        if not self._ruled or (row := _ROW.match(text)) is None:
            cut = self._headed and re.match(r"\w+\s+(?:Bool|String|u?int)", text)
            return Taken.DAMAGED if cut else Taken.NO
        return self.add(row["name"], record(KernelOption, row, line), Taken.DAMAGED)


def _ats_host(job: Job) -> Outcome | None:
    listings = readings_of(job, EsxcliKernel)
    options = [(listing.file, option) for listing in listings if (option := listing.option("atsSupport")) is not None]
    if not options:
        return Outcome(Status.MISSING, "atsSupport is not listed", proofs=opening_proofs(listings))
    enabled = all((option.configured, option.runtime) == ("TRUE", "TRUE") for _, option in options)
    _, last = options[-1]
    proofs = row_proofs(options)
    return Outcome(passed(enabled), f"configured {last.configured}, runtime {last.runtime}", proofs=proofs)


class EsxcliDevice(Record):
    """A device."""

    address: str = Field(description="e.g. 0000:3b:02.3")
    vendor: str = Field(description="e.g. NVIDIA Corporation")
    device: str = Field(description="name as printed")
    vendor_id: str = Field(description="e.g. 0x10de")
    device_id: str
    numa_node: int | None = Field(description="None: the device has none (-1)")
    passthru: bool | None = Field(description="whether it can be given to a machine; None: not printed")


class EsxcliPci(HostReading):
    """Devices of one host, or those that were searched for."""

    rows: tuple[EsxcliDevice, ...]


_ADDRESS = r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"
_PCI_COMMAND = r"(?:\[[^\]]*\]\s*)?(?:[#$]\s*)?esxcli hardware pci list\b"
_FORMS = compiled(
    {
        "Address": rf"(?P<address>{_ADDRESS})",
        "Vendor Name": r"(?P<vendor>.*)",
        "Device Name": r"(?P<device>.*)",
        "Vendor ID": r"(?P<vendor_id>0x[0-9a-f]{4})",
        "Device ID": r"(?P<device_id>0x[0-9a-f]{4})",
        "NUMA Node": r"(?P<numa_node>\d+)|-\d+",
        "Passthru Capable": r"(?P<passthru>true|false)",
    }
)
_OTHER_KEYS = re.compile(
    r"\s+(?:Segment|Bus|Slot|Function|VMkernel Name|(?:Configured|Current) Owner|Sub(?:Vendor|Device) ID|"
    r"Device Class(?: Name)?|Programming Interface|Revision ID|Interrupt Line|IRQ|Interrupt Vector|PCI Pin|Spawned Bus|"
    r"Flags|Module (?:ID|Name)|Chassis|Physical Slot|Slot Description|Device Layer Bus Address|Parent Device|"
    r"Dependent Device|Reset Method|FPT Share?able|Extended Device (?:ID|Name)|Hardware Label|PCI Segment):"
)


class EsxcliPciParser(BlocksParser):
    """Reads the blocks; `grep` leaves parts of others around them."""

    tool = "esxcli-pci"
    kind = EsxcliPci
    starts = rf"{_ADDRESS}$|\s+Address: {_ADDRESS}$|{_PCI_COMMAND}"
    forms = _FORMS
    needed = ("Address", "Vendor Name", "Device Name", "Vendor ID", "Device ID", "NUMA Node")
    row = EsxcliDevice
    no_rows = "no device"

    def _read_line(self, line: Line) -> Taken:
        text = line.text
        if re.fullmatch(_ADDRESS, text):
            return self.open(text, line.number)
        if re.match(_PCI_COMMAND, text):
            return Taken.AGAIN if self.blocks else Taken.YES
        if self.block is None or not text[0].isspace():
            return Taken.YES if text == "--" and self.blocks else Taken.NO
        taken = self.block.read_line(text)
        return Taken.YES if taken is Taken.NO and _OTHER_KEYS.match(text) else taken


_NVIDIA, _MELLANOX = "0x10de", "0x15b3"


def _same_numa(job: Job) -> Outcome | None:
    listings = readings_of(job, EsxcliPci)
    rows = [(listing.file, row) for listing in listings for row in listing.rows]
    both = [(file, row) for file, row in rows if row.vendor_id in (_NVIDIA, _MELLANOX)]
    gpus = {row.numa_node for _, row in both if row.vendor_id == _NVIDIA}
    nics = {row.numa_node for _, row in both if row.vendor_id == _MELLANOX}
    if not gpus or not nics:
        return Outcome(Status.MISSING, "not both a GPU and an adapter", proofs=opening_proofs(listings))
    if None in gpus | nics:
        unknown = plural(sum(row.numa_node is None for _, row in both), "device")
        return Outcome(Status.MISSING, f"NUMA node of {unknown} not shown", proofs=opening_proofs(listings))
    on_gpus, on_nics = (listed(sorted(map(str, nodes))) for nodes in (gpus, nics))
    return Outcome(passed(gpus <= nics), f"GPUs on {on_gpus}, adapters on {on_nics}", proofs=row_proofs(both))


CRITERIA = (
    Criterion(
        name="ats-host",
        title="The host's kernel supports ATS",
        limit="Configured TRUE, Runtime TRUE",
        applies="hosts with esxcli system settings kernel output",
        source="N-2.2",
        needs=("esxcli-kernel",),
        judge=_ats_host,
    ),
    Criterion(
        name="same-numa-node",
        title="Adapters and GPUs are on the same NUMA nodes",
        limit="each GPU's NUMA node has an adapter",
        tolerance="which VM has which of the host's devices is unknown",
        applies="hosts with esxcli hardware pci output",
        source="N-4.2",
        needs=("esxcli-pci",),
        judge=_same_numa,
    ),
)
