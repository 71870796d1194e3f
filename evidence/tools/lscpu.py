"""lscpu, also as JSON (-J): CPUs and their NUMA nodes (D-2.5)."""

import re
from typing import ClassVar

from pydantic import Field

from evidence.blocks import HostParser, HostReading, typed
from evidence.parser import Common, Taken
from evidence.text import Line
from hardware.model import Model


class NumaNode(Model):
    """CPUs of a NUMA node."""

    node: int
    cpus: str = Field(description="list, e.g. 0-15,128-143; empty: a node with memory only")
    line: int


class LsCpu(HostReading):
    """CPUs of a host; tool_version is not printed. A figure that was not printed is None."""

    architecture: str | None
    model: str | None
    cpus: int | None = Field(description="logical CPUs")
    sockets: int | None
    cores_per_socket: int | None
    threads_per_core: int | None
    numa_nodes: int | None = Field(description="as printed; compare with rows")
    rows: tuple[NumaNode, ...]


_LIST = r"(?:\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*)?"
_NUMA = re.compile(r"NUMA node(\d+) CPU\(s\):?$")
_TEXT = {"Architecture": "architecture", "Model name": "model"}
_FIGURES = {
    "CPU(s)": "cpus",
    "Socket(s)": "sockets",
    "Core(s) per socket": "cores_per_socket",
    "Thread(s) per core": "threads_per_core",
    "NUMA node(s)": "numa_nodes",
}
_OTHER = re.compile(
    r"\s*(?:CPU op-mode|Byte Order|Address sizes|On-line CPU|Off-line CPU|Vendor ID|CPU family|Model|Stepping|CPU MHz|"
    r"CPU max MHz|CPU min MHz|CPU\(s\) scaling MHz|Frequency boost|BogoMIPS|Virtualization|Hypervisor vendor|Caches|"
    r"L[123][di]?(?: cache)?|Flags|NUMA|Vulnerabilit|BIOS|Core\(s\) per cluster|Cluster\(s\)|Book|Drawer|Physical|"
    r"Itlb|Meltdown|Spec|Mds|L1tf|Mmio|Retbleed|Srbds|Tsx|Gather|Reg file|Indirect target|Tsa|Vmscape|Ghostwrite|Old "
    r"microcode)[^:]*:"
)
_PAIR = re.compile(r"\s*([A-Z][^:]*?):\s*(.*)$")
_WHOLE = re.compile(r'\s*\{?\s*"field"\s*:\s*"([^"]+?):?"\s*,\s*"data"\s*:\s*(?:"([^"]*)"|null)\s*\}?,?(?:\s*[\]}]*)$')
_KEY = re.compile(r'\s*"field"\s*:\s*"([^"]+?):?"\s*,?$')
_DATA = re.compile(r'\s*"data"\s*:\s*(?:"([^"]*)"|null)\s*,?$')
_FRAME = re.compile(r'\s*(?:\{?\s*"lscpu"\s*:\s*\[|"children"\s*:\s*\[|[\[\]{}]+\s*,?(?:\s*\{)?)\s*$')


class LsCpuParser(HostParser):
    """Reads both forms."""

    tool: ClassVar[str] = "lscpu"
    starts: ClassVar[str] = (
        r"Architecture:\s+\S+$|CPU\(s\):\s+\d+$|NUMA node(?:\(s\):|\d+ CPU\(s\):)|\s*(?:\{\s*)?\"lscpu\"\s*:|"
        + typed(r"lscpu\b")
    )
    leads: ClassVar[str | None] = r"\{"
    command: ClassVar[re.Pattern[str] | None] = re.compile(typed(r"lscpu\b"))
    contiguous: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self._told: dict[str, str] = {}
        self._figures: dict[str, int] = {}
        self._rows: dict[int, NumaNode] = {}
        self._json = self._closed = False
        self._key: str | None = None

    def take(self, line: Line) -> Taken:
        """Read a line."""
        if '"lscpu"' in line.text:
            again = self._json or bool(self._told or self._rows)
            self._json = True
            return Taken.AGAIN if again else Taken.YES
        if self._json:
            return Taken.NO if self._closed else self._of_json(line)
        if (pair := _PAIR.match(line.text)) is not None:
            return self._value(pair[1], pair[2], line)
        return Taken.YES if line.text == "..." else Taken.NO

    def _of_json(self, line: Line) -> Taken:
        text = line.text
        if (whole := _WHOLE.match(text)) is not None:
            taken = self._value(whole[1], whole[2] or "", line)
            return Taken.YES if taken is Taken.NO else taken
        if (key := _KEY.match(text)) is not None:
            self._key = key[1]
            return Taken.YES
        if (data := _DATA.match(text)) is not None and self._key is not None:
            taken, self._key = self._value(self._key, data[1] or "", line), None
            return Taken.YES if taken is Taken.NO else taken
        if _FRAME.match(text):
            self._closed = text == "}"
            return Taken.YES
        return Taken.DAMAGED

    def _value(self, key: str, value: str, line: Line) -> Taken:
        if (node := _NUMA.match(key)) is not None:
            return self._node(int(node[1]), value, line.number)
        if key in _TEXT:
            if _TEXT[key] in self._told:
                return Taken.AGAIN
            self._told[_TEXT[key]] = value
            return Taken.YES
        if key in _FIGURES:
            return self._figure(_FIGURES[key], value)
        return Taken.YES if self._json or _OTHER.match(line.text) else Taken.NO

    def _figure(self, field: str, value: str) -> Taken:
        if value == "-":
            # What the kernel does not tell, as sockets of an A64FX.
            return Taken.YES
        if not value.isascii() or not value.isdecimal():
            return Taken.DAMAGED
        if field in self._figures:
            return Taken.AGAIN
        self._figures[field] = int(value)
        return Taken.YES

    def _node(self, node: int, cpus: str, line: int) -> Taken:
        if re.fullmatch(_LIST, cpus) is None:
            return Taken.DAMAGED
        if node in self._rows:
            return Taken.AGAIN
        self._rows[node] = NumaNode(node=node, cpus=cpus, line=line)
        return Taken.YES

    def reading(self, common: Common) -> LsCpu:
        """Return the CPUs."""
        nodes = self._figures.get("numa_nodes")
        missing = (
            None if nodes is not None else "no number of NUMA nodes",
            None if "cpus" in self._figures else "no number of CPUs",
            f"{len(self._rows)} of {nodes} NUMA nodes" if nodes is not None and nodes != len(self._rows) else None,
            "no end of the JSON" if self._json and not self._closed else None,
        )
        return LsCpu(
            tool=self.tool,
            source=self.source,
            architecture=self._told.get("architecture"),
            model=self._told.get("model"),
            cpus=self._figures.get("cpus"),
            sockets=self._figures.get("sockets"),
            cores_per_socket=self._figures.get("cores_per_socket"),
            threads_per_core=self._figures.get("threads_per_core"),
            numa_nodes=nodes,
            rows=tuple(self._rows.values()),
            **self.ending(*missing),
            **common,
        )
