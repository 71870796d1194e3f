"""The pools of a stack: GPU nodes of one machine, with one driver, fabric and tuning; what follows from their settings.

Whatever depends on a machine is asked of a pool, or of the pool of a job; no stack has "the" machine.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from components.base.model import Model
from components.base.scheduling import Taint, bearing
from components.gpu.gpu_operator import GpuDriver
from components.nodes.node_pool import BUILT_IN
from core.apis import names
from core.apis.nccl import Transport
from core.hardware import topology
from core.hardware.placement import Reserve
from core.hardware.profiles import Hca, Profile
from stacks.settings.cluster import NodeSettings
from stacks.settings.fabric import FabricSettings, NetworkOperatorPlugin, RdmaFabric
from stacks.settings.gpu import DevicePluginSettings, GpuOperatorSettings, GpuSettings
from stacks.settings.pools import TuningSettings
from stacks.settings.storage import ContainerNativeStorage


@dataclass(frozen=True, eq=False)
class Pool:
    """GPU nodes of one machine."""

    name: str
    first: bool
    """Whether it is the first pool, whose parts may have been those of the stack before it had `pools`."""
    declared: bool
    """Whether the settings have `pools`, and the nodes a label with its name; else it is all GPU nodes."""
    machine: Profile
    """With the ports that the settings name, in the mode of the fabric."""
    named_ports: bool
    """Whether the settings name the ports; else the machine's file does."""
    nodes: tuple[NodeSettings, ...]
    fabric: FabricSettings
    gpu: GpuSettings
    driver: GpuDriver | None
    """That the GPU Operator brings; None: the nodes have it by themselves, or another enablement brings it."""
    own_driver: bool
    """Whether its own settings have the driver; else those of the stack."""
    tuning: TuningSettings | None
    machine_config_pool: str
    reserve: Reserve | None
    labels: Mapping[str, str]
    """Further labels of its nodes."""
    taints: tuple[Taint, ...]
    """That its nodes have."""
    scale_pods: ContainerNativeStorage | None
    """Storage Scale whose clients run as pods on the nodes."""

    @cached_property
    def free(self) -> Mapping[str, int]:
        """GPUs that jobs may have, by node."""
        return {node.name: node.gpus for node in self.nodes}

    @property
    def selector(self) -> dict[str, str]:
        """Labels that its nodes alone have, set by the stack before any driver works."""
        return {names.POOL: self.name} if self.declared else {names.GPU_NODE: "true"}

    def part(self, name: str) -> str:
        """Return what a part of the pool is called among resources: as ever, where the stack has no `pools`."""
        return f"{name}-{self.name}" if self.declared else name

    @property
    def own_machine_config_pool(self) -> bool:
        """Whether the stack makes the nodes' MachineConfigPool; False for one of OpenShift's own."""
        return self.machine_config_pool not in BUILT_IN

    @property
    def most_pods(self) -> int:
        """Pods with GPUs that a node can hold: a GPU each, or a part of one."""
        divided = isinstance(self.gpu, GpuOperatorSettings) and self.gpu.mig != "none"
        return self.machine.gpus * (self.machine.gpu.mig_instances if divided else 1)

    @property
    def by_claims(self) -> bool:
        """Whether pods get GPUs by claims; else by nvidia.com/gpu."""
        return isinstance(self.gpu, GpuOperatorSettings) and self.gpu.allocation == "dra"

    @property
    def joined_by_nvlink(self) -> bool:
        """Whether GPUs of several of its nodes share memory over NVLink, in ComputeDomains."""
        gpu = self.gpu
        return (
            isinstance(gpu, GpuOperatorSettings)
            and gpu.compute_domains is not None
            and self.machine.nvlink.machines > 1
        )

    @property
    def host_driver(self) -> bool:
        """Whether the nodes have the GPU driver by themselves."""
        gpu = self.gpu
        return isinstance(gpu, DevicePluginSettings) or (isinstance(gpu, GpuOperatorSettings) and self.driver is None)

    @property
    def driver_place(self) -> str:
        """Return the path of the driver's settings."""
        return f"pools.{self.name}.driver" if self.own_driver else "gpu.driver"

    @property
    def has_scale_clients(self) -> bool:
        """Whether nodes are Spectrum Scale clients, and so reserve a pagepool."""
        return any(node.scale_client for node in self.nodes)

    @cached_property
    def reserved(self) -> Reserve:
        """What a node keeps for itself; jobs get a share of the rest per GPU."""
        kubelet = self.tuning.kubelet if self.tuning else None
        reserved = kubelet.reserved if kubelet else 0
        reserve = topology.reserve(self.machine, pagepool=self.has_scale_clients, kubelet_reserved=reserved)
        if self.scale_pods:
            client, minimum = self.scale_pods.client, topology.least_reserve(self.machine, reserved)
            # The CPUs beside those for jobs are the client's, too, as far as there are enough.
            cpus = max(reserve.cpus, minimum.cpus + client.cpus)
            reserve = Reserve(cpus=cpus, memory_gib=reserve.memory_gib + client.memory_gib)
        return self.reserve or reserve

    @property
    def for_jobs(self) -> Reserve:
        """CPUs and memory that the jobs of a node have together: what the node does not reserve."""
        machine, reserve = self.machine, self.reserved
        return Reserve.model_construct(
            cpus=machine.cpus - reserve.cpus, memory_gib=machine.memory_gib - reserve.memory_gib
        )

    @property
    def uses_rdma(self) -> bool:
        """Whether pods need RDMA devices and locked memory."""
        return isinstance(self.fabric, RdmaFabric)

    @property
    def network_operator(self) -> NetworkOperatorPlugin | None:
        """The Network Operator, with what it brings to the nodes; None: it does not serve these ports."""
        plugin = self.fabric.plugin if isinstance(self.fabric, RdmaFabric) else None
        return plugin if isinstance(plugin, NetworkOperatorPlugin) else None

    @property
    def brings_adapter_driver(self) -> bool:
        """Whether the Network Operator brings the driver of the adapters."""
        return self.network_operator is not None and self.network_operator.driver is not None

    @property
    def transport(self) -> Transport:
        """The default transport of jobs: without GPUDirect where some of the machine's GPUs reach no port by it."""
        if not self.uses_rdma:
            return Transport.TCP
        return Transport.INFINIBAND if topology.out_of_reach(self.machine) else Transport.GPUDIRECT

    @property
    def hcas(self) -> tuple[Hca, ...]:
        """A machine's compute ports that jobs use by RDMA; none without it."""
        return self.machine.hcas if self.uses_rdma else ()

    @property
    def port_names(self) -> tuple[str, ...]:
        """Names of a machine's compute ports on the nodes, in the order of the rails; none where they are unknown."""
        if self.tuning and self.tuning.rail_names:
            return tuple(rail.name for rail in topology.rails(self.machine))
        return tuple(hca.netdev for hca in self.machine.hcas if hca.netdev)

    @property
    def interfaces(self) -> tuple[str, ...]:
        """Network interfaces of a machine's compute ports, in the order of the rails; none without RDMA."""
        return self.port_names if self.uses_rdma else ()

    @property
    def rdma_resources(self) -> tuple[str, ...]:
        """Resource names of the device plugin, one per HCA: shared_ib0 and so on; none without RDMA."""
        return tuple(f"shared_{interface}" for interface in self.interfaces)


def tolerations(args: type[Model], pools: Iterable[Pool]) -> dict[str, Any]:
    """Return what a component's pods tolerate on nodes of pools, beside the usual; nothing where none has a taint."""
    taints = [taint for pool in pools for taint in pool.taints]
    return {"tolerations": bearing(taints, args.model_fields["tolerations"].default)} if taints else {}
