"""What is wrong between what pods of jobs take and what machines, NUMA nodes and queues have for them."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from math import ceil
from typing import NamedTuple

from components.jobs.mpi_job_args import V2Beta1
from core.apis.quantity import parsed
from core.hardware import topology
from core.hardware.cpus import parse
from core.hardware.placement import fits
from core.hardware.topology import system_gib
from stacks.resolved import jobs, placements, quotas
from stacks.resolved.jobs import Job, ProgramJob
from stacks.settings.platform import Settings
from stacks.settings.workloads import MpiWorkload


def problems(settings: Settings) -> Iterator[str]:
    """Yield jobs that would wait for GPUs, quotas or memory for ever."""
    yield from _order(settings)
    yield from _queues(settings)
    yield from _memory(settings)


def of_job(job: ProgramJob, settings: Settings) -> Iterator[str]:
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


def numa_node_of_job(job: ProgramJob) -> Iterator[str]:
    """Yield why no NUMA node has all that a container requests, where the kubelet admits no other pod."""
    kubelet = job.pool.tuning.kubelet if job.pool.tuning else None
    if kubelet is None or kubelet.topology_policy != "single-numa-node":
        return
    machine, cpus = job.pool.machine, job.share.cpus
    reserved = parse(topology.reserved_cpus(machine, kubelet.reserved))
    gpus, free_cpus = max((len(node.gpus), len(node.cpu_set - reserved)) for node in machine.numa)
    refused = "the nodes end its pods for ever"
    if job.layout.gpus > gpus:
        yield (
            f"layout.gpus {job.layout.gpus}: tuning.kubelet.topology_policy is single-numa-node, and a NUMA node of "
            f"{machine.name} has {gpus} GPUs: {refused}; give at most {gpus}, or another policy"
        )
    elif cpus > free_cpus:
        yield (
            f"layout.gpus {job.layout.gpus} takes {cpus} CPUs: tuning.kubelet.topology_policy is single-numa-node, and "
            f"a NUMA node of {machine.name} has {free_cpus} that are not reserved: {refused}; raise reserve.cpus, or "
            "give another policy"
        )


_STRICT = ("restricted", "single-numa-node")


def _memory(settings: Settings) -> Iterator[str]:
    """Yield jobs whose pods the kubelet rejects because the NUMA nodes of their GPUs have too little memory."""
    for job in jobs.every(settings):
        kubelet = job.pool.tuning.kubelet if job.pool.tuning else None
        strict = kubelet is not None and kubelet.memory_manager and kubelet.topology_policy in _STRICT
        if isinstance(job, ProgramJob) and kubelet and strict:
            yield from _pods(job, kubelet.topology_policy)


def _pods(job: ProgramJob, policy: str) -> Iterator[str]:
    """Yield why the pods of a job that come to one NUMA node have no room there.

    A pod gets its memory from the NUMA node of its GPUs; so the second one of a node waits for what the first one has.
    A single pod with more than a node's memory gets a second node's with `restricted`, and nothing otherwise.
    """
    machine, gpus, memory = job.pool.machine, job.layout.gpus, job.share.memory_gib
    capacity = (machine.memory_gib - system_gib(machine)) // len(machine.numa)
    pods = max(len(node.gpus) for node in machine.numa) // gpus
    if pods * memory <= capacity or (pods == 1 and policy == "restricted"):
        return
    yield (
        f"stages: job {job.workload.name}: tuning.kubelet has memory_manager and topology_policy {policy}, and a NUMA "
        f"node of {machine.name} has {capacity} GiB for {pods} of its pods, which take {memory} each: the nodes end "
        f"{'them' if pods == 1 else 'all but the first'} for ever; raise reserve.memory_gib to "
        f"{machine.memory_gib - capacity // pods // gpus * machine.gpus}, or turn memory_manager off"
    )


def _order(settings: Settings) -> Iterator[str]:
    """Yield the workloads that come after others which an update only sees start, and need the GPUs of these."""
    for stage, wave, running in placements.running(settings):
        # A wave starts as a whole: what each has room for alone, they may not have together.
        if not running or _fit_together([*wave, *running], settings):
            continue
        for count, job in enumerate(wave, start=1):
            if not _fit_together([*wave[:count], *running], settings):
                yield _message(job, stage, running)
                return


def _fit_together(jobs: list[Job], settings: Settings) -> bool:
    pods = [pod for job in jobs for pod in job.demands]
    return fits(pods, placements.room(settings)) and placements.within_quotas(jobs, settings)


def _message(job: Job, stage: str, running: list[Job]) -> str:
    others = ", ".join(other.id for other in running)
    return (
        f"stages: job {job.id} of stage {stage} needs GPUs that {others} may hold, which the update "
        "sees start and no more; give these `wait: finished`, or lower layouts so that all have room"
    )


_GIB = 1024**3


def _queues(settings: Settings) -> Iterator[str]:
    """Yield the first jobs that run at the same time and that Kueue cannot admit together: one would wait for ever.

    Those that an update only sees start may still run when the next ones come.
    """
    queues = settings.queues
    if queues is None:
        return
    for _, wave, running in placements.running(settings):
        jobs = _programs(wave)
        concurrent = [*_programs(running), *jobs]
        tenants = dict.fromkeys(job.tenant.namespace for job in jobs)
        # In a cohort all that tenants have is one.
        by_tenant = [[job for job in concurrent if job.tenant.namespace == tenant] for tenant in tenants]
        groups = [concurrent] if queues.cohort else by_tenant
        _queues = [problem for group in groups for problem in _admitted(group, settings)]
        if _queues:
            yield from _queues
            return


def _programs(jobs: Sequence[Job]) -> list[ProgramJob]:
    return [job for job in jobs if isinstance(job, ProgramJob)]


def _admitted(jobs: Sequence[ProgramJob], settings: Settings) -> Iterator[str]:
    """Yield why Kueue cannot admit jobs of one tenant, or of a cohort, together."""
    queues = settings.queues
    if queues is None or not jobs:
        return
    sharing = [tenant for tenant in settings.everyone if queues.cohort or tenant is jobs[0].tenant]
    quotas_by_tenant = [quotas.of(tenant, queues.launchers, settings) for tenant in sharing]
    job_ids = ", ".join(job.id for job in jobs)
    verb = "takes" if len(jobs) == 1 else "take together"
    for flavor, demand in _demands(jobs, settings).items():
        for field, needed, unit in (("cpus", demand.cpus, "CPUs"), ("memory_gib", demand.memory_gib, "GiB")):
            quota = sum(getattr(of_tenant[flavor], field) for of_tenant in quotas_by_tenant)
            if needed > quota:
                launchers = getattr(queues.launchers, field)
                yield (
                    f"queues.launchers.{field} {launchers}: job {job_ids} {verb} {float(needed):.10g} {unit} with "
                    f"launchers, and the quota is {quota}: Kueue would never admit all; give "
                    f"{launchers + ceil((needed - quota) / len(sharing))}, or lower `launcher` or the program's "
                    "`resources`"
                )


class _Demand(NamedTuple):
    cpus: Decimal
    memory_gib: Decimal


def _demands(jobs: Sequence[ProgramJob], settings: Settings) -> Mapping[str, _Demand]:
    """Return the CPUs and GiB of all pods of jobs, by flavor: launchers are on nodes without GPUs, where there are."""
    sums: dict[str, _Demand] = {}
    for job in jobs:
        pods = job.layout.pods
        parts = [(job.pool.name, Decimal(job.share.cpus * pods), Decimal(job.share.memory_gib * pods))]
        if isinstance(job.workload, MpiWorkload):
            launcher = job.workload.launcher or V2Beta1().launcher
            flavor = quotas.PLAIN if settings.has_plain_workers else job.pool.name
            parts.append((flavor, parsed(launcher.cpu), parsed(launcher.memory) / _GIB))
        for flavor, cpus, memory in parts:
            before = sums.get(flavor, _Demand(Decimal(0), Decimal(0)))
            sums[flavor] = _Demand(before.cpus + cpus, before.memory_gib + memory)
    return sums
