"""Bills of material: what is bought for each role, how many nodes that makes, and whether the figures agree.

A document states totals beside the parts. Here they are calculated from the parts and compared with what the document
states, so that a wrong total is found before it is bought or planned with.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field

from core.data_files import DataFiles, read, validate
from core.hardware.profiles import Profile
from core.model import Model

_THREADS = 2
"""Of a core, with hyper-threading."""
_SPEEDS: Mapping[str, int] = {"ER26": 2666, "ER29": 2933}
"""Endings of Supermicro's part numbers of memory modules, and what they mean in MHz."""

Use = Literal["raw", "mirrored", "other"]


class Cpus(Model):
    """Processors of a node."""

    model: str
    part: str
    count: int = Field(gt=0)
    cores: int = Field(gt=0, description="of one processor")
    stated_threads: int = Field(description="threads of the node, as the document has them")

    @property
    def threads(self) -> int:
        """Threads of all processors."""
        return self.count * self.cores * _THREADS


class Memory(Model):
    """Memory modules of a node."""

    part: str
    count: int = Field(gt=0)
    module_gib: int = Field(gt=0)
    mhz: int = Field(gt=0, description="as the description has it")
    stated_gib: int

    @property
    def gib(self) -> int:
        """GiB of all modules."""
        return self.count * self.module_gib

    @property
    def part_mhz(self) -> int | None:
        """MHz of the part number, None for an unknown one."""
        return _SPEEDS.get(self.part.rpartition("-")[2])


class Drives(Model):
    """Drives of one kind in a node."""

    kind: Literal["SSD", "NVMe"]
    part: str | None = Field(default=None, description="None: the document gives none")
    count: int = Field(gt=0)
    drive_gb: int = Field(gt=0, description="decimal GB of one drive")
    stated_gb: int = Field(description="as the document has it")

    @property
    def raw_gb(self) -> int:
        """GB of all drives."""
        return self.count * self.drive_gb

    @property
    def stated_as(self) -> Use:
        """What the stated size means: that of all drives, or of one side of a mirror."""
        uses: dict[int, Use] = {self.raw_gb // 2: "mirrored", self.raw_gb: "raw"}
        return uses.get(self.stated_gb, "other")


class Adapter(Model):
    """Network adapters of one kind in a node; `ports` are of one adapter, Gb/s -> number."""

    part: str
    count: int = Field(gt=0)
    ports: dict[int, int]


class Node(Model):
    """One node of a role."""

    server: str | None = Field(default=None, description="model, where the list of parts names it")
    cpus: Cpus
    memory: Memory
    drives: tuple[Drives, ...] = Field(min_length=1)
    adapters: tuple[Adapter, ...] = Field(min_length=1)
    gpus: int = Field(default=0, ge=0)

    def ports(self, gbps: int) -> int:
        """Return the number of its ports of one rate."""
        return sum(adapter.count * adapter.ports.get(gbps, 0) for adapter in self.adapters)


class Chassis(Model):
    """Machines of one model, and which roles their nodes have."""

    server: str
    quantity: int = Field(gt=0)
    nodes_each: int = Field(default=1, gt=0)
    roles: dict[str, int] = Field(min_length=1, description="role -> nodes")

    @property
    def nodes(self) -> int:
        """Nodes of all of them."""
        return self.quantity * self.nodes_each


class Switch(Model):
    """Switches of one model, as a document lists them."""

    model: str
    gbps: int = Field(gt=0, description="rate of its ports, Gb/s")
    used_for: str | None = Field(default=None, description="what it connects; None: the document does not say")
    quantity: int | None = Field(default=None, gt=0, description="None: the document does not say")

    def __str__(self) -> str:
        for_what = f" for {self.used_for}" if self.used_for else ""
        count = "number not given" if self.quantity is None else f"{self.quantity} of them"
        return f"{self.model} of {self.gbps} Gb/s{for_what} ({count})"


class Bom(Model):
    """A bill of material: the parts of a node of each role, and the machines."""

    nodes: dict[str, Node] = Field(min_length=1, description="role -> its node")
    chassis: tuple[Chassis, ...] = Field(min_length=1)
    switches: tuple[Switch, ...] = ()
    source: str

    @property
    def roles(self) -> dict[str, int]:
        """Nodes of each role."""
        counts: dict[str, int] = {}
        for chassis in self.chassis:
            for role, count in chassis.roles.items():
                counts[role] = counts.get(role, 0) + count
        return counts


BILLS: Mapping[str, Bom] = DataFiles(Path(__file__).with_name("parts"), lambda path: validate(Bom, read(path), path))
"""Bills by the reference design that they are of."""


class Total(Model):
    """What the nodes have together whose parts are listed."""

    nodes: int
    cores: int
    memory_gib: int
    raw_gb: int = Field(description="of all drives, decimal GB")
    gpus: int
    ports_25: int = Field(description="ports of 25 Gb/s, which is what the switches must have")


def total(bom: Bom) -> Total:
    """Return the sum over all nodes whose parts are listed."""
    listed = [(bom.nodes[role], count) for role, count in bom.roles.items() if role in bom.nodes]
    return Total(
        nodes=sum(count for _, count in listed),
        cores=sum(node.cpus.count * node.cpus.cores * count for node, count in listed),
        memory_gib=sum(node.memory.gib * count for node, count in listed),
        raw_gb=sum(drives.raw_gb * count for node, count in listed for drives in node.drives),
        gpus=sum(node.gpus * count for node, count in listed),
        ports_25=sum(node.ports(25) * count for node, count in listed),
    )


def differences(bom: Bom) -> tuple[str, ...]:
    """Return where what the document states is not what its parts make; none is well."""
    return (*_of_machines(bom), *(text for role, node in bom.nodes.items() for text in _of_node(role, node)))


def against(node: Node, profile: Profile) -> tuple[str, ...]:
    """Return where the parts of a node are others than those of a profile."""
    pairs = {
        "GPUs": (node.gpus, profile.gpus),
        "cores": (node.cpus.count * node.cpus.cores, profile.cpu_cores),
        "GiB of memory": (node.memory.gib, profile.memory_gib),
        f"ports of {profile.ports.rate_gbps} Gb/s": (node.ports(profile.ports.rate_gbps), profile.ports.count),
    }
    return tuple(
        f"{profile.name}: {have} {what} in the list of parts, {want} in the profile"
        for what, (have, want) in pairs.items()
        if have != want
    )


def _of_machines(bom: Bom) -> Iterator[str]:
    for chassis in bom.chassis:
        assigned = sum(chassis.roles.values())
        if assigned != chassis.nodes:
            yield f"{chassis.server}: {chassis.nodes} nodes, and roles for {assigned}"
        for role in chassis.roles:
            if role not in bom.nodes:
                yield f"{role}: no parts are listed"
            elif (named := bom.nodes[role].server) and named != chassis.server:
                yield f"{role}: the parts are of a {named}, the machines are {chassis.server}"
    for role in bom.nodes.keys() - bom.roles.keys():
        yield f"{role}: no machine has this role"


def _of_node(role: str, node: Node) -> Iterator[str]:
    if node.cpus.threads != node.cpus.stated_threads:
        yield f"{role}: {node.cpus.threads} threads, stated {node.cpus.stated_threads}"
    memory = node.memory
    if memory.gib != memory.stated_gib:
        yield f"{role}: {memory.gib} GiB of memory, stated {memory.stated_gib}"
    if memory.part_mhz not in (None, memory.mhz):
        yield f"{role}: memory {memory.part} is of {memory.part_mhz} MHz, stated {memory.mhz}"
    for drives in node.drives:
        if drives.stated_as != "raw":
            use = "which is one side of a mirror" if drives.stated_as == "mirrored" else "which is neither all nor half"
            yield f"{role}: {drives.kind} of {drives.raw_gb} GB, stated {drives.stated_gb}, {use}"
