"""What is wrong between the resources that a program names for its pods, and machines and queues."""

from collections.abc import Iterator

from core.hardware.placement import fits
from stacks.resolved import placements
from stacks.resolved.jobs import ProgramJob
from stacks.settings.platform import Settings


def problems(job: ProgramJob, settings: Settings) -> Iterator[str]:
    """Yield why no nodes have room for the pods of a job, whose GPUs they have."""
    node, part, program = job.pool.for_jobs, job.share, job.workload.program
    for name in job.program.resources.further if settings.queues else ():
        yield (
            f"program {program} has resources.further {name}, which no quota of `queues` covers, so that Kueue never "
            "admits the job; leave it out"
        )
    limits = (
        ("cpus", part.cpus, node.cpus, "CPUs"),
        ("memory_gib", part.memory_gib, node.memory_gib, "GiB"),
    )
    larger = [limit for limit in limits if limit[1] > limit[2]]
    for field, value, most, unit in larger:
        name = job.pool.machine.name
        yield f"program {program} has resources.{field} {value}, more than {most} {unit} of {name}; lower it"
    room = placements.room(settings)
    free = {node: room[node] for node in job.free}
    if free and not larger and not fits(job.demands, free):
        yield (
            f"layout {job.layout} with resources of program {program}, {part.cpus} CPUs and {part.memory_gib} GiB a "
            f"pod, does not fit on {len(free)} nodes; lower pods, or resources"
        )
