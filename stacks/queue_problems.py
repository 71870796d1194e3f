"""What is wrong between the queues' quotas and the CPUs and memory that queued jobs ask for beside their GPUs."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from components.kueue import quota_of
from components.mpi_job_args import V2Beta1
from hardware.placement import share
from stacks import layouts
from stacks.workload_problems import size
from stacks.workload_settings import MpiWorkload, RdmaTestWorkload, Workload

if TYPE_CHECKING:
    from stacks.platform import Settings

_GIB = 1024**3


def problems(settings: "Settings") -> Iterator[str]:
    """Yield the jobs, and the jobs that start together, that Kueue cannot admit: they would wait without an end."""
    queues = settings.queues
    if queues is None:
        return
    for stage in settings.stages:
        for wave in layouts.plan(stage, settings):
            jobs = [job for job in wave if not isinstance(job, RdmaTestWorkload)]
            tenants = dict.fromkeys(job.tenant for job in jobs)
            # In a cohort all that tenants have is one.
            groups = [jobs] if queues.cohort else [[job for job in jobs if job.tenant == each] for each in tenants]
            for group in groups:
                yield from _admitted(group, settings)


def _admitted(jobs: Sequence[Workload], settings: "Settings") -> Iterator[str]:
    queues = settings.queues
    if queues is None or not jobs:
        return
    sharing = [tenant for tenant in settings.tenants if queues.cohort or tenant.namespace == jobs[0].tenant]
    quotas = [quota_of(settings.profile, each.gpu_quota, queues.launchers, settings.reserved) for each in sharing]
    wanted = [_wanted(job, settings) for job in jobs]
    who = ", ".join(f"{job.tenant}/{layouts.job_name(job, settings)}" for job in jobs)
    one = "takes" if len(jobs) == 1 else "take together"
    for amount, there, field, unit in (
        (sum(cpus for cpus, _ in wanted), sum(quota.cpus for quota in quotas), "cpus", "CPUs"),
        (sum(memory for _, memory in wanted), sum(quota.memory_gib for quota in quotas), "memory_gib", "GiB"),
    ):
        if amount > there:
            yield (
                f"queues.launchers.{field} {getattr(queues.launchers, field)}: job {who} {one} {amount:.10g} {unit} "
                f"with launchers, and the quota is {there}: Kueue would never admit all; raise it, or lower `launcher`"
            )


def _wanted(job: Workload, settings: "Settings") -> tuple[Decimal, Decimal]:
    """Return the CPUs and GiB of all pods of a job."""
    if isinstance(job, RdmaTestWorkload):
        return Decimal(0), Decimal(0)
    wanted = layouts.layout(job, settings)
    part = share(settings.profile, wanted.gpus, settings.reserved)
    cpus, memory = Decimal(part.cpus * wanted.pods), Decimal(part.memory_gib * wanted.pods)
    if not isinstance(job, MpiWorkload):
        return cpus, memory
    launcher = job.launcher or V2Beta1().launcher
    return cpus + _cpus(launcher.cpu), memory + Decimal(size(launcher.memory)) / _GIB


def _cpus(quantity: str) -> Decimal:
    return Decimal(quantity.removesuffix("m")) / 1000 if quantity.endswith("m") else Decimal(size(quantity))
