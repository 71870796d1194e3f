"""The file system of Storage Scale: whether its blocks are as large as the files of the data sets."""

from collections.abc import Iterator

from core.apis.quantity import parsed
from stacks.resolved.locked_data import Locked
from stacks.settings.platform import Settings
from toolkit.cli.hardware.show.section import Row, Section

_KIB = 1024


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
