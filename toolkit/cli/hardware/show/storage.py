"""Data sets of a stack and how long it takes to bring them near; blocks of the file system; GPUDirect Storage."""

from collections.abc import Iterator

from core.apis.nccl import SCALE
from core.apis.quantity import parsed
from core.datasets.lock import Lock
from stacks.resolved.locked_data import Locked
from stacks.settings.gpu import GpuOperatorSettings
from stacks.settings.platform import Settings
from stacks.settings.storage import DataSetSettings, DirectoryVolume
from stacks.settings.tenants import TenantSettings
from toolkit.cli.hardware.show.section import Row, Section
from toolkit.review import data_set_changes

_BITS, _GBPS = 8, 10**9
_EXAMPLES = (1, 10, 100)
"""Gb/s of links whose time is shown where the settings name none."""
_KIB = 1024


def data(settings: Settings, locks: Locked) -> tuple[Section, ...]:
    """Return what each set has, and the frames of each class; nothing for a stack without data sets."""
    chosen = [
        (tenant, data_set, locks[tenant.namespace, data_set.name])
        for tenant in settings.tenants
        for data_set in tenant.data_sets
    ]
    if not chosen:
        return ()
    notes = [*_notes([lock for _, _, lock in chosen]), *_slow([(data_set, lock) for _, data_set, lock in chosen])]
    return (
        Section("Data sets", tuple(_row(*entry) for entry in chosen), tuple(notes), source="R-5.1-2, R-5.4-6"),
        Section("Frames by class", tuple(_classes([lock for _, _, lock in chosen])), source="R-5.3-6"),
    )


def _row(tenant: TenantSettings, data_set: DataSetSettings, lock: Lock) -> Row:
    volume = tenant.all_volumes[data_set.volume]
    speeds = (data_set.link_gbps,) if data_set.link_gbps else _EXAMPLES
    return {
        "data set": data_set.name,
        "tenant": tenant.namespace,
        "frames": lock.frames,
        "files": lock.files,
        "size": data_set_changes.size(lock.bytes),
        "volume": data_set.volume,
        "capacity": volume.capacity,
        "part of it, %": f"{100 * lock.bytes / parsed(volume.capacity):.1f}",
        "to bring it near, s": ", ".join(f"{seconds(lock.bytes, speed):,.0f} at {speed:g} Gb/s" for speed in speeds),
        "catalogue of": f"{lock.as_of:%Y-%m-%d %H:%M}",
    }


def seconds(number: int, gbps: float) -> float:
    """Return the least time for a number of bytes over a link, without what protocols add."""
    return number * _BITS / (gbps * _GBPS)


def _notes(locks: list[Lock]) -> Iterator[str]:
    yield (
        "times are the least that the link allows, and a cache reads through its gateway node; "
        "`link_gbps` of a data set names the slowest link between its source and the volume"
    )
    for lock in locks:
        shares = [
            f"{name} {part.frames:,} ({100 * part.frames / lock.frames:.0f} %)" for name, part in lock.splits.items()
        ]
        if shares:
            yield f"{lock.name} is split: {', '.join(shares)} frames"
        if missing := [name for name, frames in lock.frames_by_class.items() if not frames]:
            yield f"{lock.name} has no frame with {', '.join(missing)}"


def _slow(chosen: list[tuple[DataSetSettings, Lock]]) -> Iterator[str]:
    """Yield the sets that it takes longer to bring near than to train with."""
    for data_set, lock in chosen:
        if data_set.link_gbps is None or data_set.training_minutes is None:
            continue
        needed, training = seconds(lock.bytes, data_set.link_gbps), 60 * data_set.training_minutes
        if needed > training:
            yield (
                f"warning: to bring {lock.name} near takes {needed:,.0f} s at {data_set.link_gbps:g} Gb/s, longer than "
                f"its training of {training:,.0f} s: use a faster link, or train several times with what is near"
            )


def _classes(locks: list[Lock]) -> Iterator[Row]:
    """Yield a row for each class of any set, and a column for each set and split."""
    for class_name in dict.fromkeys(name for lock in locks for name in lock.frames_by_class):
        row: dict[str, int | str | None] = {"class": class_name}
        for lock in locks:
            row[lock.name] = lock.frames_by_class.get(class_name)
            row |= {f"{lock.name}/{name}": part.frames_by_class.get(class_name) for name, part in lock.splits.items()}
        yield row


def direct_storage(settings: Settings) -> tuple[Section, ...]:
    """Return the volumes with their file systems; nothing for a stack without GPUDirect Storage."""
    gpu = settings.gpu
    if not isinstance(gpu, GpuOperatorSettings) or not gpu.gds:
        return ()
    rows = tuple(_volumes(settings, gpu))
    unknown = [f"{row['tenant']}/{row['volume']}" for row in rows if row["file system"] is None]
    notes = (
        [
            f"warning: {', '.join(unknown)}: the file system is not known to be on the list of nvidia-fs, and then "
            "GPUs read through the CPU's memory; `gpu.gds_file_systems` names that of a storage class"
        ]
        if unknown
        else []
    )
    return (Section("GPUDirect Storage", rows, tuple(notes), source="D-6.3"),)


def _volumes(settings: Settings, gpu: GpuOperatorSettings) -> Iterator[Row]:
    for tenant in settings.tenants:
        for name, volume in tenant.all_volumes.items():
            named = None if isinstance(volume, DirectoryVolume) else volume.storage_class
            yield {
                "tenant": tenant.namespace,
                "volume": name,
                "storage class": named,
                "file system": SCALE if settings.on_scale(volume) else gpu.gds_file_systems.get(named or ""),
            }


def file_system(settings: Settings, locks: Locked) -> tuple[Section, ...]:
    """Return the blocks beside the data sets in them; nothing for a stack without Storage Scale."""
    if settings.storage is None:
        return ()
    of_scale = settings.storage.file_system
    block = parsed(of_scale.block_size) if of_scale.block_size else None
    rows: list[Row] = []
    notes: list[str] = []
    for name, mean in _means(settings, locks):
        rows.append({"data set": name, "mean file, KiB": round(mean / _KIB)})
        if block is not None and mean > block:
            notes.append(
                f"warning: files of {name} have {mean / _KIB:,.0f} KiB on average, and a block {of_scale.block_size}: "
                "each takes several blocks; use a file system with larger ones"
            )
    if block is None:
        notes.append("storage.file_system.block_size is not given: `mmlsfs NAME -B` prints it")
    head: Row = {"file system": of_scale.name, "block size": of_scale.block_size}
    return (Section("File system", tuple({**head, **row} for row in rows or [{}]), tuple(notes), source="R-2.2-4"),)


def _means(settings: Settings, locks: Locked) -> Iterator[tuple[str, float]]:
    """Yield the data sets on Storage Scale, with the mean size of a file in bytes."""
    for tenant in settings.tenants:
        for data_set in tenant.data_sets:
            lock = locks[tenant.namespace, data_set.name]
            if lock.files and settings.on_scale(tenant.all_volumes[data_set.volume]):
                yield f"{tenant.namespace}/{data_set.name}", lock.bytes / lock.files
