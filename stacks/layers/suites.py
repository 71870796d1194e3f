"""The suite layer: jobs of the stages that the cluster repeats on a schedule."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pulumi

from components.base.model import fields_of
from components.jobs.performance_suite import PerformanceSuite, PerformanceSuiteArgs, SuiteChoices
from components.jobs.suite_runs import Repeatable as RunArgs
from components.jobs.suite_runs import run_of
from core.apis import suite as names
from stacks.layers.job_arguments import of_job, pull_secrets, seccomp
from stacks.layers.operators import OfTenant
from stacks.programs import SCRIPTS
from stacks.resolved import jobs
from stacks.resolved.jobs import Job, ProgramJob
from stacks.resolved.locked_data import Locked
from stacks.resolved.versions import requested
from stacks.settings.platform import Settings
from stacks.settings.tenants import SuiteSettings
from stacks.settings.workloads import JobWorkload, MpiWorkload, RdmaTestWorkload, TorchWorkload

Repeatable = MpiWorkload | TorchWorkload | JobWorkload | RdmaTestWorkload
"""Workloads of which each run can have a name; those that divide a data set are called by its lock and their slices."""


def build(
    settings: Settings,
    ready: Sequence[pulumi.Output[Any]],
    parts: Sequence[OfTenant],
    *,
    locks: Locked,
    opts: pulumi.ResourceOptions,
) -> None:
    """Declare the suite, if there is one, once jobs of its tenant may start."""
    if settings.suite is None:
        return
    own: dict[str, list[pulumi.Output[Any]]] = defaultdict(list)
    for tenant, part in parts:
        own[tenant].append(part)
    args = arguments_of(settings.suite, settings, locks)
    after = (*ready, *own[settings.suite.tenant])
    PerformanceSuite(f"{args.namespace}-{args.name}", args, after, opts=opts)


def arguments_of(suite: SuiteSettings, settings: Settings, locks: Locked | None = None) -> PerformanceSuiteArgs:
    """Return the arguments of the suite; `checks.suite` guarantees that they exist. Without locks as `of_job`."""
    return PerformanceSuiteArgs(
        **fields_of(SuiteChoices, suite),
        namespace=suite.tenant,
        kind=settings.version.cron_job,
        runs=tuple(
            run_of(job.name, _arguments(job, settings, locks), suite.name, requested(settings))
            for job in repeated(suite, settings)
        ),
        pull_secrets=pull_secrets(suite.image, settings),
        seccomp=seccomp(settings),
        script=(SCRIPTS / names.SCRIPT).read_text(encoding="utf-8"),
    )


def repeated(suite: SuiteSettings, settings: Settings) -> list[Job]:
    """Return the jobs that a suite repeats, in the order of the stages."""
    named = (job for job in candidates(suite, settings) if job.workload.name in suite.workloads or not suite.workloads)
    return [job for job in named if isinstance(job.workload, Repeatable)]


def candidates(suite: SuiteSettings, settings: Settings) -> Iterator[Job]:
    """Yield the jobs of the suite's tenant and stages; unless workloads are named only those that verify."""
    for stage, of_stage in jobs.by_stage(settings):
        if suite.stages and stage.name not in suite.stages:
            continue
        for job in of_stage:
            if job.tenant.namespace == suite.tenant and (suite.workloads or _verifies(job)):
                yield job


def _verifies(job: Job) -> bool:
    if isinstance(job.workload, RdmaTestWorkload):
        return True
    return isinstance(job, ProgramJob) and isinstance(job.workload, Repeatable) and not job.program.trains


def _arguments(job: Job, settings: Settings, locks: Locked | None) -> RunArgs:
    """Return the arguments of a job under a name with a place for round and repeat, which each of its runs has."""
    args = of_job(replace(job, name=f"{job.name}-{names.RUN_TOKEN}"), settings, locks)
    assert isinstance(args, RunArgs)  # noqa: S101 - by the kinds of workloads that are repeatable
    return args
