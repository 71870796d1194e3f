"""Settings of what GPU nodes are tuned to, by machine configuration."""

from pydantic import Field

from components.base.model import NumberOrShare
from components.nodes.kernel_arguments import KernelTuning
from components.nodes.kubelet_config import KubeletAlignment
from core.hardware.topology import SYSTEM_CPUS


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
    at_once: NumberOrShare = Field(
        default="1", description="GPU nodes that drain and reboot at the same time, a number or a share"
    )
    kubelet: KubeletSettings | None = Field(
        default=KubeletSettings(), description="None for machines whose NUMA nodes are not documented"
    )
