"""Settings of what GPU nodes are tuned to, by machine configuration."""

from typing import Literal

from pydantic import Field

from components.kernel_arguments import Argument
from components.model import Model, NumberOrShare
from hardware.topology import SYSTEM_CPUS


class KubeletSettings(Model):
    """How the kubelet shares out CPUs; what depends on the machine follows from its profile."""

    reserved: int = Field(
        default=SYSTEM_CPUS,
        gt=0,
        description="logical CPUs that no pod gets for itself, on NUMA nodes without GPUs first",
    )
    topology_policy: Literal["none", "best-effort", "restricted", "single-numa-node"] = Field(
        default="best-effort",
        description="what becomes of a pod whose CPUs and devices cannot come from one NUMA node (N-4.3)",
    )
    topology_scope: Literal["container", "pod"] = Field(
        default="container",
        description="what gets its NUMA nodes as a whole: each container by itself, or all of a pod",
    )
    memory_manager: bool = Field(default=False, description="memory, too, from the NUMA nodes of the GPUs")


class TuningSettings(Model):
    """What GPU nodes get beside the memlock limit; a node restarts with what there is of it when its turn comes."""

    iommu_passthrough: bool = Field(default=True, description="iommu=pt, which GPUDirect wants")
    nouveau: bool = Field(default=False, description="the kernel's own driver, which takes the GPUs first (R-3.4.1-7)")
    selinux: Literal["enforcing", "permissive"] = Field(
        default="enforcing", description="permissive needs a recorded exception of the rule selinux-enforcing"
    )
    further_arguments: tuple[Argument, ...] = Field(default=(), description="further arguments of the kernel")
    rail_names: bool = Field(
        default=False,
        description="name the ports after the fabric's planes (rail0, ...), by their PCI addresses (D-3.6)",
    )
    at_once: NumberOrShare = Field(
        default="1", description="GPU nodes that drain and reboot at the same time, a number or a share"
    )
    kubelet: KubeletSettings | None = Field(
        default=KubeletSettings(), description="None for machines whose NUMA nodes no document gives"
    )
