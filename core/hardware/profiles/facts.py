"""Figures of a machine for plans and purchases, on which no job and no rule depends."""

from typing import Literal

from pydantic import Field

from core.model import Model


class Disk(Model):
    """Local disks of one kind."""

    use: Literal["system", "data"]
    kind: str = Field(description="e.g. M.2 NVMe")
    count: int = Field(gt=0)
    gb: int = Field(gt=0, description="decimal GB of one")


class Supplies(Model):
    """Power supplies."""

    count: int = Field(gt=0, description="all of them")
    spare: int = Field(default=0, ge=0, description="those that may fail")
    watts: int = Field(gt=0, description="W of one")


class Processor(Model):
    """Figures of one processor."""

    least_mhz: int | None = Field(default=None, gt=0, description="lowest clock, MHz")
    base_mhz: int | None = Field(default=None, gt=0, description="base clock, MHz")
    boost_mhz: int | None = Field(default=None, gt=0, description="highest clock, MHz")
    watts: int | None = Field(default=None, gt=0, description="cTDP, W")
    l2_kib: int | None = Field(default=None, gt=0, description="L2 cache of a core, KiB")
    l3_kib: int | None = Field(default=None, gt=0, description="all of its L3 cache, KiB")
    numa_nodes: int | None = Field(default=None, gt=0, description="NUMA nodes of one socket")
    pcie_generation: int | None = Field(default=None, gt=0)
    links: str | None = Field(default=None, description="between sockets")


class PlanFacts(Model):
    """What a document has of a machine beyond what jobs depend on; None, or empty: no document has it."""

    disks: tuple[Disk, ...] = ()
    celsius: tuple[int, int] | None = Field(default=None, description="lowest and highest temperature of the room")
    supplies: Supplies | None = None
    fans: int | None = Field(default=None, gt=0)
    bays: int | None = Field(default=None, gt=0, description="drive bays")
    slots: str | None = Field(default=None, description="PCIe slots, e.g. 4 + 2 x16")
    processor: Processor | None = None
    system: str | None = Field(default=None, description="operating system as delivered")
    source: str = Field(description="source ids of the figures")
