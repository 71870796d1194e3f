"""The two fabrics of a POD of the SuperPOD architecture: switches and cables for a number of machines.

The sizes that the SuperPOD tables print are returned as printed; `estimate` says that a size is between them and
follows from rules that hold in the tables, with the least switches that have enough ports.
"""

from fractions import Fraction
from math import ceil

from pydantic import Field

from core.model import Model

SWITCH_PORTS = 40
"""Ports of a QM8790."""
UNIT_NODES = 20
"""Machines of a scalable unit."""
POD_NODES = 140
"""Machines of a POD: seven units."""
RAILS = 8
"""Planes of the compute fabric: one for each compute HCA of a machine."""
STORAGE_LINKS = 2
"""Storage ports of a machine."""
TWO_LEVELS = 100
"""Machines up to which leaf and spine switches are enough: 20 uplinks x 40 spine ports / 8 HCAs."""


class ComputeFabric(Model):
    """Switches and cables of the compute fabric."""

    nodes: int
    leaf: int = Field(description="leaf switches, one for each HCA of a unit")
    spine: int
    core: int = Field(description="core switches, above the spine; the table has an empty cell for none")
    leaf_cables: int = Field(description="machine to leaf")
    spine_cables: int = Field(description="leaf to spine")
    core_cables: int = Field(description="spine to core")
    estimate: bool = Field(description="not a row of the table: spine and core are the least with enough ports")

    @property
    def units(self) -> Fraction:
        """Scalable units of 20 machines; half a one for 10."""
        return Fraction(self.nodes, UNIT_NODES)

    @property
    def leaf_subscription(self) -> Fraction:
        """Cables down to cables up at the leaves; 1 is full bandwidth."""
        return Fraction(self.leaf_cables, self.spine_cables)

    @property
    def spine_subscription(self) -> Fraction | None:
        """Cables down to cables up at the spine; None without core switches."""
        return Fraction(self.spine_cables, self.core_cables) if self.core_cables else None

    @property
    def switches(self) -> int:
        """All switches."""
        return self.leaf + self.spine + self.core

    @property
    def cables(self) -> int:
        """All cables."""
        return self.leaf_cables + self.spine_cables + self.core_cables


class StorageFabric(Model):
    """Switches and cables of the storage fabric."""

    nodes: int
    storage_ports: int = Field(description="ports of the storage systems, and cables to them")
    leaf: int
    spine: int
    leaf_cables: int = Field(description="machine to leaf")
    spine_cables: int = Field(description="leaf to spine")
    printed_ratio: str | None = Field(description="the table's subscription ratio; it mixes the two below")
    estimate: bool = Field(description="not a row of the table: switches and spine cables follow from its rules")

    @property
    def units(self) -> Fraction:
        """Scalable units of 20 machines; half a one for 10."""
        return Fraction(self.nodes, UNIT_NODES)

    @property
    def machine_subscription(self) -> Fraction:
        """Cables to machines against cables to the spine: what rows 10 and 140 print."""
        return Fraction(self.leaf_cables, self.spine_cables)

    @property
    def total_subscription(self) -> Fraction:
        """Cables to machines and storage against cables to the spine: what rows 20 to 100 print."""
        return Fraction(self.leaf_cables + self.storage_ports, self.spine_cables)

    @property
    def switches(self) -> int:
        """All switches."""
        return self.leaf + self.spine

    @property
    def cables(self) -> int:
        """All cables."""
        return self.leaf_cables + self.spine_cables + self.storage_ports


# Machines -> spine, core, core cables. No formula gives the spine; leaves and the other cables have one.
_COMPUTE = {
    10: (2, 0, 0),
    20: (4, 0, 0),
    40: (10, 0, 0),
    80: (20, 0, 0),
    100: (20, 0, 0),
    140: (80, 28, 560),
}
# Machines -> spine, spine cables, printed ratio.
_STORAGE = {
    10: (1, 20, "1:1"),
    20: (1, 32, "3:2"),
    40: (2, 64, "3:2"),
    80: (4, 128, "3:2"),
    100: (4, 160, "3:2"),
    140: (8, 224, "5:4"),
}


def compute_fabric(nodes: int) -> ComputeFabric:
    """Return the compute fabric of `nodes` machines; raise ValueError for none and for more than a POD."""
    _check(nodes)
    links = RAILS * nodes
    spine, core, core_cables = _COMPUTE.get(nodes) or _estimated_levels(nodes)
    return ComputeFabric(
        nodes=nodes,
        leaf=RAILS * ceil(nodes / UNIT_NODES),
        spine=spine,
        core=core,
        leaf_cables=links,
        spine_cables=links,
        core_cables=core_cables,
        estimate=nodes not in _COMPUTE,
    )


def _estimated_levels(nodes: int) -> tuple[int, int, int]:
    """Return spine switches, core switches and core cables of a size between the table's rows."""
    # Above two levels as in the row of 140: one cable to the core for two to the spine.
    core_cables = RAILS * nodes // 2 if nodes > TWO_LEVELS else 0
    return ceil((RAILS * nodes + core_cables) / SWITCH_PORTS), ceil(core_cables / SWITCH_PORTS), core_cables


def storage_fabric(nodes: int) -> StorageFabric:
    """Return the storage fabric of `nodes` machines; raise ValueError for none and for more than a POD."""
    _check(nodes)
    storage_ports = ceil(Fraction(8 * nodes, UNIT_NODES))
    row = _STORAGE.get(nodes)
    spine_cables = row[1] if row else ceil(Fraction(32 * nodes, UNIT_NODES))
    machine_cables = STORAGE_LINKS * nodes
    return StorageFabric(
        nodes=nodes,
        storage_ports=storage_ports,
        leaf=ceil((machine_cables + storage_ports + spine_cables) / SWITCH_PORTS),
        spine=row[0] if row else ceil(spine_cables / SWITCH_PORTS),
        leaf_cables=machine_cables,
        spine_cables=spine_cables,
        printed_ratio=row[2] if row else None,
        estimate=row is None,
    )


def ratio(value: Fraction) -> str:
    """Return a subscription as the tables write it: 3:2."""
    return f"{value.numerator}:{value.denominator}"


def leaf_of(node: int, rail: int) -> int:
    """Return the leaf switch (from 0) of HCA `rail` of machine `node` (from 0): one leaf a rail in each unit.

    Raises ValueError for a machine or rail that a POD does not have.
    """
    if not (0 <= node < POD_NODES and 0 <= rail < RAILS):
        raise ValueError(f"a POD has the machines 0-{POD_NODES - 1} and the rails 0-{RAILS - 1}, not {node} and {rail}")
    return RAILS * (node // UNIT_NODES) + rail


def unit_of(node: int) -> tuple[int, int]:
    """Return POD and scalable unit within it (both from 1) of machine `node` (from 0), in the order of the racks.

    Machines of a unit share their leaf switches, one for each rail, and those of a POD the switches above.
    """
    pod, place = divmod(node, POD_NODES)
    return pod + 1, place // UNIT_NODES + 1


def _check(nodes: int) -> None:
    if not 1 <= nodes <= POD_NODES:
        raise ValueError(f"a POD has 1 to {POD_NODES} machines, not {nodes}; plan several PODs for more")
