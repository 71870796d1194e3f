"""What is wrong between the GPUs, their driver and what is made of them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stacks.fabric_settings import Ethernet, NetworkOperatorPlugin
from stacks.gpu_settings import GpuOperatorSettings
from stacks.workload_settings import RdmaTestWorkload

if TYPE_CHECKING:
    from stacks.platform import Settings


def problems(settings: "Settings") -> Iterator[str]:
    """Yield what the GPU Operator cannot do on these machines; nothing where GPUs come another way."""
    gpu, machine = settings.gpu, settings.profile
    if not isinstance(gpu, GpuOperatorSettings):
        return
    yield from _version(settings, gpu)
    yield from _peer_memory(settings, gpu)
    if gpu.gdrcopy and gpu.driver is None:
        yield (
            "gpu.gdrcopy true has no effect without gpu.driver, in whose pods it is loaded; give the driver, or turn "
            "it off and have the nodes' image bring it"
        )
    if gpu.mig != "none" and not machine.gpu.mig_instances:
        yield f"gpu.mig {gpu.mig}: {machine.gpu.model} cannot be divided; give none"
    elif gpu.mig != "none" and _counts_on_all(settings):
        yield (
            f"gpu.mig {gpu.mig}: the jobs of `stages` count on whole GPUs, all that the nodes have; say with "
            "`free_gpus` which GPUs of a node stay whole, or turn gpu.mig to none"
        )


def _version(settings: "Settings", gpu: GpuOperatorSettings) -> Iterator[str]:
    machine, known = settings.profile, settings.profile.architecture
    if gpu.driver is None:
        return
    version = gpu.driver.version
    if not known.accepts_driver(version):
        yield f"gpu.driver.version {version} does not know {machine.gpu.model}; give one of branch {known.branches()}"
    elif settings.uses_rdma and known.peer_memory == "dma-buf" and not known.accepts_driver(version, open_module=True):
        yield (
            f"gpu.driver.version {version} has no open kernel module, by which adapters reach {machine.gpu.model} "
            f"(GPUDirect); give one of branch {known.branches(open_module=True)}"
        )


def _peer_memory(settings: "Settings", gpu: GpuOperatorSettings) -> Iterator[str]:
    machine, fabric = settings.profile, settings.fabric
    if isinstance(fabric, Ethernet) or gpu.driver is None or machine.architecture.peer_memory != "nvidia-peermem":
        return
    brings = isinstance(fabric.plugin, NetworkOperatorPlugin) and fabric.plugin.driver is not None
    if not (brings or fabric.plugin.host_ofed):
        yield (
            f"fabric.plugin: GPUDirect with {machine.gpu.model} needs Mellanox's own driver on the nodes; give "
            "fabric.plugin.driver (network-operator), or say host_ofed: true where the host has it"
        )


def _counts_on_all(settings: "Settings") -> bool:
    jobs = any(not isinstance(job, RdmaTestWorkload) for stage in settings.stages for job in stage.workloads)
    return jobs and all(node.gpus == settings.profile.gpus for node in settings.gpu_nodes)
