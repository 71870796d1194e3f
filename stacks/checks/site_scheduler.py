"""What is wrong between Slurm's partitions and the machines."""

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches

from core.hardware.hostlist import expanded
from stacks.checks.duplicates import repeated
from stacks.settings.platform import Settings


def problems(settings: Settings) -> Iterator[str]:
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
        elif duplicates := sorted({host for host in hosts if hosts.count(host) > 1}):
            yield f"{at}: hosts: {duplicates[0]} is given twice; leave one out"
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
