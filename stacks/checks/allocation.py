"""What is wrong with how pods get GPUs: by claims in place of a device plugin, and in the ComputeDomains of racks."""

from collections import Counter
from collections.abc import Iterator, Mapping

from components.gpu.gpu_cluster import refused
from stacks.checks import of_pool
from stacks.resolved import topology
from stacks.resolved.jobs import ProgramJob
from stacks.resolved.versions import numbers, version_of
from stacks.settings.gpu import GpuOperatorSettings
from stacks.settings.platform import Settings
from stacks.settings.resolved_pool import Pool
from stacks.settings.workloads import SpanningWorkload

FIRST_GPU_OPERATOR = "26.7"
"""First GPU Operator with GPUCluster and the definitions of ComputeDomains (NVIDIA/gpu-operator v26.7.0)."""
FIRST_KUEUE = "1.4"
"""First Red Hat build of Kueue that counts claims (openshift/openshift-docs, pull request 119624)."""
RACK = "accelerator"
"""Level of the fabric whose domains are the nodes that one NVLink fabric joins."""


def problems(settings: Settings) -> Iterator[str]:
    """Yield what claims and ComputeDomains lack; nothing where GPUs come by nvidia.com/gpu alone."""
    gpu = settings.gpu
    if not isinstance(gpu, GpuOperatorSettings):
        return
    if gpu.allocation == "dra":
        yield from (f"gpu.{problem}" for problem in refused(gpu))
        yield from _operator(gpu, "gpu.allocation dra")
        yield from _claims(settings)
    if gpu.compute_domains is not None:
        yield from _operator(gpu, "gpu.compute_domains") if gpu.allocation != "dra" else ()
        yield from _kueue(settings, "gpu.compute_domains")
        yield from _domains(settings, gpu)


def _operator(gpu: GpuOperatorSettings, what: str) -> Iterator[str]:
    version = version_of(gpu.operator)
    if version and numbers(version) < numbers(FIRST_GPU_OPERATOR):
        yield (
            f"{what}: GPU Operator {version} of gpu.operator.channel has no such API; use {FIRST_GPU_OPERATOR} or "
            "later, or leave it out"
        )


def _claims(settings: Settings) -> Iterator[str]:
    if settings.queues and settings.queues.topology:
        yield (
            "queues.topology: Kueue does not count claimed devices in what nodes have free (Kueue, concepts/"
            "dynamic_resource_allocation), so jobs would be assigned nodes without GPUs; leave it out, or set "
            "gpu.allocation device-plugin"
        )
    yield from _kueue(settings, "gpu.allocation dra")
    for tenant in settings.tenants:
        if tenant.instance_quota:
            yield (
                f"tenants: instance_quota of {tenant.namespace}: a GPUCluster divides no GPUs; leave it out, or set "
                "gpu.allocation device-plugin"
            )
    if len({pool.machine.gpu.model for pool in settings.gpu_pools}) > 1:
        yield (
            "gpu.allocation dra: pools have GPUs of several kinds, and all are of the class gpu.nvidia.com, by which "
            "quotas count; set device-plugin, or a stack and cluster for each kind"
        )


def _kueue(settings: Settings, what: str) -> Iterator[str]:
    version = version_of(settings.queues.operator) if settings.queues else None
    if version and numbers(version) < numbers(FIRST_KUEUE):
        yield (
            f"{what}: Kueue {version} of queues.operator.channel does not count claims; use {FIRST_KUEUE} or later, "
            "or leave it out"
        )


def _domains(settings: Settings, gpu: GpuOperatorSettings) -> Iterator[str]:
    racks = [pool for pool in settings.gpu_pools if pool.joined_by_nvlink]
    if not racks:
        machines = ", ".join(sorted({pool.machine.name for pool in settings.gpu_pools}))
        yield f"gpu.compute_domains: no NVLink joins several machines of {machines}; leave it out"
        return
    if gpu.mig != "none":
        yield (
            f"gpu.mig {gpu.mig}: MIG instances have no NVLink, and gpu.compute_domains joins nodes by it; set it to "
            "none, or leave gpu.compute_domains out"
        )
    for pool in racks:
        yield from _racks(pool, settings)
        if pool.driver is None and gpu.allocation != "dra":
            yield (
                f"{pool.driver_place}: the nodes{of_pool(pool)} have the GPU driver by themselves, and "
                "gpu.compute_domains would mount their whole file system; give the driver, or set gpu.allocation to dra"
            )


def _racks(pool: Pool, settings: Settings) -> Iterator[str]:
    """Yield racks of more machines than one NVLink fabric joins."""
    machines = pool.machine.nvlink.machines
    for rack, count in racks(pool, settings).items():
        if count > machines:
            place = f"topology: {RACK} {rack} has" if rack else f"without a place at the level {RACK} are"
            yield (
                f"nodes: {place} {count} nodes{of_pool(pool)}, and NVLink joins {machines} of {pool.machine.name}; "
                f"give the nodes of each rack its name, e.g. topology: {{{RACK}: rack-01}}"
            )


def racks(pool: Pool, settings: Settings) -> Mapping[str | None, int]:
    """Return the number of a pool's nodes by rack; None is the one of nodes for which the settings name none."""
    return Counter(place.get(RACK) for place in topology.positions(pool, settings).values())


def of_job(job: ProgramJob, settings: Settings) -> Iterator[str]:
    """Yield why the pods of a job could never share memory over NVLink."""
    workload, layout, pool = job.workload, job.layout, job.pool
    if not isinstance(workload, SpanningWorkload):
        return
    if workload.compute_domain and not job.in_compute_domain:
        why = "one pod needs none" if layout.pods == 1 else f"gpu.compute_domains serves no {pool.machine.name}"
        yield f"compute_domain true: {why}; leave it out"
    if not job.in_compute_domain:
        return
    machine = pool.machine
    if layout.gpus < machine.gpus:
        yield (
            f"layout {layout}: a node has one IMEX channel, so each pod of a ComputeDomain needs a node of its own; "
            f"use pods of {machine.gpus} GPUs, or set compute_domain to false"
        )
    by_rack = racks(pool, settings)
    if job.closeness is not None or len(by_rack) == 1:
        return
    most = max(by_rack.values()) * machine.gpus
    if layout.total_gpus > most:
        yield (
            f"layout {layout} takes {layout.total_gpus} GPUs, and NVLink joins the {most} of a rack; lower it, or set "
            f"topology: {{preferred: {RACK}}}, with the fabric between racks"
        )
    else:
        yield (
            f"layout {layout}: its pods may be on several racks, and NVLink joins those of one; set topology: "
            f"{{required: {RACK}}}"
        )
