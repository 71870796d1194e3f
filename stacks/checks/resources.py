"""What is wrong between the resources that a program names for its pods, and machines and queues."""

from collections.abc import Iterator

from components.layout import Layout
from hardware.placement import fits
from stacks import layouts
from stacks.platform import Settings
from stacks.workload_settings import Started


def problems(workload: Started, wanted: Layout, settings: Settings) -> Iterator[str]:
    """Yield why no nodes have room for the pods of a workload, whose GPUs they have."""
    machine, kept = settings.profile, settings.reserved
    program, own = workload.program, settings.program(workload.program).resources
    part = layouts.pod_share(workload, settings)
    for name in own.further if settings.queues else ():
        yield (
            f"program {program} has resources.further {name}, which no quota of `queues` covers, so that Kueue never "
            "admits the job; leave it out"
        )
    limits = (
        ("cpus", part.cpus, machine.cpus - kept.cpus, "CPUs"),
        ("memory_gib", part.memory_gib, machine.memory_gib - kept.memory_gib, "GiB"),
    )
    larger = [limit for limit in limits if limit[1] > limit[2]]
    for field, value, there, unit in larger:
        yield f"program {program} has resources.{field} {value}, more than {there} {unit} of {machine.name}; lower it"
    room = layouts.room(settings)
    free = {node: room[node] for node in layouts.free(workload, settings)}
    if free and not larger and not fits(layouts.demands(workload, settings), free):
        yield (
            f"layout {wanted} with resources of program {program}, {part.cpus} CPUs and {part.memory_gib} GiB a pod, "
            f"does not fit on {len(free)} nodes; lower pods, or resources"
        )
