"""`esxcli hardware pci list`: PCI devices of an ESXi host with their NUMA nodes."""

import re

from pydantic import Field

from core.model import Model
from core.wording import plural
from toolkit.evidence.block_parser import BlocksParser, compiled
from toolkit.evidence.criterion import Criterion, Outcome, opening_proofs, passed, readings_of, row_proofs
from toolkit.evidence.host_parser import HostReading
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import Job, Status
from toolkit.evidence.wording import listed


class EsxcliDevice(Model):
    """A device."""

    address: str = Field(description="e.g. 0000:3b:02.3")
    vendor: str = Field(description="e.g. NVIDIA Corporation")
    device: str = Field(description="name as printed")
    vendor_id: str = Field(description="e.g. 0x10de")
    device_id: str
    numa_node: int | None = Field(description="None: the device has none (-1)")
    passthru: bool | None = Field(description="whether it can be given to a machine; None: not printed")
    line: int


class EsxcliPci(HostReading):
    """Devices of one host, or those that were searched for."""

    rows: tuple[EsxcliDevice, ...]


_ADDRESS = r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"
_COMMAND = r"(?:\[[^\]]*\]\s*)?(?:[#$]\s*)?esxcli hardware pci list\b"
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
_OTHER = re.compile(
    r"\s+(?:Segment|Bus|Slot|Function|VMkernel Name|(?:Configured|Current) Owner|Sub(?:Vendor|Device) ID|"
    r"Device Class(?: Name)?|Programming Interface|Revision ID|Interrupt Line|IRQ|Interrupt Vector|PCI Pin|Spawned Bus|"
    r"Flags|Module (?:ID|Name)|Chassis|Physical Slot|Slot Description|Device Layer Bus Address|Parent Device|"
    r"Dependent Device|Reset Method|FPT Share?able|Extended Device (?:ID|Name)|Hardware Label|PCI Segment):"
)


class EsxcliPciParser(BlocksParser):
    """Reads the blocks; `grep` leaves parts of others around them."""

    tool = "esxcli-pci"
    kind = EsxcliPci
    starts = rf"{_ADDRESS}$|\s+Address: {_ADDRESS}$|{_COMMAND}"
    forms = _FORMS
    needed = ("Address", "Vendor Name", "Device Name", "Vendor ID", "Device ID", "NUMA Node")
    row = EsxcliDevice
    no_rows = "no device"

    def read_line(self, line: Line) -> Taken:
        """Read a line."""
        text = line.text
        if re.fullmatch(_ADDRESS, text):
            return self.open(text, line.number)
        if re.match(_COMMAND, text):
            return Taken.AGAIN if self.blocks else Taken.YES
        if self.block is None or not text[0].isspace():
            return Taken.YES if text == "--" and self.blocks else Taken.NO
        taken = self.block.read_line(text)
        return Taken.YES if taken is Taken.NO and _OTHER.match(text) else taken


_NVIDIA, _MELLANOX = "0x10de", "0x15b3"


def _same_numa(job: Job) -> Outcome | None:
    both = [
        (listing.file, row)
        for listing in readings_of(job, EsxcliPci)
        for row in listing.rows
        if row.vendor_id in (_NVIDIA, _MELLANOX)
    ]
    gpus = {row.numa_node for _, row in both if row.vendor_id == _NVIDIA}
    nics = {row.numa_node for _, row in both if row.vendor_id == _MELLANOX}
    if not gpus or not nics:
        return Outcome(
            Status.MISSING, "not both a GPU and an adapter", proofs=opening_proofs(readings_of(job, EsxcliPci))
        )
    if None in gpus | nics:
        unknown = sum(row.numa_node is None for _, row in both)
        return Outcome(
            Status.MISSING,
            f"NUMA node of {plural(unknown, 'device')} not shown",
            proofs=opening_proofs(readings_of(job, EsxcliPci)),
        )
    measured = (
        f"GPUs on {listed(map(str, sorted(gpus, key=str)))}, adapters on {listed(map(str, sorted(nics, key=str)))}"
    )
    return Outcome(passed(gpus <= nics), measured, proofs=row_proofs(both))


CRITERIA = (
    Criterion(
        name="same-numa-node",
        title="Adapters and GPUs are on the same NUMA nodes",
        limit="each GPU's NUMA node has an adapter",
        tolerance="which VM has which of the host's devices is unknown",
        applies="hosts with esxcli hardware pci output",
        source="N-4.2",
        judge=_same_numa,
    ),
)
