"""What is wrong between workloads and their platform."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches

from pydantic import ValidationError

from core import field_errors
from core.apis.nccl import Transport
from core.apis.quantity import parsed
from core.hardware import topology
from core.hardware.placement import fits
from core.wording import plural
from stacks.checks import allocation, data_use, image, instance, of_pool, resilience, resources
from stacks.checks import topology as topology_of
from stacks.layers.job_arguments import of_job
from stacks.resolved import images, jobs
from stacks.resolved.jobs import Job, ProgramJob
from stacks.settings.fabric import NoFabric
from stacks.settings.platform import Settings
from stacks.settings.resolved_pool import Pool
from stacks.settings.storage import ClaimVolume, LocalVolume, Volume
from stacks.settings.workloads import MpiWorkload, RdmaTestWorkload, SpanningWorkload, TorchWorkload, Unstarted

GB = 10**9
_NODES_SHOWN = 3
"""Of those that a wrong name may mean."""


def problems(settings: Settings) -> Iterator[str]:
    """Yield every workload that can never run, with the remedy."""
    seen: set[str] = set()
    for stage in settings.stages:
        for workload in stage.workloads:
            try:
                job = jobs.resolve(workload, settings)
            except ValueError as error:
                node = None if isinstance(workload, Unstarted) else workload.node
                reasons = [*_gpu_node(node, settings)] if node else []
                yield from (f"stages: job {workload.name}: {reason}" for reason in reasons or [str(error)])
                continue
            if job.id in seen:
                yield f"stages: job '{job.id}' is given twice; give each its own"
            seen.add(job.id)
            yield from (f"stages: job {job.name}: {problem}" for problem in _job_problems(job, settings))


def _job_problems(job: Job, settings: Settings) -> Iterator[str]:
    if isinstance(job.workload, RdmaTestWorkload):
        yield from _rdma_test(job.workload, job.pool, settings)
    if not isinstance(job, ProgramJob):
        return
    refused = [
        *_kind(job, settings),
        *instance.of_job(job, settings),
        *_size(job, settings),
        *_program(job),
        *image.of_job(job, settings),
        *_names(job, settings),
        *topology_of.of_job(job, settings),
        *resilience.of_job(job, settings),
        *allocation.of_job(job, settings),
    ]
    if job.workload.data_set is None or data_use.data_set_of(job.workload, settings):
        refused = refused or [*_arguments(job, settings)]
    yield from refused


def _rdma_test(workload: RdmaTestWorkload, pool: Pool, settings: Settings) -> Iterator[str]:
    if reason := images.unfit(workload.image, pool.machine, settings, ssh=False):
        yield f"image {workload.image} {reason}; name another"
    if not pool.uses_rdma:
        yield f"fabric {pool.fabric.kind} has no RDMA to test; leave the job out"
        return
    if not settings.tenant(workload.tenant).rdma:
        yield f"tenant {workload.tenant} has rdma: false, and this tests RDMA; leave the job out, or set it"
    hcas = [hca.name for hca in pool.hcas]
    if workload.hca not in hcas:
        yield f"hca {workload.hca!r} is not one of {pool.machine.name}: {', '.join(hcas)}"
    for node in (workload.client_node, workload.server_node):
        yield from _gpu_node(node, settings)
    if workload.client_node == workload.server_node:
        yield f"client_node and server_node are both {workload.client_node}; name two nodes"


def _gpu_node(node: str, settings: Settings) -> Iterator[str]:
    nodes = [gpu_node.name for gpu_node in settings.gpu_nodes]
    if node not in nodes:
        near = _nearest(node, nodes)
        rest = f" and {len(nodes) - len(near)} more" if len(nodes) > len(near) else ""
        yield f"node {node!r} is not a GPU node; known: {', '.join(near)}{rest}"


def _nearest(node: str, nodes: Sequence[str]) -> list[str]:
    """Return the names most like `node`, without their domains, in order."""
    hosts = {name.partition(".")[0]: name for name in nodes}
    close = get_close_matches(node.partition(".")[0], hosts, n=_NODES_SHOWN, cutoff=0)
    return sorted(hosts[host] for host in close)


def _kind(job: ProgramJob, settings: Settings) -> Iterator[str]:
    workload, kind, kinds = job.workload, job.workload.kind, job.program.kinds
    if kind not in kinds:
        yield f"program {workload.program} is not started by kind {kind}; use {' or '.join(kinds)}"
    if isinstance(workload, MpiWorkload) and settings.version.mpi_job is None:
        yield f"OpenShift {settings.release} does not support MPI jobs here; use kind job, or another release"
    elif isinstance(workload, MpiWorkload) and settings.mpi_operator is None:
        yield "mpi_operator is missing, and this is an MPI job; give it"
    if isinstance(workload, TorchWorkload) and not settings.version.indexed_jobs:
        yield f"OpenShift {settings.release} has no Indexed Jobs, which torch needs; use kind job, or another release"
    if isinstance(workload, SpanningWorkload):
        yield from _transport(job)


def _transport(job: ProgramJob) -> Iterator[str]:
    transport, machine = job.transport, job.pool.machine
    if transport.uses_rdma and not job.pool.uses_rdma:
        fabric = f"fabric {job.pool.fabric.kind}{of_pool(job.pool)}"
        yield f"transport {transport}: {fabric} has no RDMA; use tcp, or leave it out"
    elif transport.uses_rdma and not job.tenant.rdma:
        yield (
            f"transport {transport}: tenant {job.tenant.namespace} has rdma: false, so its pods get neither devices "
            f"nor locked memory; use {Transport.TCP}, or set rdma of the tenant"
        )
    elif transport is Transport.GPUDIRECT:
        try:
            topology.gpudirect_level(machine)
        except ValueError as error:
            yield f"transport {transport}: {error}; or use {Transport.INFINIBAND}"


def _size(job: ProgramJob, settings: Settings) -> Iterator[str]:
    workload, layout, machine, free = job.workload, job.layout, job.pool.machine, job.free
    if workload.instance and not free:
        return
    if layout.gpus > machine.gpus:
        yield f"layout.gpus {layout.gpus} is more than the {machine.gpus} of {machine.name}; lower it, and raise pods"
        return
    if free and not fits([{"gpus": layout.gpus}] * layout.pods, {node: {"gpus": gpus} for node, gpus in free.items()}):
        divided = any(node.mig for node in job.pool.nodes if node.name in free)
        remedy = (
            "leave `mig` of nodes out, for NCCL and several processes need whole GPUs, or lower pods or gpus"
            if divided
            else "lower pods or gpus, or give gpus alone to get a layout that fits"
        )
        yield f"layout {layout} does not fit on {_counts_text(free)}, even with nothing else there; {remedy}"
    else:
        yield from resources.of_job(job, settings)
    if workload.shm_gib > job.share.memory_gib:
        yield f"shm_gib {workload.shm_gib} is more than the pod's memory of {job.share.memory_gib} GiB; lower it"
    if isinstance(job.pool.fabric, NoFabric) and layout.pods > 1:
        yield (
            f"layout {layout}: the machines of pool {job.pool.name} have no fabric, and pods may be on several; give "
            "one pod, or name a pool with a fabric"
        )
    yield from resources.numa_node_of_job(job)
    if not workload.instance:
        yield from _quota(job, settings)


def _quota(job: ProgramJob, settings: Settings) -> Iterator[str]:
    tenant, layout = job.tenant, job.layout
    limit, queues = settings.gpu_limits[tenant.namespace, job.pool.name], settings.queues
    if layout.total_gpus <= limit:
        return
    takes = (
        f"layout {layout} takes {plural(layout.total_gpus, 'GPU')}{of_pool(job.pool)}, and tenant {tenant.namespace}"
    )
    if queues and queues.cohort and not settings.shares(tenant, job.pool):
        yield (
            f"{takes} has no gpu_quota of that pool and borrows none of it; name another pool, or add it to the quota, "
            "with 0 for what others lend alone"
        )
    elif queues and queues.cohort:
        quota = settings.gpu_quota(tenant, job.pool)
        yield (
            f"{takes}, whose gpu_quota is {quota}, may hold {limit} at most, the quotas of all tenants of "
            f"cohort {queues.cohort}; lower the layout, or raise a quota"
        )
    else:
        yield f"{takes} has a gpu_quota of {limit}; lower the one or raise the other"


def _counts_text(free: Mapping[str, int]) -> str:
    counts = sorted({*free.values()}, reverse=True)
    if len(counts) == 1:
        return f"{plural(len(free), 'node')} with {counts[0]} free GPUs each"
    return " and ".join(f"{[*free.values()].count(count)} nodes with {count} free GPUs" for count in counts)


def _program(job: ProgramJob) -> Iterator[str]:
    workload, program, layout = job.workload, job.program, job.layout
    gpu, architecture = job.pool.machine.gpu, job.pool.machine.architecture
    if program.gpus not in (None, layout.gpus):
        has = plural(program.gpus or 0, "GPU")
        yield f"program {workload.program} has parameters for {has}, not for {layout.gpus}; give as many"
    if program.gpu_memory_gb and gpu.memory_gb < program.gpu_memory_gb:
        yield (
            f"program {workload.program} has parameters for GPUs of {program.gpu_memory_gb} GB, and {gpu.model} has "
            f"{gpu.memory_gb}; use another program{f' ({program.source})' if program.source else ''}"
        )
    if workload.precision == "tf32" and not architecture.has_tf32:
        yield f"precision tf32: {gpu.model} cannot compute in it; leave it out"
    if workload.largest_mib is not None and program.largest_mib is None:
        yield f"largest_mib {workload.largest_mib}: program {workload.program} sends no messages by size; leave it out"
    yield from _data(job)


def _data(job: ProgramJob) -> Iterator[str]:
    program, name, tenant = job.program, job.workload.program, job.tenant.namespace
    volumes = job.tenant.all_volumes
    missing = {mount.volume: place for place, mount in program.mounts.items() if mount.volume not in volumes}
    for volume, place in missing.items():
        volumes_text = f"has {', '.join(volumes)}" if volumes else "has none"
        yield (
            f"program {name} needs volume {volume} at {place}, and tenant {tenant} {volumes_text}; add it to the "
            "tenant's `volumes`, or mount another"
        )
    if missing or not program.mounts:
        return
    yield from data_use.checkpoints(program, volumes)
    mounted = {mount.volume: volumes[mount.volume] for mount in program.mounts.values()}
    if program.data and all(
        parsed(volume_settings.capacity) < program.data.size_gb * GB for volume_settings in mounted.values()
    ):
        sizes = " and ".join(volume_settings.capacity for volume_settings in mounted.values())
        yield (
            f"program {name} reads {program.data.name} of {program.data.size_gb} GB, and the volume of tenant {tenant} "
            f"has {sizes}; raise its capacity"
        )
    if job.layout.total_gpus > job.pool.machine.gpus:
        for volume in (volume for volume, settings in mounted.items() if _on_one_node(settings)):
            yield (
                f"program {name} mounts volume {volume} of tenant {tenant}, which one node alone can have, and layout "
                f"{job.layout} takes more; use a volume of kind scratch or a claim with ReadWriteMany"
            )


def _on_one_node(volume: Volume) -> bool:
    if isinstance(volume, ClaimVolume):
        return volume.access_mode == "ReadWriteOnce"
    return isinstance(volume, LocalVolume)


def _names(job: ProgramJob, settings: Settings) -> Iterator[str]:
    workload = job.workload
    if workload.node is not None:
        yield from _gpu_node(workload.node, settings)
    classes = [priority_class.class_name for priority_class in settings.priority_classes]
    if workload.priority is not None and workload.priority not in classes:
        names = ", ".join(classes) or "none"
        yield f"priority {workload.priority!r} is not one of priority_classes: {names}; add it there"


def _arguments(job: ProgramJob, settings: Settings) -> Iterator[str]:
    """Yield why the job's component rejects its arguments."""
    try:
        of_job(job, settings)
    except ValidationError as errors:
        for error in errors.errors(include_url=False):
            yield field_errors.argument(error)
