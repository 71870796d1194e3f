"""Layouts, names and places of workloads: pure functions of the settings, known without an engine."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pydantic import Field

from apis import names
from components.layout import Layout
from components.model import Model
from components.outcome import Wait
from hardware import placement
from hardware.placement import Demand, Share, waves
from stacks import instances, topology
from stacks.platform import Settings
from stacks.workload_settings import (
    IndexedWorkload,
    RdmaTestWorkload,
    SpanningWorkload,
    Stage,
    Started,
    Unstarted,
    Workload,
)

_ON = "node/"
"""A resource that only the node of this name has, so that pods that are bound to it fit nowhere else."""


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


def free(workload: Workload, settings: Settings) -> Mapping[str, int]:
    """Return the GPUs that a workload may have, by node; of one with a MIG instance, such instances."""
    if isinstance(workload, Unstarted):
        return settings.free
    there = instances.by_node(workload.instance, settings) if workload.instance else settings.free
    return {name: count for name, count in there.items() if workload.node in (None, name)}


def layout(workload: Started, settings: Settings) -> Layout:
    """Return pods and GPUs of a workload: those that it names, or the best that fits on the free GPUs.

    Best is fewest pods. Raises ValueError with the plan's reason when it names a number of GPUs and nothing fits.
    """
    if isinstance(workload, IndexedWorkload):
        return Layout(pods=workload.slices, gpus=workload.gpus)
    if not isinstance(workload, SpanningWorkload):
        return Layout(pods=1, gpus=workload.gpus)
    if workload.layout is not None:
        return workload.layout
    assert workload.gpus is not None  # noqa: S101 - one of the two is given
    plan = _fitting(workload, workload.gpus, workload.gpus_per_pod, free(workload, settings), settings)
    if plan.reason is not None:
        raise ValueError(plan.reason)
    best = plan.options[0]
    return Layout(pods=best.pods, gpus=best.gpus, nodes=best.nodes)


def _fitting(
    workload: Started, gpus: int, gpus_per_pod: int | None, free: Mapping[str, int], settings: Settings
) -> placement.Plan:
    """Return the layouts of a workload on free GPUs, in one domain of the fabric where it requires that."""
    wanted = topology.request(workload, settings) if isinstance(workload, SpanningWorkload) else None
    if wanted and wanted.required and (rooms := topology.within(wanted.required, free, settings)):
        return placement.plan_within(rooms, gpus, gpus_per_pod, level=wanted.required)
    return placement.plan(free, gpus, gpus_per_pod)


def _bound(workload: Workload, settings: Settings) -> bool:
    """Say whether all pods of a workload must run in one domain of the fabric."""
    wanted = topology.request(workload, settings) if isinstance(workload, SpanningWorkload) else None
    return wanted is not None and wanted.required is not None


def pod_share(workload: Started, settings: Settings) -> Share:
    """Return the CPUs and memory of a pod with GPUs: the part of the machine that goes with them, or the program's."""
    part = (
        instances.share(workload.instance, settings)
        if workload.instance
        else placement.share(settings.profile, layout(workload, settings).gpus, settings.reserved)
    )
    own = settings.program(workload.program).resources
    return Share(cpus=own.cpus or part.cpus, memory_gib=own.memory_gib or part.memory_gib)


def job_name(workload: Workload, settings: Settings) -> str:
    """Return a job's name on the cluster; that of a job of several pods contains pods x GPUs x nodes (R-4.3-2).

    That of a staging is longer there, by a part of the lock's digest (`locked_data.job_name`).
    """
    if isinstance(workload, SpanningWorkload):
        return f"{workload.name}-{layout(workload, settings)}{workload.suffix}"
    return workload.name


def follow(workload: Workload, settings: Settings) -> Wait:
    """Return how far an update follows a workload: by default a training until it starts, others until they finish."""
    trains = not isinstance(workload, Unstarted) and settings.program(workload.program).trains
    return workload.wait or (Wait.STARTED if trains else Wait.FINISHED)


def demands(workload: Workload, settings: Settings) -> list[Demand]:
    """Return what each pod of a workload takes of its node; RDMA devices are shared and never run short first."""
    if isinstance(workload, Unstarted):
        return []
    wanted = layout(workload, settings)
    bound = {_ON + workload.node: wanted.gpus} if workload.node else {}
    part = pod_share(workload, settings)
    devices = {names.GPU_RESOURCE: wanted.gpus}
    if workload.instance:
        devices = {names.GPU_RESOURCE: 0, instances.resource(workload.instance): 1}
    taken = {**devices, "cpu": part.cpus, "memory": part.memory_gib}
    return [{**taken, **bound}] * wanted.pods


def plan(stage: Stage, settings: Settings) -> list[list[Workload]]:
    """Return the workloads of a stage in waves: those of one fit on the GPU nodes and into the quotas together."""
    by_name = {f"{workload.tenant}/{job_name(workload, settings)}": workload for workload in stage.workloads}
    wanted = {name: demands(workload, settings) for name, workload in by_name.items()}
    gpus = {name: _gpus(pods) for name, pods in wanted.items()}
    limits = settings.gpu_limits

    def allowed(together: Sequence[str]) -> bool:
        jobs = [by_name[name] for name in together]
        fits = not any(_bound(job, settings) for job in jobs) or all(on for _, on in _spread(jobs, settings))
        return fits and _within(((job.tenant, gpus[name]) for name, job in zip(together, jobs, strict=True)), limits)

    return [[by_name[name] for name in wave] for wave in waves([*wanted.items()], room(settings), allowed)]


class Running(NamedTuple):
    """A wave that starts, and jobs of earlier ones that may still run: an update has only seen these start."""

    stage: str
    wave: list[Workload]
    held: list[Workload]


def running(settings: Settings) -> Iterator[Running]:
    """Yield all waves in the order in which they start."""
    held: list[Workload] = []
    for stage in settings.stages:
        for wave in plan(stage, settings):
            yield Running(stage.name, wave, held)
            held = [*held, *(workload for workload in wave if follow(workload, settings) is Wait.STARTED)]


def room(settings: Settings) -> dict[str, Demand]:
    """Return what jobs may have of each node."""
    machine, kept = settings.profile, settings.reserved
    beside = {"cpu": machine.cpus - kept.cpus, "memory": machine.memory_gib - kept.memory_gib}
    found: dict[str, Demand] = {}
    for node in settings.gpu_nodes:
        parts = {instances.resource(size): count for size, count in node.instances.items()}
        own = {_ON + node.name: node.gpus + sum(parts.values())}
        found[node.name] = {names.GPU_RESOURCE: node.gpus, **parts, **beside, **own}
    return found


def within_quotas(workloads: Sequence[Workload], settings: Settings) -> bool:
    """Say whether no tenant holds more GPUs than it may, while all of these run."""
    return _within(((each.tenant, _gpus(demands(each, settings))) for each in workloads), settings.gpu_limits)


def _gpus(pods: Iterable[Demand]) -> int:
    return sum(pod[names.GPU_RESOURCE] for pod in pods)


def _within(wanted: Iterable[tuple[str, int]], limits: Mapping[str, int]) -> bool:
    held: Counter[str] = Counter()
    for tenant, gpus in wanted:
        held[tenant] += gpus
    return all(amount <= limits.get(tenant, amount) for tenant, amount in held.items())


def placements(settings: Settings) -> tuple[Placement, ...]:
    """Return where all workloads fit, in the order in which they run."""
    return tuple(
        placed
        for stage in settings.stages
        for number, wave in enumerate(plan(stage, settings), start=1)
        for placed in _placed(stage, number, wave, settings)
    )


def _placed(stage: Stage, number: int, wave: Sequence[Workload], settings: Settings) -> list[Placement]:
    return [
        Placement(
            stage=stage.name,
            wave=number,
            job=f"{workload.tenant}/{job_name(workload, settings)}",
            layout=_layout(workload, settings),
            instance=None if isinstance(workload, Unstarted) else workload.instance,
            on=on,
        )
        for workload, on in _spread(wave, settings)
    ]


def _layout(workload: Workload, settings: Settings) -> Layout | None:
    return None if isinstance(workload, Unstarted) else layout(workload, settings)


def _spread(wave: Sequence[Workload], settings: Settings) -> Iterator[tuple[Workload, tuple[tuple[str, int], ...]]]:
    """Yield for each workload of a wave the nodes that have room beside those before it, with the pods on each."""
    taken: Counter[tuple[str | None, str]] = Counter()
    for workload in wave:
        wanted = _layout(workload, settings)
        size = None if isinstance(workload, Unstarted) else workload.instance
        left = {node: count - taken[size, node] for node, count in free(workload, settings).items()}
        on = _nodes(workload, wanted, left, settings)
        for node, pods in on:
            taken[size, node] += pods * (wanted.gpus if wanted else 0)
        yield workload, on


def _nodes(
    workload: Workload, wanted: Layout | None, left: Mapping[str, int], settings: Settings
) -> tuple[tuple[str, int], ...]:
    if isinstance(workload, RdmaTestWorkload):
        return ((workload.client_node, 1), (workload.server_node, 1))
    if wanted is None or isinstance(workload, Unstarted):
        return ()
    options = _fitting(workload, wanted.total_gpus, wanted.gpus, left, settings).options
    return options[0].on if options else ()
