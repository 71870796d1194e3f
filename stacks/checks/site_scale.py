"""Rules between Spectrum Scale clients on the hosts and the other settings."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from stacks.settings.platform import Settings
from stacks.settings.storage import DirectoryVolume, HostClientStorage


def problems(settings: Settings) -> Iterator[str]:
    """Yield clients that are not there, a pagepool that pods would miss, and data that is not where it is mounted."""
    scale = settings.site.scale if settings.site else None
    if scale is None:
        return
    if not isinstance(settings.storage, HostClientStorage):
        yield "site.scale: the stack has no storage of kind host-clients, whose clients are on hosts; leave it out"
        return
    clients = {node.name for node in settings.nodes if node.scale_client}
    if not clients:
        yield "site.scale: no node has scale_client: true; give it to the clients, or leave site.scale out"
    for name in sorted(clients & {node.name for node in scale.nodes}):
        yield f"site.scale.nodes: {name} is a client of `nodes`, too; leave it out of one of them"
    pool, reserved = scale.pagepool_gib, min(pool.reserved.memory_gib for pool in settings.gpu_pools)
    if pool and pool > reserved:
        yield (
            f"site.scale.pagepool_gib {pool} exceeds the {reserved} GiB that GPU nodes reserve, and pods would "
            "miss it; lower it, or raise reserve.memory_gib"
        )
    for tenant in settings.tenants:
        for volume in tenant.all_volumes.values():
            if isinstance(volume, DirectoryVolume) and not PurePosixPath(volume.path).is_relative_to(scale.mount):
                yield (
                    f"tenants: {tenant.namespace} has directory {volume.path}, and site.scale.mount is {scale.mount}; "
                    "give the directory below it"
                )
