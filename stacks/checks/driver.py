"""What is wrong between the GPUs, their driver and their division by MIG."""

from collections.abc import Iterator

from components.gpu_operator import unfit
from stacks.fabric_settings import Ethernet, NetworkOperatorPlugin
from stacks.gpu_settings import GpuOperatorSettings
from stacks.gpus import gpudirect
from stacks.platform import Settings
from stacks.workload_settings import Unstarted


def problems(settings: Settings) -> Iterator[str]:
    """Yield what the GPU Operator does not support on these machines; nothing without that operator."""
    gpu = settings.gpu
    if not isinstance(gpu, GpuOperatorSettings):
        return
    yield from (f"gpu.{problem}" for problem in unfit(gpu, settings.profile.gpu, gpudirect(settings)))
    yield from _peer_memory(settings, gpu)
    if gpu.gdrcopy and gpu.driver is None:
        yield (
            "gpu.gdrcopy true has no effect without gpu.driver, in whose pods it is loaded; give the driver, or turn "
            "it off and have the nodes' image bring it"
        )
    if gpu.gds and gpu.driver is None:
        yield (
            "gpu.gds true has no effect without gpu.driver, in whose pods its module is loaded; give the driver, or "
            "turn it off and have the nodes' image bring nvidia-fs"
        )
    if gpu.gds_file_systems and not gpu.gds:
        yield f"gpu.gds_file_systems {', '.join(gpu.gds_file_systems)}: gpu.gds is off; turn it on, or leave them out"
    for name in sorted(settings.scale_classes & {*gpu.gds_file_systems}):
        yield f"gpu.gds_file_systems {name}: the stack makes this class, of Storage Scale; leave it out"
    if gpu.mig != "none" and settings.profile.gpu.mig_instances and _counts_on_all(settings):
        yield (
            f"gpu.mig {gpu.mig}: the jobs of `stages` count on whole GPUs, all that the nodes have; set with "
            "`free_gpus` which GPUs of a node stay whole, or turn gpu.mig to none"
        )


def _peer_memory(settings: Settings, gpu: GpuOperatorSettings) -> Iterator[str]:
    machine, fabric = settings.profile, settings.fabric
    if isinstance(fabric, Ethernet) or gpu.driver is None or machine.architecture.peer_memory != "nvidia-peermem":
        return
    brings = isinstance(fabric.plugin, NetworkOperatorPlugin) and fabric.plugin.driver is not None
    if not (brings or fabric.plugin.host_ofed):
        yield (
            f"fabric.plugin: GPUDirect with {machine.gpu.model} needs Mellanox's own driver on the nodes; give "
            "fabric.plugin.driver (network-operator), or set host_ofed: true where the host has it"
        )


def _counts_on_all(settings: Settings) -> bool:
    jobs = any(not isinstance(job, Unstarted) for stage in settings.stages for job in stage.workloads)
    return jobs and all(node.gpus == settings.profile.gpus for node in settings.gpu_nodes)
