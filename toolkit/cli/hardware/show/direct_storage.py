"""From which of the tenants' volumes GPUs read without the CPU's memory (GPUDirect Storage)."""

from collections.abc import Iterator

from core.apis.gpudirect_storage import SCALE
from stacks.settings.gpu import GpuOperatorSettings
from stacks.settings.platform import Settings
from stacks.settings.storage import DirectoryVolume, Volume
from toolkit.cli.hardware.show.section import Row, Section


def direct_storage(settings: Settings) -> tuple[Section, ...]:
    """Return the volumes with their file systems; nothing for a stack without GPUDirect Storage."""
    gpu = settings.gpu
    if not isinstance(gpu, GpuOperatorSettings) or not gpu.gds:
        return ()
    rows = tuple(_rows(settings, gpu))
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


def _rows(settings: Settings, gpu: GpuOperatorSettings) -> Iterator[Row]:
    for tenant in settings.tenants:
        for name, volume in tenant.all_volumes.items():
            named = _storage_class(volume)
            yield {
                "tenant": tenant.namespace,
                "volume": name,
                "storage class": named,
                "file system": SCALE if settings.on_scale(volume) else gpu.gds_file_systems.get(named or ""),
            }


def _storage_class(volume: Volume) -> str | None:
    return None if isinstance(volume, DirectoryVolume) else volume.storage_class
