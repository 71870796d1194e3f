"""`esxcli hardware pci list`: PCI devices of an ESXi host with their NUMA nodes (N-4.1)."""

import re
from typing import ClassVar

from pydantic import Field

from evidence.blocks import Block, HostParser, HostReading, compiled
from evidence.parser import Common, Taken
from evidence.text import Line
from hardware.model import Model


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
    """Devices of one host, or those that were looked for."""

    rows: tuple[EsxcliDevice, ...]


_ADDRESS = r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"
_COMMAND = r"(?:\[[^\]]*\]\s*)?(?:[#$]\s*)?esxcli hardware pci list\b"
_FORMS = compiled(
    {
        "Address": _ADDRESS,
        "Vendor Name": r".*",
        "Device Name": r".*",
        "Vendor ID": r"0x[0-9a-f]{4}",
        "Device ID": r"0x[0-9a-f]{4}",
        "NUMA Node": r"-?\d+",
        "Passthru Capable": r"true|false",
    }
)
_NEEDED = ("Address", "Vendor Name", "Device Name", "Vendor ID", "Device ID", "NUMA Node")
_OTHER = re.compile(
    r"\s+(?:Segment|Bus|Slot|Function|VMkernel Name|(?:Configured|Current) Owner|Sub(?:Vendor|Device) ID|"
    r"Device Class(?: Name)?|Programming Interface|Revision ID|Interrupt Line|IRQ|Interrupt Vector|PCI Pin|Spawned Bus|"
    r"Flags|Module (?:ID|Name)|Chassis|Physical Slot|Slot Description|Device Layer Bus Address|Parent Device|"
    r"Dependent Device|Reset Method|FPT Share?able|Extended Device (?:ID|Name)|Hardware Label|PCI Segment):"
)


class EsxcliPciParser(HostParser):
    """Reads the blocks; `grep` leaves parts of others around them."""

    tool: ClassVar[str] = "esxcli-pci"
    starts: ClassVar[str] = rf"{_ADDRESS}$|\s+Address: {_ADDRESS}$|{_COMMAND}"

    def __init__(self) -> None:
        super().__init__()
        self._blocks: dict[str, Block] = {}
        self._block: Block | None = None

    def take(self, line: Line) -> Taken:
        """Read a line."""
        text = line.text
        if re.fullmatch(_ADDRESS, text):
            if text in self._blocks:
                return Taken.AGAIN
            self._block = self._blocks[text] = Block(_FORMS, line.number)
            return Taken.YES
        if re.match(_COMMAND, text):
            return Taken.AGAIN if self._blocks else Taken.YES
        if self._block is None or not text[0].isspace():
            return Taken.YES if text == "--" and self._blocks else Taken.NO
        taken = self._block.take(text)
        return Taken.YES if taken is Taken.NO and _OTHER.match(text) else taken

    def reading(self, common: Common) -> EsxcliPci:
        """Return the devices."""
        cut = [
            f"{address}: no {', '.join(block.lacks(*_NEEDED))}"
            for address, block in self._blocks.items()
            if block.lacks(*_NEEDED)
        ]
        whole = [block for block in self._blocks.values() if not block.lacks(*_NEEDED) and not block.damaged]
        ending = self.ending(*cut, None if self._blocks else "no device")
        return EsxcliPci(tool=self.tool, source=self.source, rows=tuple(map(_device, whole)), **ending, **common)


def _device(block: Block) -> EsxcliDevice:
    node, passthru = int(block.value("NUMA Node")), block.get("Passthru Capable")
    return EsxcliDevice(
        address=block.value("Address"),
        vendor=block.value("Vendor Name"),
        device=block.value("Device Name"),
        vendor_id=block.value("Vendor ID"),
        device_id=block.value("Device ID"),
        numa_node=node if node >= 0 else None,
        passthru=None if passthru is None else passthru == "true",
        line=block.line,
    )
