"""`nvidia-smi -q`: each GPU of a node, with its errors, clocks, links and power, by sections of its text form.

The XML form is read by cli/hardware.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from pydantic import Field

from core.wording import plural
from toolkit.evidence.criterion import Criterion, Outcome, opening_proofs, passed, readings_of, row_proofs
from toolkit.evidence.host_parser import HostParser, HostReading, typed
from toolkit.evidence.model import Record
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import Job
from toolkit.evidence.wording import listed


class QueriedGpu(Record):
    """One GPU of `nvidia-smi -q`. None: not printed, or N/A."""

    bus: str = Field(description="PCI address, e.g. 00000000:18:00.0")
    name: str | None = None
    architecture: str | None = Field(default=None, description="generation of the GPUs")
    uuid: str | None = None
    memory_mib: int | None = Field(default=None, description="in all, MiB")
    used_mib: int | None = Field(default=None, description="in use, MiB")
    ecc: str | None = Field(default=None, description="Enabled or Disabled, now")
    uncorrected: int | None = Field(default=None, description="uncorrectable memory errors since the last restart")
    remap_pending: bool | None = Field(default=None, description="whether rows wait to be remapped at the next reset")
    remap_failed: bool | None = Field(default=None, description="whether a row could not be remapped")
    sm_mhz: int | None = Field(default=None, description="clock of the multiprocessors now, MHz")
    most_mhz: int | None = Field(default=None, description="their highest clock, MHz")
    reasons: tuple[str, ...] = Field(default=(), description="why clocks are lower now, as printed, without Idle")
    pcie: int | None = Field(default=None, description="generation of its PCIe link now: lower while it rests")
    most_pcie: int | None = Field(default=None, description="the highest that GPU and slot can")
    width: int | None = Field(default=None, description="lanes of its PCIe link now")
    most_width: int | None = Field(default=None, description="the most that GPU and slot can")
    power_w: float | None = Field(default=None, description="drawn, in the mean of a second, W")
    power_limit_w: float | None = Field(default=None, description="limit now, W")
    default_limit_w: float | None = Field(default=None, description="limit as delivered, W")
    celsius: int | None = Field(default=None, description="temperature of the GPU, degrees C")
    fabric: str | None = Field(default=None, description="state of its registration with NVSwitches, e.g. Completed")


class NvidiaSmiQuery(HostReading):
    """What `nvidia-smi -q` prints."""

    attached: int | None = Field(description="GPUs of the node, of which -i may select some")
    rows: tuple[QueriedGpu, ...]

    def _figures(self) -> str:
        drawn = sum(row.power_w or 0 for row in self.rows)
        return plural(len(self.rows), "GPU") + (f", {drawn:.0f} W" if drawn else "")


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

    def _facts(self) -> Mapping[str, object]:
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

    def _read_line(self, line: Line) -> Taken:
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


SLOWED = frozenset({"HW Slowdown", "HW Thermal Slowdown", "HW Power Brake Slowdown", "SW Thermal Slowdown"})
"""Reasons of lower clocks that are faults; the power cap is none, it is active under full load."""
REGISTERED = "Completed"


def _faults(gpu: QueriedGpu) -> Iterator[str]:
    if gpu.ecc == "Disabled":
        yield "has ECC off"
    if gpu.uncorrected:
        yield f"has {gpu.uncorrected} uncorrectable memory errors"
    if gpu.remap_pending:
        yield "has rows to remap"
    if gpu.remap_failed:
        yield "could not remap rows"
    if slowed := [reason for reason in gpu.reasons if reason in SLOWED]:
        yield f"is slowed ({', '.join(slowed)}, {gpu.celsius} degrees)"
    if gpu.width is not None and gpu.most_width is not None and gpu.width < gpu.most_width:
        yield f"has {gpu.width} PCIe lanes, not {gpu.most_width}"
    if gpu.power_limit_w is not None and gpu.default_limit_w is not None and gpu.power_limit_w < gpu.default_limit_w:
        yield f"has a power limit of {gpu.power_limit_w:g} W, not {gpu.default_limit_w:g}"
    if gpu.fabric is not None and gpu.fabric != REGISTERED:
        yield f"is not registered with the NVSwitches ({gpu.fabric})"


def _judge(job: Job) -> Outcome | None:
    queries = readings_of(job, NvidiaSmiQuery)
    faulty = [(query, gpu, why) for query in queries for gpu in query.rows for why in _faults(gpu)]
    named = [f"GPU {gpu.bus} {why}" for _, gpu, why in faulty]
    measured = listed(named or (query.figures() for query in queries))
    proofs = row_proofs((query.file, gpu) for query, gpu, _ in faulty) or opening_proofs(queries)
    return Outcome(passed(not faulty), measured, proofs=proofs)


CRITERIA = (
    Criterion(
        name="queried-gpu-faults",
        title="nvidia-smi -q shows no GPU fault",
        limit="ECC on, no uncorrectable error, no row to remap, not slowed by hardware or temperature, all PCIe lanes, "
        "no lowered power limit, registered with the NVSwitches; what the driver does not report is not a fault",
        applies="logs of nvidia-smi -q",
        source="docs.nvidia.com/deploy/nvidia-smi",
        judge=_judge,
    ),
)
