"""What is wrong between data sets and the volumes that have them."""

from collections.abc import Iterator, Mapping

from core.apis.quantity import parsed
from core.datasets.lock import Lock
from stacks.settings.data_sets import DataSetSettings
from stacks.settings.platform import Settings


def problems(settings: Settings, locks: Mapping[tuple[str, str], Lock]) -> Iterator[str]:
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
