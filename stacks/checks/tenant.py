"""What is wrong between the tenants, those of other stacks too, and between them and their data, builds and queues."""

from collections.abc import Iterator, Sequence
from itertools import islice, product
from pathlib import PurePosixPath
from posixpath import normpath

from components.storage.static_volume import STORAGE_CLASS
from core.wording import plural
from stacks.checks import of_pool, repeated
from stacks.settings.gpu import GpuOperatorSettings
from stacks.settings.platform import Settings
from stacks.settings.storage import ClaimVolume, DirectoryVolume, LocalVolume, ScratchVolume
from stacks.settings.tenants import TenantSettings


def problems(settings: Settings) -> Iterator[str]:
    """Yield what tenants must not share, and what they name that is missing; a duplicate tenant hides the rest."""
    yield from _neighbours(settings)
    if duplicates := list(repeated("tenants: namespace", (tenant.namespace for tenant in settings.tenants))):
        yield from duplicates
        return
    yield from _tenants(settings)
    yield from _builds(settings)
    yield from _data(settings)
    yield from _directories(settings)
    yield from _queues(settings) if settings.queues else _quotas(settings)


def _tenants(settings: Settings) -> Iterator[str]:
    tenants = settings.tenants
    yield from repeated("tenants: mcs", (tenant.mcs for tenant in tenants))
    for tenant, other in _overlapping(tenants):
        yield (
            f"tenants: uid_range {tenant.uid_range} of {tenant.namespace} overlaps {other.uid_range} of "
            f"{other.namespace}; give each tenant a block of its own"
        )


def _overlapping(tenants: Sequence[TenantSettings]) -> Iterator[tuple[TenantSettings, TenantSettings]]:
    """Yield the pairs that share an id, as settings have them; in order of ids, only neighbours can."""
    by_start = sorted(range(len(tenants)), key=lambda index: tenants[index].uid_range.start)
    overlaps: list[tuple[int, int]] = []
    for position, index in enumerate(by_start):
        for other in islice(by_start, position + 1, None):
            if not tenants[index].uid_range.overlaps(tenants[other].uid_range):
                break
            overlaps.append((min(index, other), max(index, other)))
    yield from ((tenants[first], tenants[second]) for first, second in sorted(overlaps))


def _builds(settings: Settings) -> Iterator[str]:
    yield from repeated("builds", (f"{build.tenant}/{build.name}" for build in settings.builds))
    namespaces = {tenant.namespace for tenant in settings.tenants}
    for build in settings.builds:
        if build.tenant not in namespaces:
            yield f"builds: {build.name} has tenant {build.tenant!r}; known: {', '.join(sorted(namespaces))}"


def _data(settings: Settings) -> Iterator[str]:
    storage = settings.storage
    if storage:
        yield from repeated("storage.classes", (storage_class.class_name for storage_class in storage.classes))
    for tenant in settings.tenants:
        for name, volume in tenant.all_volumes.items():
            place = f"volumes.{name}"
            if isinstance(volume, DirectoryVolume):
                if storage is None:
                    yield (
                        f"tenants: {place} of {tenant.namespace} is a directory, and storage is missing; give it, or "
                        "a claim"
                    )
                elif isinstance(volume.fileset, int) and volume.long_handle:
                    yield (
                        f"tenants: {place}.fileset {volume.fileset} of {tenant.namespace}: the long handle needs its "
                        "name"
                    )
            else:
                yield from _class(volume, f"{place}.storage_class", tenant, settings)
        claims = (volume.claim for volume in tenant.all_volumes.values() if not isinstance(volume, ScratchVolume))
        yield from repeated(f"tenants: claim of volumes of {tenant.namespace}", claims)


def _class(
    volume: ClaimVolume | ScratchVolume | LocalVolume, place: str, tenant: TenantSettings, settings: Settings
) -> Iterator[str]:
    if volume.storage_class == STORAGE_CLASS:
        yield f"tenants: {place} {STORAGE_CLASS} of {tenant.namespace} is not a class; name one"
    elif isinstance(volume, LocalVolume) and volume.storage_class not in settings.foreign_classes:
        yield (
            f"tenants: {place} {volume.storage_class} of {tenant.namespace} is a class of Spectrum Scale, which is on "
            "no node's disks; name a class of local disks, or use kind claim"
        )


def _directories(settings: Settings) -> Iterator[str]:
    """Yield directories that two namespaces would have.

    The Redpaper has several volumes on one path. OpenShift gives the files the SELinux level of the namespace
    whose pod mounts them last, and every tenant has a level of its own: the others' running jobs get `Permission
    denied`. No setting of a volume changes that, so who shares files shares a namespace.
    """
    directories = [(tenant.namespace, *directory) for tenant in settings.tenants for directory in tenant.directories]
    yield from repeated("tenants: volumes.volume", (directory.volume for *_, directory in directories))
    paths = [PurePosixPath(normpath(data.path)) for *_, data in directories]
    owners: dict[PurePosixPath, list[int]] = {}
    for index, path in enumerate(paths):
        owners.setdefault(path, []).append(index)
    nested = (
        (owner, index)
        for index, path in enumerate(paths)
        for up in (path, *path.parents)
        if up in owners
        for owner in owners[up]
    )
    for above_index, below_index in sorted(nested):
        (outer, _, above), (inner, place, below) = directories[above_index], directories[below_index]
        same = paths[above_index] == paths[below_index]
        # Of equal paths each is inside the other: reported once.
        # One tenant may have a directory and another inside it: both have its level.
        if outer != inner and (not same or outer < inner):
            where = "that" if same else f"inside {above.path}"
            yield (
                f"tenants: {place}.path {below.path} of {inner} is {where} of {outer}: OpenShift "
                "labels files for one namespace, and the other loses access; give each its own, or make them one "
                "tenant"
            )


def _quotas(settings: Settings) -> Iterator[str]:
    """Yield quotas above the machines; together they may be above them, where no queue promises what is in a quota."""
    if isinstance(settings.gpu, GpuOperatorSettings) and settings.gpu.mig == "single":
        return  # nvidia.com/gpu counts parts of GPUs
    for pool in settings.gpu_pools:
        capacity = sum(pool.machine.gpus for node in pool.nodes if node.mig is None)
        for tenant in settings.tenants:
            if (quota := settings.gpu_quota(tenant, pool)) > capacity:
                yield (
                    f"tenants: gpu_quota {quota} of {tenant.namespace} exceeds the {plural(capacity, 'GPU')} of the "
                    f"nodes{of_pool(pool)}; lower it, or add nodes"
                )


def _queues(settings: Settings) -> Iterator[str]:
    for pool in settings.gpu_pools:
        demand = sum(settings.gpu_quota(tenant, pool) for tenant in settings.everyone)
        capacity = sum(pool.free.values())
        if demand > capacity:
            files = sorted({file for file, tenant in settings.others if settings.gpu_quota(tenant, pool)})
            also = f", with those in {' and '.join(files)}," if files else ""
            yield (
                f"queues: the tenants' gpu_quota{also} add up to {plural(demand, 'GPU')}{of_pool(pool)}, and there "
                f"are {capacity}: admitted jobs would wait for nodes; lower them"
            )
    if settings.mpi_operator is None:
        yield "queues: Kueue is made for MPI jobs here, and mpi_operator is missing; give it"


def _neighbours(settings: Settings) -> Iterator[str]:
    """Yield what a tenant of this stack has in common with one of another stack; the message names that file."""
    for file, other in settings.others:
        for own in settings.tenants:
            where = f"{other.namespace} in {file}"
            if own.namespace == other.namespace:
                yield f"tenants: namespace {own.namespace} is in {file}, too; give each its own"
            if own.mcs == other.mcs:
                yield f"tenants: mcs {own.mcs} of {own.namespace} is that of {where}; give each its own"
            if own.uid_range.overlaps(other.uid_range):
                yield (
                    f"tenants: uid_range {own.uid_range} of {own.namespace} overlaps {other.uid_range} of {where}; "
                    "give each tenant a block of its own"
                )
            yield from _shared_with_neighbour(own, other, where)


def _shared_with_neighbour(own: TenantSettings, other: TenantSettings, where: str) -> Iterator[str]:
    """Yield a volume or a directory that both have; `_directories` has the reason why they cannot share it."""
    # Of all pairs, so no PurePosixPath: 300 tenants beside 300 took 1 s of it.
    for (place, own_directory), (_, their_directory) in product(own.directories, other.directories):
        if own_directory.volume == their_directory.volume:
            yield (
                f"tenants: {place}.volume {own_directory.volume} of {own.namespace} is that of {where}; "
                "give each its own"
            )
        own_path, their_path = (
            f"{normpath(directory.path).rstrip('/')}/" for directory in (own_directory, their_directory)
        )
        if own_path.startswith(their_path) or their_path.startswith(own_path):
            yield (
                f"tenants: {place}.path {own_directory.path} of {own.namespace} and {their_directory.path} of {where} "
                "have files in common: OpenShift labels files for one namespace, and the other loses access; "
                "give each its own"
            )
