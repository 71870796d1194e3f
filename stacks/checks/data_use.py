"""What is wrong between data sets, the volumes that have them, and the workloads that stage and read them."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from components.storage.storage_class import Cache
from stacks.resolved.locked_data import folder
from stacks.settings.data_sets import DataSetSettings
from stacks.settings.platform import Settings
from stacks.settings.storage import ClaimVolume, Volume, in_pods
from stacks.settings.tenants import TenantSettings
from stacks.settings.workloads import IndexedWorkload, RdmaTestWorkload, StageDataWorkload, Started


def problems(settings: Settings) -> Iterator[str]:
    """Yield data sets on caches that write back, and workloads that no locked and staged data set is there for."""
    classes = (
        {storage_class.class_name: storage_class.volumes for storage_class in settings.storage.classes}
        if settings.storage
        else {}
    )
    for tenant in settings.tenants:
        for data_set in tenant.data_sets:
            volume = tenant.all_volumes[data_set.volume]
            cache = classes.get(volume.storage_class) if isinstance(volume, ClaimVolume) else None
            if isinstance(cache, Cache) and isinstance(volume, ClaimVolume) and cache.writes_back(volume.access_mode):
                yield (
                    f"tenants: data_sets.{data_set.name} of {tenant.namespace} is on volume {data_set.volume}, a cache "
                    f"of mode {cache.mode or 'parallel (the default)'}, which lets pods change the source, or what "
                    "is cached of it; set the class's mode readonly, and the claim's access_mode ReadOnlyMany"
                )
    yield from _workloads(settings)


def data_set_of(workload: Started | StageDataWorkload, settings: Settings) -> DataSetSettings | None:
    """Return the data set of a workload; None where it names none, or one that its tenant lacks."""
    tenant = next((tenant for tenant in settings.tenants if tenant.namespace == workload.tenant), None)
    return (
        next((data_set for data_set in tenant.data_sets if data_set.name == workload.data_set), None)
        if tenant
        else None
    )


def _workloads(settings: Settings) -> Iterator[str]:
    tenants = {tenant.namespace: tenant for tenant in settings.tenants}
    staged: set[tuple[str, str]] = set()
    for stage in settings.stages:
        for workload in stage.workloads:
            tenant = tenants.get(workload.tenant)
            if tenant is None or isinstance(workload, RdmaTestWorkload) or workload.data_set is None:
                continue
            data_set = data_set_of(workload, settings)
            place = f"stages: job {workload.name}"
            if data_set is None:
                names = ", ".join(entry.name for entry in tenant.data_sets) or "none"
                yield (
                    f"{place} has data_set {workload.data_set!r}, and data_sets of {tenant.namespace} has {names}; "
                    "add it there, or correct the name"
                )
            elif isinstance(workload, StageDataWorkload):
                yield from (f"{place}: {problem}" for problem in _volume(data_set, tenant.all_volumes[data_set.volume]))
            else:
                read = (tenant.namespace, data_set.name) in staged
                yield from (
                    f"{place}: {problem}" for problem in _reads(workload, data_set, tenant, settings, staged=read)
                )
        staged |= {
            (workload.tenant, workload.data_set)
            for workload in stage.workloads
            if isinstance(workload, StageDataWorkload)
        }


def _volume(data_set: DataSetSettings, volume: Volume) -> Iterator[str]:
    """Yield that pods on several nodes cannot have a volume."""
    if not isinstance(volume, ClaimVolume) or volume.access_mode != "ReadWriteOnce":
        return
    yield (
        f"volume {data_set.volume} of data set {data_set.name} is ReadWriteOnce, and pods on several nodes stage it; "
        "use a claim with ReadOnlyMany or ReadWriteMany"
    )


def _reads(
    workload: Started, data_set: DataSetSettings, tenant: TenantSettings, settings: Settings, *, staged: bool
) -> Iterator[str]:
    if not staged:
        yield (
            f"data_set {data_set.name} is staged in no earlier stage; add a workload of kind stage-data of tenant "
            f"{tenant.namespace} to a stage before it"
        )
    parts = tuple(data_set.split.parts) if data_set.split else ()
    if workload.split is not None and workload.split not in parts:
        yield f"split {workload.split!r} of data_set {data_set.name}: it has {', '.join(parts) or 'none'}; correct it"
    program = settings.program(workload.program)
    at = PurePosixPath(folder(data_set.name))
    for place in map(PurePosixPath, program.mounts):
        if place.is_relative_to(at) or at.is_relative_to(place):
            yield f"program {workload.program} mounts {place}, where data set {data_set.name} is, {at}; move its mount"
    if isinstance(workload, IndexedWorkload):
        yield from _results(workload, tenant, settings)


def _results(workload: IndexedWorkload, tenant: TenantSettings, settings: Settings) -> Iterator[str]:
    """Yield why pods cannot leave the proofs of their slices where the reducer reads them."""
    program = settings.program(workload.program)
    mounts = [mount for place, mount in program.mounts.items() if PurePosixPath(workload.results).is_relative_to(place)]
    if not mounts:
        mounted = ", ".join(program.mounts) or "none"
        yield (
            f"results {workload.results} is on no volume that program {workload.program} mounts ({mounted}); mount one "
            "there, or name a folder of it"
        )
    for mount in mounts:
        volume = tenant.all_volumes.get(mount.volume)
        if volume is not None and (mount.read_only or in_pods(volume).read_only):
            yield f"results {workload.results} is on volume {mount.volume}, which is read-only; use a writable one"
        if volume is not None and in_pods(volume).kind == "scratch":
            yield (
                f"results {workload.results} is on volume {mount.volume}, of which each pod has its own; use a claim "
                "with ReadWriteMany"
            )
