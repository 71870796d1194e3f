"""The suite layer: jobs of the stages that the cluster repeats on a schedule."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import pulumi

from apis import suite as names
from components.model import fields_of
from components.performance_suite import PerformanceSuite, PerformanceSuiteArgs, SuiteChoices
from components.suite_runs import run_of
from stacks.job_arguments import arguments, pull_secrets, rdma_test, seccomp
from stacks.layouts import job_name
from stacks.locked_data import Locked
from stacks.operators import OfTenant
from stacks.platform import Settings
from stacks.programs import SCRIPTS
from stacks.suite_settings import SuiteSettings
from stacks.versions import requested
from stacks.workload_settings import (
    JobWorkload,
    MpiWorkload,
    RdmaTestWorkload,
    TorchWorkload,
    Workload,
)

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
    """Return the arguments of the suite; `checks.suite` guarantees that they exist. Without locks as `arguments`."""
    return PerformanceSuiteArgs(
        **fields_of(SuiteChoices, suite),
        namespace=suite.tenant,
        kind=settings.version.cron_job,
        runs=tuple(
            run_of(job_name(each, settings), _repeated(each, settings, locks), suite.name, requested(settings))
            for each in workloads(suite, settings)
        ),
        pull_secrets=pull_secrets(suite.image, settings),
        seccomp=seccomp(settings),
        script=(SCRIPTS / names.SCRIPT).read_text(encoding="utf-8"),
    )


def workloads(suite: SuiteSettings, settings: Settings) -> list[Repeatable]:
    """Return what a suite repeats, in the order of the stages."""
    found = candidates(suite, settings)
    named = (each for each in found if each.name in suite.workloads or not suite.workloads)
    return [each for each in named if isinstance(each, Repeatable)]


def candidates(suite: SuiteSettings, settings: Settings) -> Iterator[Workload]:
    """Yield the workloads of the suite's tenant and stages; unless workloads are named only those that verify."""
    for stage in settings.stages:
        if suite.stages and stage.name not in suite.stages:
            continue
        for each in stage.workloads:
            if each.tenant == suite.tenant and (suite.workloads or _verifies(each, settings)):
                yield each


def _verifies(workload: Workload, settings: Settings) -> bool:
    if isinstance(workload, RdmaTestWorkload):
        return True
    return isinstance(workload, Repeatable) and not settings.program(workload.program).trains


def _repeated(workload: Repeatable, settings: Settings, locks: Locked | None) -> Any:
    """Return the arguments of a workload's run: those of its job, under a name with a place for round and repeat."""
    end = f"-{names.RUN_TOKEN}"
    if isinstance(workload, RdmaTestWorkload):
        return rdma_test(workload.model_copy(update={"name": workload.name + end}), settings)
    if isinstance(workload, MpiWorkload | TorchWorkload):
        return arguments(workload.model_copy(update={"suffix": workload.suffix + end}), settings, locks)
    return arguments(workload.model_copy(update={"name": workload.name + end}), settings, locks)
