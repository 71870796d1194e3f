"""What is wrong between what `site` has around the cluster, but hosts and switches, and the other settings."""

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import PurePosixPath

from core.hardware.hostlist import expanded
from core.wording import duplicates
from stacks.checks import repeated
from stacks.settings.platform import Settings
from stacks.settings.storage import DirectoryVolume, HostClientStorage


def problems(settings: Settings) -> Iterator[str]:
    """Yield what is wrong with the mirror, with Spectrum Scale on the hosts, and with Slurm."""
    yield from _mirror(settings)
    yield from _scale(settings)
    yield from _scheduler(settings)


def _mirror(settings: Settings) -> Iterator[str]:
    """Yield a channel of OpenShift for a release that is not the stack's, or that no image set is written for."""
    mirror = settings.site.mirror if settings.site else None
    if mirror is None or mirror.platform is None:
        return
    if settings.version.image_mirrors != "digests-and-tags":
        yield (
            f"site.mirror.platform: release {settings.release} cannot use what oc-mirror v2 writes (4.13 and later); "
            "leave it out"
        )
        return
    channel = mirror.platform.channel
    name, _, release = channel.partition("-")
    if release != settings.release:
        yield (
            f"site.mirror.platform.channel {channel} is not of release {settings.release}, which the cluster has; "
            f"write {name}-{settings.release}"
        )


def _scale(settings: Settings) -> Iterator[str]:
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


def _scheduler(settings: Settings) -> Iterator[str]:
    """Yield partitions with unknown nodes, and those that let a job have more nodes than there are."""
    scheduler = settings.site.scheduler if settings.site else None
    if scheduler is None:
        return
    nodes = [node.name.partition(".")[0] for node in settings.gpu_nodes]
    if scheduler.controller in nodes:
        yield (
            f"site.scheduler.controller: {scheduler.controller} is a GPU node, and jobs may have all of its cores and "
            "memory; name another host"
        )
    yield from repeated("site.scheduler.partitions: name", (partition.name for partition in scheduler.partitions))
    yield from _unknown("images", "build", scheduler.images, [build.name for build in settings.builds])
    volumes = [name for tenant in settings.tenants for name in tenant.all_volumes]
    yield from _unknown("volumes", "volume", scheduler.volumes, volumes)
    for partition in scheduler.partitions:
        at = f"site.scheduler.partitions: {partition.name}"
        try:
            hosts = [name for pattern in partition.hosts for name in expanded(pattern)] or nodes
        except ValueError as error:
            yield f"{at}: hosts {error}"
            continue
        if unknown := [host for host in hosts if host not in nodes]:
            near = get_close_matches(unknown[0], nodes, 1)
            yield (
                f"{at}: hosts: no GPU node is called {unknown[0]}; correct it{f' to {near[0]}' if near else ''}, "
                "or leave it out"
            )
        elif twice := duplicates(hosts):
            yield f"{at}: hosts: {twice[0]} is given twice; leave one out"
        elif partition.max_nodes and partition.max_nodes > len(hosts):
            yield (
                f"{at}: max_nodes {partition.max_nodes} exceeds its {len(hosts)} nodes; lower it to {len(hosts)}, or "
                "add hosts"
            )


def _unknown(field: str, kind: str, names: Iterable[str], declared: Sequence[str]) -> Iterator[str]:
    """Yield names that the stack has no build or volume of, so that no job would use what they stand for."""
    for name in sorted({*names} - {*declared}):
        options = f"use one of {', '.join(dict.fromkeys(declared))}" if declared else "remove it"
        yield f"site.scheduler.{field}: no {kind} is called {name}; {options}"
