"""Reads the text form of `nvidia-smi -q`: sections by their indentation. The XML form is read by cli/hardware."""

import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from toolkit.evidence.host_parser import HostParser, typed
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.tools.nvidia_smi_query.model import NvidiaSmiQuery, QueriedGpu

QUERY = r"nvidia-smi (?=(?:.* )?(?:-q|-a|--query)(?: |$))"
AS_XML = r"(?=(?:.* )?(?:-x|--xml-format)(?: |$))"
BUS = r"[0-9A-Fa-f]{8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]"
_INDENT = 4
_NOT_GIVEN = "N/A"
_NUMBER = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)(?: ?(?:MiB|MHz|W|C|x|bank\(s\)))?", re.ASCII)
Path = tuple[str, ...]


def whole(text: str) -> int | None:
    """Return a number of up to nine digits, with or without its unit; None for anything else."""
    match = _NUMBER.fullmatch(text.strip())
    return int(float(match[1])) if match else None


def _part(text: str) -> float | None:
    match = _NUMBER.fullmatch(text.strip())
    return float(match[1]) if match else None


def _yes(text: str) -> bool | None:
    return {"Yes": True, "No": False}.get(text)


FIELDS: Mapping[Path, tuple[str, Callable[[str], object]]] = {
    ("Product Name",): ("name", str),
    ("Product Architecture",): ("architecture", str),
    ("GPU UUID",): ("uuid", str),
    ("FB Memory Usage", "Total"): ("memory_mib", whole),
    ("FB Memory Usage", "Used"): ("used_mib", whole),
    ("ECC Mode", "Current"): ("ecc", str),
    ("Remapped Rows", "Pending"): ("remap_pending", _yes),
    ("Remapped Rows", "Remapping Failure Occurred"): ("remap_failed", _yes),
    ("Clocks", "SM"): ("sm_mhz", whole),
    ("Max Clocks", "SM"): ("most_mhz", whole),
    ("PCI", "GPU Link Info", "PCIe Generation", "Current"): ("pcie", whole),
    ("PCI", "GPU Link Info", "PCIe Generation", "Max"): ("most_pcie", whole),
    ("PCI", "GPU Link Info", "Link Width", "Current"): ("width", whole),
    ("PCI", "GPU Link Info", "Link Width", "Max"): ("most_width", whole),
    # The names before driver 530 are those without GPU in front.
    ("Power Readings", "Power Draw"): ("power_w", _part),
    ("Power Readings", "Power Limit"): ("power_limit_w", _part),
    ("Power Readings", "Default Power Limit"): ("default_limit_w", _part),
    ("GPU Power Readings", "Power Draw"): ("power_w", _part),
    ("GPU Power Readings", "Average Power Draw"): ("power_w", _part),
    ("GPU Power Readings", "Current Power Limit"): ("power_limit_w", _part),
    ("GPU Power Readings", "Default Power Limit"): ("default_limit_w", _part),
    ("Temperature", "GPU Current Temp"): ("celsius", whole),
    ("Fabric", "State"): ("fabric", str),
}
"""Section, and key in it -> field, and how its value is read."""
_REASONS = ("Clocks Event Reasons", "Clocks Throttle Reasons")
_VOLATILE = ("ECC Errors", "Volatile")


class QueryParser(HostParser):
    """What both forms have in common."""

    kind = NvidiaSmiQuery

    def __init__(self) -> None:
        super().__init__()
        self.attached: int | None = None
        self.gpus: dict[str, QueriedGpu] = {}

    def begin(self, bus: str, line: Line) -> Taken:
        """Begin a GPU; one that comes again begins another output."""
        if bus in self.gpus:
            return Taken.AGAIN
        self.gpus[bus] = QueriedGpu(bus=bus.lower(), line=line.number)
        return Taken.YES

    def put(self, **fields: Any) -> None:
        """Set fields of the last GPU."""
        if self.gpus:
            bus, last = next(reversed(self.gpus.items()))
            self.gpus[bus] = last.model_copy(update=fields)

    def set_value(self, path: Path, value: str) -> None:
        """Set the field of a path, where there is one and a value is given."""
        field, read = FIELDS.get(path, (None, str))
        if field is not None and value != _NOT_GIVEN:
            self.put(**{field: read(value)})

    def facts(self) -> Mapping[str, object]:
        """Return the GPUs."""
        return {"attached": self.attached, "rows": tuple(self.gpus.values())}


class NvidiaSmiQueryParser(QueryParser):
    """Reads the text form."""

    tool = "nvidia-smi-query"
    command = re.compile(typed(rf"{QUERY}(?!{AS_XML})"))
    starts = rf"=+NVSMI LOG=+$|{command.pattern}"
    _gpu: ClassVar = re.compile(rf"GPU ({BUS})$")
    _head: ClassVar = re.compile(r"(?:Timestamp|Driver Version|CUDA Version|Attached GPUs)\s+: (.*)$")
    # A matrix that was copied with blanks is indented as well, and begins with GPU0; labels of a node have a slash.
    _inner: ClassVar = re.compile(r"((?: {4})+)(?!GPU\d)[A-Za-z][^/=:]*(?::|$)")

    def __init__(self) -> None:
        super().__init__()
        self._sections: list[str] = []

    def read_line(self, line: Line) -> Taken:
        """Read a line."""
        text = line.text
        if text.startswith("="):
            return Taken.AGAIN if self.gpus else Taken.YES
        if (gpu := self._gpu.match(text)) is not None:
            self._sections = []
            return self.begin(gpu[1], line)
        if (head := self._head.match(text)) is not None:
            if text.startswith("Attached"):
                self.attached = whole(head[1])
            return Taken.YES
        inner = self._inner.match(text)
        return Taken.NO if inner is None else self._value(len(inner[1]), *map(str.strip, text.split(":", 1)))

    def _value(self, indent: int, key: str, value: str = "") -> Taken:
        above = self._sections[: indent // _INDENT - 1]
        if not value:
            self._sections = [*above, key]
            return Taken.YES
        path = (*above, key)
        self.set_value(path, value)
        if path[0] in _REASONS and value == "Active" and key != "Idle":
            self._add_reason(key)
        elif path[:2] == _VOLATILE and ("Uncorrectable" in key or path[2:] == ("Double Bit", "Total")):
            self._add_errors(whole(value))
        # What follows deeper, as the reasons of a slow-down by hardware do, belongs to this key.
        self._sections = [*above, key]
        return Taken.YES

    def _add_reason(self, reason: str) -> None:
        if self.gpus:
            self.put(reasons=(*self._last.reasons, reason))

    def _add_errors(self, count: int | None) -> None:
        if self.gpus and count is not None:
            self.put(uncorrected=(self._last.uncorrected or 0) + count)

    @property
    def _last(self) -> QueriedGpu:
        return next(reversed(self.gpus.values()))
