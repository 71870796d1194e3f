"""What is wrong between workloads and the platform that they are to run on."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hardware.placement import fits, share
from stacks.workload_settings import MpiWorkload, RdmaTestWorkload

if TYPE_CHECKING:
    from stacks.platform import Settings


def problems(settings: "Settings") -> Iterator[str]:
    """Yield every workload that can never run, with the remedy."""
    jobs = [(workload.tenant, workload.job_name) for stage in settings.stages for workload in stage.workloads]
    seen: set[tuple[str, str]] = set()
    known = {tenant.namespace for tenant in settings.tenants}
    for tenant, job in jobs:
        if (tenant, job) in seen:
            yield f"stages: job '{tenant}/{job}' is given twice; give each its own"
        seen.add((tenant, job))
        if tenant not in known:
            yield f"stages: job {job} has tenant {tenant!r}; known: {', '.join(sorted(known))}"
    yield from _of_workloads(settings)


def _of_workloads(settings: "Settings") -> Iterator[str]:
    profile = settings.profile
    hcas = [hca.name for hca in profile.hcas]
    nodes = [node.name for node in settings.gpu_nodes]
    for stage in settings.stages:
        for workload in stage.workloads:
            where = f"stages: job {workload.job_name}"
            if isinstance(workload, MpiWorkload):
                yield from (f"{where}: {problem}" for problem in _too_large(workload, settings))
            if isinstance(workload, RdmaTestWorkload):
                if workload.hca not in hcas:
                    yield f"{where}: hca {workload.hca!r} is not one of {profile.name}: {', '.join(hcas)}"
                for node in (workload.client_node, workload.server_node):
                    if node not in nodes:
                        yield f"{where}: node {node!r} is not a GPU node; known: {', '.join(nodes)}"
                if workload.client_node == workload.server_node:
                    yield f"{where}: client_node and server_node are both {workload.client_node}; name two nodes"


def _too_large(workload: MpiWorkload, settings: "Settings") -> Iterator[str]:
    layout, profile = workload.layout, settings.profile
    try:
        memory = share(profile, layout.gpus, settings.reserved).memory_gib
    except ValueError as error:
        yield f"reserve: {error}"
        return
    if workload.shm_gib > memory:
        yield f"shm_gib {workload.shm_gib} is more than the pod's memory of {memory} GiB; lower it"
    free = {node: {"gpus": gpus} for node, gpus in settings.free.items()}
    if layout.gpus > profile.gpus:
        yield f"layout.gpus {layout.gpus} is more than the {profile.gpus} of {profile.name}"
    elif not fits([{"gpus": layout.gpus}] * layout.pods, free):
        yield (
            f"layout {layout} does not fit on {len(free)} nodes with {profile.gpus} GPUs each, even with nothing else "
            "there; lower pods or gpus"
        )
    quotas = {tenant.namespace: settings.most_gpus(tenant) for tenant in settings.tenants}
    quota = quotas.get(workload.tenant)
    if quota is not None and layout.total_gpus > quota:
        yield (
            f"layout {layout} takes {layout.total_gpus} GPUs, and tenant {workload.tenant} has a gpu_quota of {quota}; "
            "lower the one or raise the other"
        )
