"""Facts of one node, each with the line that gives it; lines that contradict each other, and what they leave open."""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from toolkit.evidence.model import Reading

MOST_CPUS = 8192
"""Logical CPUs that Linux can have (CONFIG_NR_CPUS): a larger number is damaged."""
NODE = "the node"
PATH, BETWEEN_NUMA = "path to ", "CPUs of a GPU and of its NUMA node"
MEMORY, MATRIX, LSPCI = "memory", "device of the matrix", "PCI device"
"""Contradictions between facts of different kinds."""
_OF_NODE = {
    "number of GPUs": "gpus",
    "model of the GPUs": "gpu",
    "product of the GPUs": "gpu",
    "shortened model of the GPUs": "gpu",
    "architecture of the GPUs": "gpu",
    "memory of a GPU, MiB": "gpu",
    "machine": "model",
    "CPU architecture": "cpu_architecture",
    "CPU model": "cpu_model",
    "sockets": "sockets",
    "cores of a socket": "cpu_cores",
    "threads of a core": "cpu_cores",
    "logical CPUs": "cpu_cores",
    "MemTotal, KiB": "memory_gib",
    MEMORY: "memory_gib",
}
_OF_GPU = {"PCI address": "gpu_buses", "CPU affinity": "numa", "NUMA affinity": "numa", BETWEEN_NUMA: "numa"}
_OF_PORT = {
    "link layer": "link_layer",
    "rate, Gb/s": "ports",
    "CA type": "ports",
    "adapter": "ports",
    "column of the matrix": "hcas",
    "NUMA node": "hcas",
    MATRIX: "hcas",
    "interface": "hcas: netdev",
    "PCI address": "hcas: pci",
    LSPCI: "hcas: pci",
}
_IDENTITY = ("name", "UUID", "port GUID", "pod or host that prints")
"""What no two nodes have in common."""
_OF_NUMA = {"CPUs": "numa", "memory, MiB": "numa: memory_gib"}


class Fact(NamedTuple):
    """A value, and where it is from."""

    value: Any
    place: str


class Contradiction(NamedTuple):
    """Two lines that do not agree."""

    subject: str
    what: str
    text: str
    """Both values with their places."""


class Facts:
    """Facts of one node by subject and property."""

    def __init__(self) -> None:
        self._facts: dict[tuple[str, str], Fact] = {}
        self.contradictions: dict[str, Contradiction] = {}
        """What is contradicted -> the first two lines that do not agree."""
        self.incomplete: list[str] = []
        """Outputs that are cut or damaged, and what they lack."""

    def add(self, subject: str, what: str, value: Any, reading: Reading, line: int | None = None) -> None:
        """Record a fact of a line, by default of the first one; None is not known.

        Another value of the same is a contradiction, and the first one stays.
        """
        if value is None:
            return
        own = Fact(value, f"{reading.file}:{line or reading.first_line}")
        fact = self._facts.setdefault((subject, what), own)
        if fact.value != value:
            self.contradict(subject, what, fact, own)

    def contradict(self, subject: str, what: str, fact: Fact, other: Fact) -> None:
        """Record that two lines do not agree."""
        title = what if subject == NODE else f"{subject}: {what}"
        text = f"{title}: {fact.value} ({fact.place}), but {other.value} ({other.place})"
        self.contradictions.setdefault(title, Contradiction(subject, what, text))

    def get(self, subject: str, what: str) -> Any:
        """Return a value; None when it is not known."""
        fact = self.fact(subject, what)
        return fact.value if fact is not None else None

    def fact(self, subject: str, what: str) -> Fact | None:
        """Return a value with its place."""
        return self._facts.get((subject, what))

    def properties(self, subject: str) -> list[str]:
        """Return what is known of a subject."""
        return [what for name, what in self._facts if name == subject]

    def cpu_lists(self) -> dict[int, str]:
        """Return the CPUs of each NUMA node that has some."""
        lists = {int(name.split()[-1]): self.get(name, "CPUs") for name in self.subjects("CPUs")}
        return {node: text for node, text in lists.items() if text}

    def subjects(self, what: str) -> list[str]:
        """Return the subjects of which a property is known, in the order of their numbers."""
        return sorted(
            (name for name, property_name in self._facts if property_name == what), key=lambda name: (len(name), name)
        )


def of_other_nodes(contradictions: Iterable[Contradiction]) -> list[str]:
    """Return the contradictions which show that outputs are of several nodes."""
    return [contradiction.text for contradiction in contradictions if contradiction.what in _IDENTITY]


def field(contradiction: Contradiction) -> str | None:
    """Return the field that a contradiction leaves open, or `field: part`; None where it is about no field."""
    if contradiction.subject == NODE:
        return _OF_NODE.get(contradiction.what)
    if re.fullmatch(r"GPU\d+", contradiction.subject):
        between_gpus = re.fullmatch(rf"{PATH}GPU\d+", contradiction.what)
        return (
            "nvlink"
            if between_gpus
            else "hcas"
            if contradiction.what.startswith(PATH)
            else _OF_GPU.get(contradiction.what)
        )
    if contradiction.subject.startswith("NUMA node"):
        return _OF_NUMA.get(contradiction.what)
    return "hcas" if contradiction.what.startswith(PATH) else _OF_PORT.get(contradiction.what)


def leave_open(fields: dict[str, Any], missing: dict[str, str], contradiction: Contradiction) -> None:
    """Remove what a contradiction leaves open from the fields of a machine, and list it with both lines."""
    name = field(contradiction)
    if name is None:
        return
    whole, _, part = name.partition(": ")
    if not part:
        fields.pop(name, None)
    if contradiction.what == MEMORY:
        for node in fields.get("numa", ()):
            node.pop("memory_gib", None)
    for entry in fields.get(whole, ()) if part else ():
        if part in entry and (whole != "hcas" or entry["name"] == contradiction.subject):
            # Every port has the field `netdev`, which may be null.
            entry.update({part: None}) if part == "netdev" else entry.pop(part)
    missing[name] = (
        f"{missing[name]}; {contradiction.text}" if "), but " in missing.get(name, "") else contradiction.text
    )
