"""Where the jobs of a stack fit, and which may run at the same time: pure functions, known without an engine."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pydantic import Field

from components.base.model import Model
from components.jobs.layout import Layout
from components.jobs.outcome import Wait
from core.apis import names
from core.hardware.placement import Demand, waves
from stacks.resolved import instances, jobs
from stacks.resolved.jobs import ON_NODE, Job, PlainJob
from stacks.settings.platform import Settings
from stacks.settings.workloads import RdmaTestWorkload


class Placement(Model):
    """Where a workload fits, next to those that may run at the same time."""

    stage: str
    wave: int = Field(gt=0, description="within the stage; each wave starts when the one before it has got far enough")
    job: str = Field(description="namespace/name")
    layout: Layout | None = Field(description="None for a workload without GPUs")
    instance: str | None = Field(default=None, description="size of its pods' MIG instances; None: whole GPUs")
    on: tuple[tuple[str, int], ...] = Field(
        description="node, pods on it; the scheduler may find others. Empty: only after others have finished"
    )

    @property
    def gpus(self) -> int:
        """Whole GPUs that it takes."""
        return self.layout.total_gpus if self.layout and not self.instance else 0


class Running(NamedTuple):
    """A wave that starts, and jobs of earlier ones that may still run: an update has only seen these start."""

    stage: str
    wave: list[Job]
    held: list[Job]


def running(settings: Settings) -> Iterator[Running]:
    """Yield all waves in the order in which they start."""
    earlier: list[Job] = []
    for stage, of_stage in jobs.by_stage(settings):
        for wave in plan(of_stage, settings):
            yield Running(stage.name, wave, earlier)
            earlier = [*earlier, *(job for job in wave if job.wait is Wait.STARTED)]


def plan(of_stage: Sequence[Job], settings: Settings) -> list[list[Job]]:
    """Return the jobs of a stage in waves: those of one fit on the GPU nodes and into the quotas together."""
    by_id = {job.id: job for job in of_stage}
    limits = settings.gpu_limits

    def allowed(job_ids: Sequence[str]) -> bool:
        wave = [by_id[name] for name in job_ids]
        fits = not any(job.closeness and job.closeness.required for job in wave) or all(
            on for _, on in _node_assignments(wave)
        )
        return fits and _within_limits(wave, limits)

    demands = [(name, job.demands) for name, job in by_id.items()]
    return [[by_id[name] for name in wave] for wave in waves(demands, room(settings), allowed)]


def room(settings: Settings) -> dict[str, Demand]:
    """Return what jobs may have of each node."""
    amounts: dict[str, Demand] = {}
    for pool in settings.gpu_pools:
        beside = {"cpu": pool.for_jobs.cpus, "memory": pool.for_jobs.memory_gib}
        for node in pool.nodes:
            parts = {instances.resource(size): count for size, count in node.instances.items()}
            own = {ON_NODE + node.name: node.gpus + sum(parts.values())}
            amounts[node.name] = {names.GPU_RESOURCE: node.gpus, **parts, **beside, **own}
    return amounts


def within_quotas(concurrent: Sequence[Job], settings: Settings) -> bool:
    """Say whether no tenant holds more GPUs than it may, while all of these run."""
    return _within_limits(concurrent, settings.gpu_limits)


def placements(settings: Settings) -> tuple[Placement, ...]:
    """Return where all jobs fit, in the order in which they run."""
    return tuple(
        Placement(stage=stage.name, wave=number, job=job.id, layout=job.layout, instance=job.instance, on=on)
        for stage, of_stage in jobs.by_stage(settings)
        for number, wave in enumerate(plan(of_stage, settings), start=1)
        for job, on in _node_assignments(wave)
    )


def _within_limits(concurrent: Iterable[Job], limits: Mapping[tuple[str, str], int]) -> bool:
    gpus: Counter[tuple[str, str]] = Counter()
    for job in concurrent:
        gpus[job.tenant.namespace, job.pool.name] += sum(pod[names.GPU_RESOURCE] for pod in job.demands)
    return all(amount <= limits.get(tenant_and_pool, amount) for tenant_and_pool, amount in gpus.items())


def _node_assignments(wave: Sequence[Job]) -> Iterator[tuple[Job, tuple[tuple[str, int], ...]]]:
    """Yield for each job of a wave the nodes that have room beside those before it, with the pods on each."""
    used: Counter[tuple[str | None, str]] = Counter()
    for job in wave:
        if isinstance(job, PlainJob):
            test = job.workload if isinstance(job.workload, RdmaTestWorkload) else None
            yield job, ((test.client_node, 1), (test.server_node, 1)) if test else ()
            continue
        options = job.placed({node: count - used[job.instance, node] for node, count in job.free.items()}).options
        on = options[0].on if options else ()
        for node, pods in on:
            used[job.instance, node] += pods * job.layout.gpus
        yield job, on
