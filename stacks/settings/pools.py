"""Settings of GPU nodes: what is tuned, and what differs between pools where machines are of several kinds."""

from typing import Any

from pydantic import Field, ValidationInfo, field_validator

from components.base.model import DnsLabel, ImageName, Model, NumberOrShare, OperandVersion, Repository
from components.base.scheduling import LabelKey, LabelValue, Taint
from components.fabric.network_operator import DocaDriver
from components.gpu.gpu_operator import DRIVER_VERSION, GpuDriver
from components.nodes.kernel_arguments import KernelTuning
from components.nodes.kubelet_config import KubeletAlignment
from core.hardware.placement import Reserve
from core.hardware.profiles import Hca
from core.hardware.topology import SYSTEM_CPUS
from core.model import left_out
from stacks.settings.cluster import machine_named
from stacks.settings.fabric import FabricSettings, NetworkOperatorPlugin, RdmaFabric


class KubeletSettings(KubeletAlignment):
    """How the kubelet allocates CPUs; values that depend on the machine follow from it."""

    reserved: int = Field(
        default=SYSTEM_CPUS,
        gt=0,
        description="logical CPUs that no pod gets exclusively, from NUMA nodes without GPUs first",
    )


class TuningSettings(KernelTuning):
    """Tuning of GPU nodes beyond the memlock limit; each node restart applies all that is declared by then."""

    rail_names: bool = Field(
        default=False,
        description="name the ports after their rails (rail0, ...), by their PCI addresses",
    )
    stack_mib: int | None = Field(
        default=None,
        gt=0,
        le=1024,
        description="MiB that the stack of a container's process may have, beside unlimited locked memory, where the "
        "fabric has RDMA; None: the container runtime's own limit",
    )
    at_once: NumberOrShare = Field(
        default="1", description="GPU nodes that drain and reboot at the same time, a number or a share"
    )
    kubelet: KubeletSettings | None = Field(
        default=KubeletSettings(), description="None for machines whose NUMA nodes are not documented"
    )


MOST_LENGTH = 40
"""Characters of a pool's name: it is part of the names of objects."""

MOST_TAINTS = 7
"""Taints of all pools: NMState's agents have eight tolerations, one of them for nvidia.com/gpu."""


class PoolOperand(Model):
    """A driver of a pool; what is left out is as the stack's."""

    version: OperandVersion = Field(description="tag or digest, e.g. doca3.4.1-26.04-1.1.0.0-1")
    repository: Repository | None = Field(default=None, description="registry and path of the image")
    image: ImageName | None = Field(default=None, description="image name below `repository`")
    auto_upgrade: bool | None = Field(
        default=None,
        description="let the operator bring another version to the pool, node by node: it deletes pods with GPUs for "
        "their driver, and drains and restarts nodes for the adapters'",
    )


class PoolDriver(PoolOperand):
    """The GPU driver of a pool; what is left out is as in `gpu.driver`."""

    version: str = Field(pattern=DRIVER_VERSION, description="e.g. 580.173.02")


class PoolAdapterDriver(PoolOperand):
    """The driver of a pool's adapters; what is left out is as in `fabric.plugin.driver`."""


class PoolSettings(Model):
    """Nodes of one machine; what is left out is as in the stack's settings of the same name."""

    machine: str = Field(description="machine of its nodes, as in `nodes[].machine`")
    machine_config_pool: DnsLabel | None = Field(
        default=None,
        description="MachineConfigPool of its nodes; pools with other `tuning` need one each. None: the stack's",
    )
    ports: tuple[Hca, ...] | None = Field(
        default=None, description="compute ports of its machine, in rail order. None: the stack's `ports`"
    )
    reserve: Reserve | None = Field(
        default=None,
        description="what its nodes reserve. None: as the machine's file has it",
        json_schema_extra=left_out("the stack's `reserve`"),
    )
    tuning: TuningSettings | None = Field(
        default=None,
        description="tuning of its nodes. None: they stay unchanged except for memlock",
        json_schema_extra=left_out("the stack's `tuning`"),
    )
    fabric: FabricSettings | None = Field(
        default=None,
        description="network between its nodes, e.g. {kind: none} for machines that run jobs of one node alone. None: "
        "the stack's `fabric`",
    )
    driver: PoolDriver | None = Field(
        default=None,
        description="driver of its GPUs, brought by the GPU Operator. None: the nodes' image has the driver already. "
        "Pools whose drivers differ get an NVIDIADriver each",
        json_schema_extra=left_out("the stack's `gpu.driver`"),
    )
    adapter_driver: PoolAdapterDriver | None = Field(
        default=None,
        description="driver of its adapters, brought by the Network Operator. None: the driver that the nodes have. "
        "Pools whose drivers or plugins differ get a NicNodePolicy each",
        json_schema_extra=left_out("`driver` of its fabric's `plugin`"),
    )
    mig: str | None = Field(default=None, description="MIG configuration of its nodes, unless a node has its own `mig`")
    taints: tuple[Taint, ...] = Field(
        default=(),
        max_length=MOST_TAINTS,
        description="taints of its nodes, which a MachineSet, the installer or `oc adm taint` gives them: jobs of the "
        "pool and the platform's DaemonSets tolerate them ([pools](../guide/pools.md#taints))",
    )
    labels: dict[LabelKey, LabelValue] = Field(
        default={}, description="further labels of its nodes, beside hpc.pulumi/pool with its name"
    )

    @field_validator("machine")
    @classmethod
    def _known_machine(cls, name: str, info: ValidationInfo) -> str:
        machine_named(name, info)
        return name

    def differs_in(self, field: str) -> bool:
        """Say whether the pool has a setting of its own, None included."""
        return field in self.model_fields_set

    def driver_beside(self, common: GpuDriver | None) -> GpuDriver | None:
        """Return the driver that the operator brings to the pool, where `common` is that of the stack."""
        if not self.differs_in("driver"):
            return common
        if self.driver is None:
            return None
        own = self.driver.model_dump(exclude_none=True)
        return GpuDriver.model_validate((common.model_dump() if common else {}) | own)

    def fabric_beside(self, common: FabricSettings) -> FabricSettings:
        """Return the pool's fabric, with the adapter driver of its own, where `common` is that of the stack."""
        fabric = self.fabric or common
        if not self.differs_in("adapter_driver") or not isinstance(fabric, RdmaFabric):
            return fabric
        plugin, driver = fabric.plugin, None
        if not isinstance(plugin, NetworkOperatorPlugin):
            return fabric
        if self.adapter_driver:
            own = self.adapter_driver.model_dump(exclude_none=True)
            driver = DocaDriver.model_validate((plugin.driver.model_dump() if plugin.driver else {}) | own)
        return fabric.model_copy(update={"plugin": plugin.model_copy(update={"driver": driver})})


def with_machines(nodes: Any, pools: dict[str, PoolSettings]) -> Any:
    """Return nodes of a settings file with the machine and division of their pools.

    Raises ValueError for a node that has another machine than its pool.
    """
    if not pools or not isinstance(nodes, list | tuple):
        return nodes
    return [_with_machine(node, pools) for node in nodes]


def _with_machine(node: Any, pools: dict[str, PoolSettings]) -> Any:
    pool = pools.get(node["pool"]) if isinstance(node, dict) and isinstance(node.get("pool"), str) else None
    if pool is None:
        return node
    if node.get("machine", pool.machine) != pool.machine:
        raise ValueError(
            f"machine {node['machine']} of {node.get('name')}: its pool {node['pool']} has machine {pool.machine}; "
            "leave it out, or name another pool"
        )
    return {"mig": pool.mig, **node, "machine": pool.machine}
