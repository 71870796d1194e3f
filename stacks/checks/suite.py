"""What is wrong between the suite and the jobs that it repeats."""

from collections.abc import Iterator

from pydantic import ValidationError

from core import field_errors
from core.apis import kinds
from core.apis.builtin import LIVES
from stacks.layers import suites
from stacks.settings.platform import Settings
from stacks.settings.tenants import SuiteSettings


def problems(settings: Settings) -> Iterator[str]:
    """Yield what a suite names and the stack lacks, then what its jobs cannot be called."""
    suite = settings.suite
    if suite is None:
        return
    if problems := [*_names(suite, settings), *_simulated(settings)]:
        yield from problems
        return
    try:
        suites.arguments_of(suite, settings)
    except ValidationError as error:
        for detail in error.errors():
            yield f"suite: {field_errors.argument(detail)} (a run's name ends with its round and repeat)"


def _names(suite: SuiteSettings, settings: Settings) -> Iterator[str]:
    tenants = sorted(tenant.namespace for tenant in settings.tenants)
    if suite.tenant not in tenants:
        yield f"suite.tenant {suite.tenant!r} is not a tenant; known: {', '.join(tenants)}"
        return
    stages = [stage.name for stage in settings.stages]
    for name in suite.stages:
        if name not in stages:
            yield f"suite.stages: {name!r} is not a stage; known: {', '.join(stages) or 'none'}"
            return
    workloads = {job.workload.name: job.workload for job in suites.candidates(suite, settings)}
    for name in suite.workloads:
        if name not in workloads:
            yield (
                f"suite.workloads: {name!r} is not a workload of tenant {suite.tenant}{_stages_text(suite)}; known: "
                f"{', '.join(workloads) or 'none'}"
            )
        elif not isinstance(workloads[name], suites.Repeatable):
            yield (
                f"suite.workloads: {name!r} is of kind {workloads[name].kind}, whose Jobs are named by what they "
                "divide; leave it out"
            )
    if not workloads and not suite.workloads:
        yield (
            f"suite: tenant {suite.tenant} has no verification jobs{_stages_text(suite)} to repeat; add some to "
            "`stages`, or name `workloads`"
        )


def _stages_text(suite: SuiteSettings) -> str:
    return f" in {', '.join(suite.stages)}" if suite.stages else ""


def _simulated(settings: Settings) -> Iterator[str]:
    """Yield that a simulated cluster serves another Kubernetes than its release has, without the old CronJob."""
    served, cron_job = settings.version.simulated_kubernetes, settings.version.cron_job
    if not settings.cluster.simulated or served is None:
        return
    number = tuple(int(part) for part in served.split("."))
    gone = (
        life.removed
        for life in LIVES
        if (life.group, life.version) == (cron_job.group, cron_job.version) and kinds.CRON_JOB.kind in life.kinds
    )
    if any(removed is not None and number >= removed for removed in gone):
        yield (
            f"suite: a simulated cluster of OpenShift {settings.release} serves Kubernetes {served}, which has no "
            f"CronJob of {cron_job.api_version}; leave it out, or use a real cluster"
        )
