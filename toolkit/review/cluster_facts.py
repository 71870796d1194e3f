"""Facts of the settings that are in no resource: which nodes there are, what they have, and how they restart."""

from collections.abc import Mapping
from functools import cached_property

from pydantic import Field

from core.model import Model


class NodeFacts(Model):
    """One node."""

    name: str
    gpus: int = Field(default=0, ge=0, description="GPUs that jobs may have on it")
    rdma: tuple[str, ...] = Field(default=(), description="RDMA resources that it offers, e.g. rdma/shared_ib0")
    pool: str = Field(default="worker", description="MachineConfigPool that it is in")


class PoolFacts(Model):
    """How a MachineConfigPool takes a new configuration."""

    name: str
    at_once: str = Field(default="1", description="maxUnavailable: nodes that restart together, a number or a share")


class AllowedFact(Model):
    """A version that the settings accept although a vendor's table does not have it."""

    what: str = Field(description="path of the setting")
    value: str
    reason: str = Field(description="why the stack has it, as its settings say")
    table: str = Field(default="", description="what the vendor's table says; empty where nothing needs the entry")


class Facts(Model):
    """All of it, after the change. Without nodes no capacity and no restarts per node are reported."""

    release: str = Field(default="", description="of OpenShift, e.g. 4.20")
    nodes: tuple[NodeFacts, ...] = ()
    pools: tuple[PoolFacts, ...] = ()
    reboot_minutes: int = Field(default=15, gt=0, description="that one node is away to drain and to restart")
    allowed: tuple[AllowedFact, ...] = ()
    manifests: Mapping[str, str] = Field(
        default={}, description="FILE:LINE of the stack's own objects, by their names in findings: Kind namespace/name"
    )

    @property
    def gpus(self) -> int:
        """GPUs of all nodes."""
        return sum(node.gpus for node in self.nodes)

    @cached_property
    def rdma(self) -> Mapping[str, int]:
        """How many nodes offer each RDMA resource."""
        counts: dict[str, int] = {}
        for node in self.nodes:
            for resource in node.rdma:
                counts[resource] = counts.get(resource, 0) + 1
        return counts

    def in_pool(self, pool: str) -> tuple[NodeFacts, ...]:
        """Return the nodes of a pool."""
        return tuple(node for node in self.nodes if node.pool == pool)

    def at_once(self, pool: str) -> str:
        """Return how many nodes of a pool restart together, as it is written."""
        return next((facts.at_once for facts in self.pools if facts.name == pool), "1")
