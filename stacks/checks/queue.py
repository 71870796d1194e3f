"""What is wrong between the queues' quotas and the CPUs and memory that queued jobs ask for beside their GPUs."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from math import ceil
from typing import NamedTuple

from components.jobs.mpi_job_args import V2Beta1
from core.apis.quantity import parsed
from stacks.resolved import placements, quotas
from stacks.resolved.jobs import Job, ProgramJob
from stacks.settings.platform import Settings
from stacks.settings.workloads import MpiWorkload

_GIB = 1024**3


def problems(settings: Settings) -> Iterator[str]:
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
        problems = [problem for group in groups for problem in _admitted(group, settings)]
        if problems:
            yield from problems
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
