"""What is wrong between Spectrum Scale, its clients and what tenants have of it."""

from collections.abc import Iterator, Mapping

from components.storage.claim import AccessMode
from components.storage.storage_class import Cache
from stacks.checks.duplicates import repeated
from stacks.settings.platform import Settings
from stacks.settings.storage import ClaimVolume, DirectoryVolume, HostClientStorage, Volume

_SHOWN = 4


def problems(settings: Settings) -> Iterator[str]:
    """Yield what the driver does not support, and nodes on which pods would wait for their volumes."""
    storage = settings.storage
    if storage is None:
        return
    own = isinstance(storage, HostClientStorage)
    if isinstance(storage, HostClientStorage):
        yield from repeated("storage.clusters: id", (cluster.id for cluster in storage.clusters))
        yield from repeated("storage.clusters: secret", (cluster.secret for cluster in storage.clusters))
    for storage_class in storage.classes:
        if storage_class.cluster_id not in storage.known_clusters:
            yield (
                f"storage.classes: cluster_id {storage_class.cluster_id} of {storage_class.class_name} is none of "
                f"storage.{'clusters' if own else 'remote.id and storage.cluster_id'} "
                f"({', '.join(storage.known_clusters)}); correct it, or give that cluster's GUI there"
            )
    yield from _modes(settings, {storage_class.class_name: storage_class.volumes for storage_class in storage.classes})
    if own:
        yield from _clients(settings)


def _modes(settings: Settings, classes: Mapping[str, object]) -> Iterator[str]:
    """Yield claims that the driver refuses for their access mode; it would do so at the first claim, in its own log."""
    for tenant in settings.tenants:
        for name, volume in tenant.all_volumes.items():
            if isinstance(volume, DirectoryVolume) or volume.storage_class not in classes:
                continue
            storage_class = classes[volume.storage_class]
            mode: AccessMode = volume.access_mode if isinstance(volume, ClaimVolume) else "ReadWriteOnce"
            if isinstance(storage_class, Cache):
                reason = storage_class.refuses(mode)
            elif mode == "ReadOnlyMany":
                reason = "only caches can be ReadOnlyMany; use ReadWriteMany and read_only: true"
            else:
                reason = None
            if reason:
                yield (
                    f"tenants: volumes.{name} of {tenant.namespace}, access_mode {mode} of storage class "
                    f"{volume.storage_class}: {reason}"
                )


def _clients(settings: Settings) -> Iterator[str]:
    """Yield the nodes without the driver's pods: a job's pod there waits for its volume without any message."""
    without = [node.name for node in settings.gpu_nodes if node.gpus and not node.scale_client]
    users = [
        tenant.namespace
        for tenant in settings.tenants
        if any(_on_scale(volume, settings) for volume in tenant.all_volumes.values())
    ]
    if without and users:
        shown = ", ".join(without[:_SHOWN]) + (f" and {len(without) - _SHOWN} more" if len(without) > _SHOWN else "")
        yield (
            f"nodes: scale_client is false of {shown}, and data of {', '.join(users)} is on Spectrum Scale: pods there "
            "would stay Pending; make them clients and set scale_client, or give them free_gpus: 0"
        )


def _on_scale(volume: Volume, settings: Settings) -> bool:
    return isinstance(volume, DirectoryVolume) or volume.storage_class not in settings.foreign_classes
