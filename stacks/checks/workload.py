"""What is wrong between workloads and their platform."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches

from pydantic import ValidationError

from apis.nccl import Transport
from apis.quantity import parsed
from components.layout import Layout
from hardware import field_errors, topology
from hardware.placement import fits
from stacks import images, layouts
from stacks.checks import checkpoint, data_use, instance, numa, resources
from stacks.checks import topology as topology_of
from stacks.fabric_settings import InfiniBand
from stacks.job_arguments import arguments
from stacks.platform import Settings
from stacks.programs import Program
from stacks.storage_settings import AnyVolume, ClaimData, LocalVolume
from stacks.workload_settings import (
    MpiWorkload,
    RdmaTestWorkload,
    SpanningWorkload,
    StageDataWorkload,
    Started,
    TorchWorkload,
    Unstarted,
    Workload,
)

GB = 10**9
_NODES_SHOWN = 3
"""Of those that a wrong name may mean."""


def problems(settings: Settings) -> Iterator[str]:
    """Yield every workload that can never run, with the remedy."""
    seen: set[tuple[str, str]] = set()
    known = sorted(tenant.namespace for tenant in settings.tenants)
    for stage in settings.stages:
        for workload in stage.workloads:
            try:
                name = layouts.job_name(workload, settings)
            except ValueError as error:
                reasons = [] if isinstance(workload, Unstarted) else list(_node(workload, settings))
                yield from (f"stages: job {workload.name}: {reason}" for reason in reasons or [str(error)])
                continue
            if (workload.tenant, name) in seen:
                yield f"stages: job '{workload.tenant}/{name}' is given twice; give each its own"
            seen.add((workload.tenant, name))
            if workload.tenant not in known:
                yield f"stages: job {name} has tenant {workload.tenant!r}; known: {', '.join(known)}"
                continue
            yield from (f"stages: job {name}: {problem}" for problem in _of(workload, settings))


def _of(workload: Workload, settings: Settings) -> Iterator[str]:
    if isinstance(workload, RdmaTestWorkload):
        yield from _rdma_test(workload, settings)
        return
    if isinstance(workload, StageDataWorkload):
        return
    wanted = layouts.layout(workload, settings)
    found = [
        *_kind(workload, settings),
        *instance.of_job(workload, settings),
        *_size(workload, wanted, settings),
        *_program(workload, wanted, settings),
        *_image(workload, settings),
        *_names(workload, settings),
        *(topology_of.of_job(workload, settings) if isinstance(workload, MpiWorkload | TorchWorkload) else ()),
    ]
    if workload.data_set is None or data_use.data_set_of(workload, settings):
        found = found or [*_arguments(workload, settings)]
    yield from found


def _rdma_test(workload: RdmaTestWorkload, settings: Settings) -> Iterator[str]:
    if not settings.uses_rdma:
        yield f"fabric {settings.fabric.kind} has no RDMA to test; leave the job out"
        return
    if not settings.tenant(workload.tenant).rdma:
        yield f"tenant {workload.tenant} has rdma: false, and this tests RDMA; leave the job out, or set it"
    hcas = [hca.name for hca in settings.profile.hcas]
    if workload.hca not in hcas:
        yield f"hca {workload.hca!r} is not one of {settings.profile.name}: {', '.join(hcas)}"
    for node in (workload.client_node, workload.server_node):
        yield from _gpu_node(node, settings)
    if workload.client_node == workload.server_node:
        yield f"client_node and server_node are both {workload.client_node}; name two nodes"


def _gpu_node(node: str, settings: Settings) -> Iterator[str]:
    known = [each.name for each in settings.gpu_nodes]
    if node not in known:
        near = _nearest(node, known)
        rest = f" and {len(known) - len(near)} more" if len(known) > len(near) else ""
        yield f"node {node!r} is not a GPU node; known: {', '.join(near)}{rest}"


def _nearest(node: str, known: Sequence[str]) -> list[str]:
    """Return the names most like `node`, without their domains, in order."""
    hosts = {each.partition(".")[0]: each for each in known}
    close = get_close_matches(node.partition(".")[0], hosts, n=_NODES_SHOWN, cutoff=0)
    return sorted(hosts[host] for host in close)


def _kind(workload: Started, settings: Settings) -> Iterator[str]:
    kind = workload.kind
    known = settings.program(workload.program).kinds
    if kind not in known:
        yield f"program {workload.program} is not started by kind {kind}; use {' or '.join(known)}"
    if isinstance(workload, MpiWorkload) and settings.version.mpi_job is None:
        yield f"OpenShift {settings.release} does not support MPI jobs here; use kind job, or another release"
    elif isinstance(workload, MpiWorkload) and settings.mpi_operator is None:
        yield "mpi_operator is missing, and this is an MPI job; give it"
    if isinstance(workload, TorchWorkload) and not settings.version.indexed_jobs:
        yield f"OpenShift {settings.release} has no Indexed Jobs, which torch needs; use kind job, or another release"
    if not isinstance(workload, SpanningWorkload):
        return
    transport = settings.transport_of(workload.tenant, workload.transport)
    if transport.uses_rdma and not settings.uses_rdma:
        yield f"transport {transport}: fabric {settings.fabric.kind} has no RDMA; use tcp, or leave it out"
    elif transport.uses_rdma and not settings.tenant(workload.tenant).rdma:
        yield (
            f"transport {transport}: tenant {workload.tenant} has rdma: false, so its pods get neither devices nor "
            f"locked memory; use {Transport.TCP}, or set rdma of the tenant"
        )
    elif transport is Transport.GPUDIRECT:
        try:
            topology.gpudirect_level(settings.profile)
        except ValueError:
            yield (
                f"transport {transport}: no port of {settings.profile.name} is known to be next to a GPU; set it in "
                f"`ports` (gpus, distance), or use {Transport.INFINIBAND}"
            )


def _size(workload: Started, wanted: Layout, settings: Settings) -> Iterator[str]:
    profile, free = settings.profile, layouts.free(workload, settings)
    if workload.instance and not free:
        return
    if wanted.gpus > profile.gpus:
        yield f"layout.gpus {wanted.gpus} is more than the {profile.gpus} of {profile.name}; lower it, and raise pods"
        return
    if free and not fits([{"gpus": wanted.gpus}] * wanted.pods, {node: {"gpus": gpus} for node, gpus in free.items()}):
        divided = any(node.mig for node in settings.gpu_nodes if node.name in free)
        remedy = (
            "leave `mig` of nodes out, for NCCL and several processes need whole GPUs, or lower pods or gpus"
            if divided
            else "lower pods or gpus, or give gpus alone to get a layout that fits"
        )
        yield f"layout {wanted} does not fit on {_shown(free)}, even with nothing else there; {remedy}"
    else:
        yield from resources.problems(workload, wanted, settings)
    part = layouts.pod_share(workload, settings)
    if workload.shm_gib > part.memory_gib:
        yield f"shm_gib {workload.shm_gib} is more than the pod's memory of {part.memory_gib} GiB; lower it"
    yield from numa.problems(wanted, part.cpus, settings)
    if not workload.instance:
        yield from _quota(workload.tenant, wanted, settings)


def _quota(namespace: str, wanted: Layout, settings: Settings) -> Iterator[str]:
    tenant = settings.tenant(namespace)
    limit, queues = settings.most_gpus(tenant), settings.queues
    if wanted.total_gpus <= limit:
        return
    takes = f"layout {wanted} takes {wanted.total_gpus} GPUs, and tenant {namespace}"
    if queues and queues.cohort:
        yield (
            f"{takes}, whose gpu_quota is {tenant.gpu_quota}, may hold {limit} at most, the quotas of all tenants of "
            f"cohort {queues.cohort}; lower the layout, or raise a quota"
        )
    else:
        yield f"{takes} has a gpu_quota of {limit}; lower the one or raise the other"


def _shown(free: Mapping[str, int]) -> str:
    counts = sorted({*free.values()}, reverse=True)
    if len(counts) == 1:
        return f"{len(free)} nodes with {counts[0]} free GPUs each"
    return " and ".join(f"{[*free.values()].count(count)} nodes with {count} free GPUs" for count in counts)


def _program(workload: Started, wanted: Layout, settings: Settings) -> Iterator[str]:
    program, gpu = settings.program(workload.program), settings.profile.gpu
    if program.gpus not in (None, wanted.gpus):
        yield f"program {workload.program} has parameters for {program.gpus} GPUs, not for {wanted.gpus}; give as many"
    if program.gpu_memory_gb and gpu.memory_gb < program.gpu_memory_gb:
        yield (
            f"program {workload.program} has parameters for GPUs of {program.gpu_memory_gb} GB, and {gpu.model} has "
            f"{gpu.memory_gb}; use another program{f' ({program.source})' if program.source else ''}"
        )
    if workload.precision == "tf32" and not settings.profile.architecture.has_tf32:
        yield f"precision tf32: {gpu.model} cannot compute in it; leave it out"
    if workload.largest_mib is not None and program.largest_mib is None:
        yield f"largest_mib {workload.largest_mib}: program {workload.program} sends no messages by size; leave it out"
    yield from _data(workload, program, wanted, settings)


def _data(workload: Started, program: Program, wanted: Layout, settings: Settings) -> Iterator[str]:
    tenant = settings.tenant(workload.tenant)
    volumes = tenant.all_volumes
    missing = {mount.volume: place for place, mount in program.mounts.items() if mount.volume not in volumes}
    for name, place in missing.items():
        known = f"has {', '.join(volumes)}" if volumes else "has none"
        yield (
            f"program {workload.program} needs volume {name} at {place}, and tenant {workload.tenant} {known}; add it "
            "to the tenant's `volumes`, or mount another"
        )
    if missing or not program.mounts:
        return
    yield from checkpoint.problems(program, volumes)
    mounted = {mount.volume: volumes[mount.volume] for mount in program.mounts.values()}
    if program.data and all(parsed(each.capacity) < program.data.size_gb * GB for each in mounted.values()):
        sizes = " and ".join(each.capacity for each in mounted.values())
        yield (
            f"program {workload.program} reads {program.data.name} of {program.data.size_gb} GB, and the volume of "
            f"tenant {workload.tenant} has {sizes}; raise its capacity"
        )
    if wanted.total_gpus > settings.profile.gpus:
        for name in (name for name, volume in mounted.items() if _on_one_node(volume)):
            yield (
                f"program {workload.program} mounts volume {name} of tenant {workload.tenant}, which one node alone "
                f"can have, and layout {wanted} takes more; use a volume of kind scratch or a claim with ReadWriteMany"
            )


def _on_one_node(volume: AnyVolume) -> bool:
    if isinstance(volume, ClaimData):
        return volume.access_mode == "ReadWriteOnce"
    return isinstance(volume, LocalVolume)


def _image(workload: Started, settings: Settings) -> Iterator[str]:
    ssh = images.by_ssh(workload, settings)
    architecture = settings.profile.architecture
    if workload.build is not None:
        yield from _build(workload, settings, ssh=ssh)
        return
    if workload.image is None:
        known = settings.program(workload.program).images
        if images.default(known, architecture, ssh=ssh) is None:
            reasons = [f"{each} {images.unfit(each, architecture, ssh=ssh)}" for each in known]
            yield f"image is missing, and the program has none that fits{_because(reasons)}; name one"
        return
    image = images.IMAGES.get(workload.image)
    if image is None:
        return
    if reason := image.unfit(architecture, ssh=ssh):
        yield f"image {workload.image} {reason}; name another"
    elif isinstance(settings.fabric, InfiniBand) and settings.fabric.sharp and image.nccl and image.nccl < images.SHARP:
        yield f"image {workload.image} has NCCL {image.nccl[0]}.{image.nccl[1]}, and fabric.sharp needs 2.6 or later"


def _build(workload: Started, settings: Settings, *, ssh: bool) -> Iterator[str]:
    if workload.image is not None:
        yield f"build {workload.build} and image {workload.image}: give one of them"
    built = images.build(workload, settings)
    if built is None:
        yield f"build {workload.build} is none of the builds of tenant {workload.tenant}; add it, or name an image"
        return
    base = images.IMAGES.get(built.base)
    if base and (reason := base.unfit(settings.profile.architecture, ssh=False)):
        yield f"build {workload.build}: its base {built.base} {reason}; name another"
    if ssh and built.has_sshd is False:
        yield f"build {workload.build} has no sshd, as workers of MPIJob v2beta1 need it; take another source"


def _because(reasons: list[str]) -> str:
    return f" ({'; '.join(reasons)})" if reasons else ""


def _node(workload: Started, settings: Settings) -> Iterator[str]:
    if workload.node is not None:
        yield from _gpu_node(workload.node, settings)


def _names(workload: Started, settings: Settings) -> Iterator[str]:
    yield from _node(workload, settings)
    classes = [each.class_name for each in settings.priority_classes]
    if workload.priority is not None and workload.priority not in classes:
        known = ", ".join(classes) or "none"
        yield f"priority {workload.priority!r} is not one of priority_classes: {known}; add it there"


def _arguments(workload: Started, settings: Settings) -> Iterator[str]:
    """Yield why the job's component rejects its arguments."""
    try:
        arguments(workload, settings)
    except ValidationError as errors:
        for error in errors.errors(include_url=False):
            yield field_errors.argument(error)
