"""What is wrong between the tenants, and between them and their data, builds and queues."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import PurePosixPath
from posixpath import normpath

from stacks.checks.duplicates import repeated
from stacks.platform import Settings
from stacks.storage_settings import ClaimData, DirectoryData
from stacks.tenant_settings import TenantSettings


def problems(settings: Settings) -> Iterator[str]:
    """Yield what tenants must not share, and what they name that does not exist."""
    yield from _tenants(settings)
    yield from _builds(settings)
    yield from _data(settings)
    yield from _directories(settings)
    if settings.queues:
        yield from _queues(settings)


def _tenants(settings: Settings) -> Iterator[str]:
    tenants = settings.tenants
    yield from repeated("tenants: namespace", (tenant.namespace for tenant in tenants))
    yield from repeated("tenants: mcs", (tenant.mcs for tenant in tenants))
    for one, other in _overlapping(tenants):
        yield (
            f"tenants: uid_range {one.uid_range} of {one.namespace} overlaps {other.uid_range} of "
            f"{other.namespace}; give each tenant a block of its own"
        )


def _overlapping(tenants: Sequence[TenantSettings]) -> Iterator[tuple[TenantSettings, TenantSettings]]:
    """Yield the pairs that share an id, as settings have them; in order of ids, only neighbours can."""
    by_start = sorted(range(len(tenants)), key=lambda index: tenants[index].uid_range.start)
    found: list[tuple[int, int]] = []
    for position, index in enumerate(by_start):
        for other in islice(by_start, position + 1, None):
            if not tenants[index].uid_range.overlaps(tenants[other].uid_range):
                break
            found.append((min(index, other), max(index, other)))
    yield from ((tenants[one], tenants[other]) for one, other in sorted(found))


def _builds(settings: Settings) -> Iterator[str]:
    yield from repeated("builds", (f"{build.tenant}/{build.name}" for build in settings.builds))
    known = {tenant.namespace for tenant in settings.tenants}
    for build in settings.builds:
        if build.tenant not in known:
            yield f"builds: {build.name} has tenant {build.tenant!r}; known: {', '.join(sorted(known))}"


def _data(settings: Settings) -> Iterator[str]:
    storage = settings.storage
    if storage:
        yield from repeated("storage.classes", (each.class_name for each in storage.classes))
    for tenant in settings.tenants:
        data = tenant.data
        if isinstance(data, DirectoryData):
            if storage is None:
                yield f"tenants: data of {tenant.namespace} is a directory, and storage is missing; give it, or a claim"
            elif isinstance(data.fileset, int) and data.long_handle:
                yield f"tenants: data.fileset {data.fileset} of {tenant.namespace}: the long handle needs its name"
        elif isinstance(data, ClaimData) and data.storage_class == "static":
            yield f"tenants: data.storage_class static of {tenant.namespace} is no class; name one"


def _directories(settings: Settings) -> Iterator[str]:
    """Yield directories that two namespaces would have.

    The Redpaper has several volumes on one path (R-4.2-3). OpenShift gives the files the SELinux level of the namespace
    whose pod mounts them last, and every tenant has a level of its own: the others' running jobs get `Permission
    denied`. No setting of a volume changes that, so who shares files shares a namespace.
    """
    tenants = [(tenant.namespace, tenant.data) for tenant in settings.tenants if isinstance(tenant.data, DirectoryData)]
    yield from repeated("tenants: data.volume", (data.volume for _, data in tenants))
    paths = [PurePosixPath(normpath(data.path)) for _, data in tenants]
    owners: dict[PurePosixPath, list[int]] = {}
    for index, path in enumerate(paths):
        owners.setdefault(path, []).append(index)
    around = (
        (owner, index)
        for index, path in enumerate(paths)
        for up in (path, *path.parents)
        if up in owners
        for owner in owners[up]
    )
    for one, other in sorted(around):
        (outer, above), (inner, below) = tenants[one], tenants[other]
        same = paths[one] == paths[other]
        # Of equal paths each is inside the other: reported once.
        if one != other and (not same or outer < inner):
            where = "that" if same else f"inside {above.path}"
            yield (
                f"tenants: data.path {below.path} of {inner} is {where} of {outer}: OpenShift "
                "labels files for one namespace, and the other loses access; give each its own, or make them one "
                "tenant"
            )


def _queues(settings: Settings) -> Iterator[str]:
    wanted, there = sum(tenant.gpu_quota for tenant in settings.everyone), sum(settings.free.values())
    if wanted > there:
        files = sorted({file for file, tenant in settings.others if tenant.gpu_quota})
        also = f", with those in {' and '.join(files)}," if files else ""
        yield (
            f"queues: the tenants' gpu_quota{also} add up to {wanted} GPUs, and there are {there}: admitted jobs would "
            "wait for nodes; lower them"
        )
    if settings.mpi_operator is None:
        yield "queues: Kueue is made for MPI jobs here, and mpi_operator is missing; give it"
