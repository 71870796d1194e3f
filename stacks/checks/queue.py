"""What is wrong between the queues' quotas and the CPUs and memory that queued jobs ask for beside their GPUs."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from math import ceil

from apis.quantity import parsed
from components.mpi_job_args import V2Beta1
from stacks import instances, layouts
from stacks.platform import Settings
from stacks.workload_settings import MpiWorkload, Started, Unstarted, Workload

_GIB = 1024**3


def problems(settings: Settings) -> Iterator[str]:
    """Yield the first jobs that run at the same time and that Kueue cannot admit together: one would wait for ever.

    Those that an update only sees start may still run when the next ones come.
    """
    queues = settings.queues
    if queues is None:
        return
    for _, wave, held in layouts.running(settings):
        jobs = _programs(wave)
        together = [*_programs(held), *jobs]
        tenants = dict.fromkeys(job.tenant for job in jobs)
        # In a cohort all that tenants have is one.
        groups = [together] if queues.cohort else [[job for job in together if job.tenant == each] for each in tenants]
        found = [problem for group in groups for problem in _admitted(group, settings)]
        if found:
            yield from found
            return


def _programs(workloads: Sequence[Workload]) -> list[Started]:
    return [job for job in workloads if not isinstance(job, Unstarted)]


def _admitted(jobs: Sequence[Started], settings: Settings) -> Iterator[str]:
    queues = settings.queues
    if queues is None or not jobs:
        return
    sharing = [tenant for tenant in settings.everyone if queues.cohort or tenant.namespace == jobs[0].tenant]
    quotas = [instances.quota(each, queues.launchers, settings) for each in sharing]
    wanted = [_wanted(job, settings) for job in jobs]
    who = ", ".join(f"{job.tenant}/{layouts.job_name(job, settings)}" for job in jobs)
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


def _wanted(job: Started, settings: Settings) -> tuple[Decimal, Decimal]:
    """Return the CPUs and GiB of all pods of a job."""
    wanted = layouts.layout(job, settings)
    part = layouts.pod_share(job, settings)
    cpus, memory = Decimal(part.cpus * wanted.pods), Decimal(part.memory_gib * wanted.pods)
    if not isinstance(job, MpiWorkload):
        return cpus, memory
    launcher = job.launcher or V2Beta1().launcher
    return cpus + parsed(launcher.cpu), memory + parsed(launcher.memory) / _GIB
