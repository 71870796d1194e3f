"""The workload layer: stages of jobs, each after the one before it."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pulumi

from components.base.model import Model
from components.jobs.gpu_job import GpuJob, GpuJobArgs
from components.jobs.mpi_job import MpiJob, MpiJobArgs
from components.jobs.outcome import ReadLog
from components.jobs.rdma_perftest import RdmaTest, RdmaTestArgs
from components.jobs.sliced_jobs import REDUCER, IndexedJob, IndexedJobArgs, StagedData, StagedDataArgs, slice_jobs
from components.jobs.torch_job import TorchJob, TorchJobArgs
from components.jobs.train_job import TrainJob, TrainJobArgs
from stacks.layers.job_arguments import of_job
from stacks.layers.operators import OfTenant
from stacks.resolved import jobs, locked_data
from stacks.resolved.jobs import Job
from stacks.resolved.locked_data import Locked
from stacks.resolved.placements import plan
from stacks.settings.platform import Settings
from stacks.settings.workloads import IndexedWorkload, StageDataWorkload

JobComponent = MpiJob | TorchJob | TrainJob | GpuJob | IndexedJob | StagedData | RdmaTest
_COMPONENTS: Mapping[type[Model], Callable[..., JobComponent]] = {
    MpiJobArgs: MpiJob,
    TorchJobArgs: TorchJob,
    TrainJobArgs: TrainJob,
    GpuJobArgs: GpuJob,
    IndexedJobArgs: IndexedJob,
    StagedDataArgs: StagedData,
    RdmaTestArgs: RdmaTest,
}
"""What declares a job, by its arguments."""


def build(
    settings: Settings,
    ready: Sequence[pulumi.Output[Any]],
    parts: Sequence[OfTenant],
    read_log: ReadLog,
    *,
    locks: Locked,
    opts: pulumi.ResourceOptions,
) -> list[str]:
    """Declare all jobs, and return their names as namespace/name.

    `ready` are names of the platform's parts, known when jobs may start, and `parts` those of the tenants: a job waits
    for its own tenant's alone, or dependencies would grow with jobs times tenants. A wave starts when all of the wave
    before it is as far as its `wait` settings require.
    """
    own: dict[str, list[pulumi.Output[Any]]] = defaultdict(list)
    for tenant, part in parts:
        own[tenant].append(part)
    finished: list[pulumi.Output[Any]] = []
    declared: list[str] = []
    for _, of_stage in jobs.by_stage(settings):
        for wave in plan(of_stage, settings):
            resources = [
                _job(
                    job,
                    settings,
                    read_log,
                    locks=locks,
                    after=[*ready, *own[job.tenant.namespace], *finished],
                    opts=opts,
                )
                for job in wave
            ]
            finished = [component.finished for component in resources]
            declared += [
                f"{job.tenant.namespace}/{name}" for job in wave for name in object_names(job, settings, locks)
            ]
    return declared


def object_names(job: Job, settings: Settings, locks: Locked) -> tuple[str, ...]:
    """Return the names of a job's objects on the cluster: of slices without Indexed Jobs one each, and the reducer.

    The listener of an RDMA test is not among them.
    """
    indexed = settings.version.indexed_jobs
    match job.workload:
        case StageDataWorkload():
            return slice_jobs(locked_data.job_name(job.workload, locks), job.workload.slices, indexed=indexed)
        case IndexedWorkload():
            return (*slice_jobs(job.name, job.workload.slices, indexed=indexed), f"{job.name}{REDUCER}")
        case _:
            return (job.name,)


def _job(
    job: Job,
    settings: Settings,
    read_log: ReadLog,
    *,
    locks: Locked,
    after: Sequence[pulumi.Output[Any]],
    opts: pulumi.ResourceOptions,
) -> JobComponent:
    args = of_job(job, settings, locks)
    return _COMPONENTS[type(args)](f"{job.tenant.namespace}-{job.name}", args, read_log, after, opts=opts)
