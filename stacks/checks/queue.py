"""What is wrong between the queues' quotas and the CPUs and memory that queued jobs ask for beside their GPUs."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from math import ceil

from apis.quantity import parsed
from components.mpi_job_args import V2Beta1
from stacks import instances, placements
from stacks.jobs import Job, ProgramJob
from stacks.platform import Settings
from stacks.workload_settings import MpiWorkload

_GIB = 1024**3


def problems(settings: Settings) -> Iterator[str]:
    """Yield the first jobs that run at the same time and that Kueue cannot admit together: one would wait for ever.

    Those that an update only sees start may still run when the next ones come.
    """
    queues = settings.queues
    if queues is None:
        return
    for _, wave, held in placements.running(settings):
        jobs = _programs(wave)
        together = [*_programs(held), *jobs]
        tenants = dict.fromkeys(job.tenant.namespace for job in jobs)
        # In a cohort all that tenants have is one.
        apart = [[job for job in together if job.tenant.namespace == tenant] for tenant in tenants]
        groups = [together] if queues.cohort else apart
        found = [problem for group in groups for problem in _admitted(group, settings)]
        if found:
            yield from found
            return


def _programs(jobs: Sequence[Job]) -> list[ProgramJob]:
    return [job for job in jobs if isinstance(job, ProgramJob)]


def _admitted(jobs: Sequence[ProgramJob], settings: Settings) -> Iterator[str]:
    queues = settings.queues
    if queues is None or not jobs:
        return
    sharing = [tenant for tenant in settings.everyone if queues.cohort or tenant is jobs[0].tenant]
    quotas = [instances.quota(each, queues.launchers, jobs[0].pool) for each in sharing]
    wanted = [_wanted(job) for job in jobs]
    who = ", ".join(job.id for job in jobs)
    one = "takes" if len(jobs) == 1 else "take together"
    for needed, there, field, unit in (
        (sum(cpus for cpus, _ in wanted), sum(quota.cpus for quota in quotas), "cpus", "CPUs"),
        (sum(memory for _, memory in wanted), sum(quota.memory_gib for quota in quotas), "memory_gib", "GiB"),
    ):
        if needed > there:
            given = getattr(queues.launchers, field)
            yield (
                f"queues.launchers.{field} {given}: job {who} {one} {float(needed):.10g} {unit} with launchers, and "
                f"the quota is {there}: Kueue would never admit all; give "
                f"{given + ceil((needed - there) / len(sharing))}, or lower `launcher` or the program's `resources`"
            )


def _wanted(job: ProgramJob) -> tuple[Decimal, Decimal]:
    """Return the CPUs and GiB of all pods of a job."""
    cpus, memory = Decimal(job.share.cpus * job.layout.pods), Decimal(job.share.memory_gib * job.layout.pods)
    if not isinstance(job.workload, MpiWorkload):
        return cpus, memory
    launcher = job.workload.launcher or V2Beta1().launcher
    return cpus + parsed(launcher.cpu), memory + parsed(launcher.memory) / _GIB
