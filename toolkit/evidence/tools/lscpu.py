"""lscpu, also as JSON (-J): CPUs and their NUMA nodes."""

import re
from collections.abc import Iterable, Mapping

from pydantic import Field

from core.hardware import cpus
from core.hardware.profiles import PROFILES
from toolkit.evidence.criterion import Criterion, Outcome, passed, proofs_at, readings_of
from toolkit.evidence.host_parser import HostParser, HostReading, typed
from toolkit.evidence.model import Record
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import Job, Proof
from toolkit.evidence.wording import listed


class NumaNode(Record):
    """CPUs of a NUMA node."""

    node: int
    cpus: str = Field(description="list, e.g. 0-15,128-143; empty: a node with memory only")


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

    tool = "lscpu"
    kind = LsCpu
    starts = (
        r"Architecture:\s+\S+$|CPU\(s\):\s+\d+$|NUMA node(?:\(s\):|\d+ CPU\(s\):)|\s*(?:\{\s*)?\"lscpu\"\s*:|"
        + typed(r"lscpu\b")
    )
    leads = r"\{"
    command = re.compile(typed(r"lscpu\b"))
    contiguous = True

    def __init__(self) -> None:
        super().__init__()
        self._texts: dict[str, str] = {}
        self._figures: dict[str, int] = {}
        self._rows: dict[int, NumaNode] = {}
        self._json = self._closed = False
        self._key: str | None = None

    def _read_line(self, line: Line) -> Taken:
        if '"lscpu"' in line.text:
            again = self._json or bool(self._texts or self._rows)
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
            if _TEXT[key] in self._texts:
                return Taken.AGAIN
            self._texts[_TEXT[key]] = value
            return Taken.YES
        if key in _FIGURES:
            return self._figure(_FIGURES[key], value)
        return Taken.YES if self._json or _OTHER.match(line.text) else Taken.NO

    def _figure(self, field: str, value: str) -> Taken:
        if value == "-":
            # What the kernel does not report, as sockets of an A64FX.
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

    def _facts(self) -> Mapping[str, object]:
        texts = {name: self._texts.get(name) for name in _TEXT.values()}
        figures = {name: self._figures.get(name) for name in _FIGURES.values()}
        return {**texts, **figures, "rows": tuple(self._rows.values())}

    def _missing(self) -> Iterable[str | None]:
        nodes = self._figures.get("numa_nodes")
        return (
            None if nodes is not None else "no number of NUMA nodes",
            None if "cpus" in self._figures else "no number of CPUs",
            f"{len(self._rows)} of {nodes} NUMA nodes" if nodes is not None and nodes != len(self._rows) else None,
            "no end of the JSON" if self._json and not self._closed else None,
        )


def _numa(job: Job) -> Outcome | None:
    profile = PROFILES[job.request.profile or ""]
    # As text: lscpu writes the shortest list, and one that was damaged may name any number of CPUs.
    planned = {node.id: cpus.write(node.cpu_set) for node in profile.numa}
    faults: list[str] = []
    proofs: list[Proof] = []
    other = False
    for output in readings_of(job, LsCpu):
        wrong = [row for row in output.rows if planned.get(row.node) != row.cpus]
        faults += [f"node {row.node}: {row.cpus}" for row in wrong]
        other = other or bool(wrong)
        faults += [f"no node {node}" for node in sorted(planned.keys() - {row.node for row in output.rows})]
        proofs += proofs_at(output.file, *[row.line for row in wrong or output.rows])
    measured = listed(faults, 4) if faults else f"{len(planned)} NUMA nodes"
    limit = f"{len(planned)} NUMA nodes with their CPUs"
    return Outcome(passed(not faults), measured, limit, tuple(proofs), short=not other)


CRITERIA = (
    Criterion(
        name="numa-nodes",
        title="CPUs are on the NUMA nodes of the profile",
        limit="the profile's NUMA nodes, each with its CPUs",
        unit="nodes",
        applies="jobs with lscpu output, of a profile whose NUMA nodes a document prints",
        source="D-2.5, R-4.4-3",
        judge=_numa,
        when=lambda request: request.profile in PROFILES and bool(PROFILES[request.profile or ""].numa),
    ),
)
