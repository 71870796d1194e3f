"""What is wrong between data sets and checkpoints, their volumes, and the workloads that use them."""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from components.storage.storage_class import Cache
from core.apis.quantity import parsed
from core.datasets.lock import Lock
from stacks.programs import Program
from stacks.resolved.locked_data import folder
from stacks.settings.platform import Settings
from stacks.settings.storage import ClaimVolume, DataSetSettings, ScratchVolume, Volume, in_pods
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


def between_locks(settings: Settings, locks: Mapping[tuple[str, str], Lock]) -> Iterator[str]:
    """Yield data sets of one lock that differ, and those that their volumes have no room for."""
    yield from _shared(settings)
    yield from _too_large(settings, locks)


def _shared(settings: Settings) -> Iterator[str]:
    owners: dict[str, tuple[str, DataSetSettings]] = {}
    for tenant in settings.tenants:
        for data_set in tenant.data_sets:
            other, first = owners.setdefault(data_set.lock_file, (tenant.namespace, data_set))
            if (first.name, first.content) != (data_set.name, data_set.content):
                yield (
                    f"tenants: data_sets.{first.name} of {other} and {_name_if_other(first, data_set)}of "
                    f"{tenant.namespace} have the lock {data_set.lock_file}, and differ; "
                    "give one of them another `lock`"
                )


def _name_if_other(first: DataSetSettings, data_set: DataSetSettings) -> str:
    return "" if first.name == data_set.name else f"{data_set.name} "


def _too_large(settings: Settings, locks: Mapping[tuple[str, str], Lock]) -> Iterator[str]:
    """Yield the volumes that are smaller than the data sets on them are together.

    The capacity of a volume on demand is the quota of its fileset: a cache evicts what is beyond it, and a job would
    fetch files again and again.
    """
    for tenant in settings.tenants:
        for name, volume in tenant.all_volumes.items():
            sizes = {
                data_set.name: locks[key].bytes
                for data_set in tenant.data_sets
                if data_set.volume == name and (key := (tenant.namespace, data_set.name)) in locks
            }
            if sum(sizes.values()) > parsed(volume.capacity):
                sets = " and ".join(f"{set_name} of {bytes_:,} bytes" for set_name, bytes_ in sizes.items())
                total = f", {sum(sizes.values()):,} together" if len(sizes) > 1 else ""
                yield (
                    f"tenants: volumes.{name}.capacity {volume.capacity} of {tenant.namespace} is less than "
                    f"data_sets {sets}{total}; raise it, or choose fewer frames"
                )


def checkpoints(program: Program, volumes: Mapping[str, Volume]) -> Iterator[str]:
    """Yield why the checkpoints of a program cannot be written, or do not outlive its pods."""
    place = program.checkpoint_mount
    name = program.mounts[place].volume if place is not None else None
    if name is None or name not in volumes:
        return
    volume = volumes[name]
    if isinstance(volume, ScratchVolume):
        why = "of kind scratch is deleted with each pod"
    elif volume.read_only:
        why = "is read_only"
    else:
        return
    yield f"checkpoint {program.checkpoint}: volume {name} {why}; mount a directory or a claim there"
