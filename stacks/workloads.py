"""The workload layer: stages of jobs, each after the one before it."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pulumi

from components.gpu_job import GpuJob, GpuJobArgs
from components.indexed_job import REDUCER, IndexedJob, IndexedJobArgs
from components.model import Model
from components.mpi_job import MpiJob, MpiJobArgs
from components.outcome import ReadLog
from components.rdma_perftest import RdmaTest, RdmaTestArgs
from components.sliced_jobs import slice_jobs
from components.staged_data import StagedData, StagedDataArgs
from components.torch_job import TorchJob, TorchJobArgs
from components.train_job import TrainJob, TrainJobArgs
from stacks import locked_data
from stacks.job_arguments import of_workload
from stacks.layouts import Placement, job_name, placements, plan
from stacks.locked_data import Locked
from stacks.operators import OfTenant
from stacks.platform import Settings
from stacks.workload_settings import IndexedWorkload, StageDataWorkload, Workload

__all__ = ["Placement", "build", "job_name", "object_names", "placements", "plan"]

Job = MpiJob | TorchJob | TrainJob | GpuJob | IndexedJob | StagedData | RdmaTest
_COMPONENTS: Mapping[type[Model], Callable[..., Job]] = {
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
    for stage in settings.stages:
        for wave in plan(stage, settings):
            jobs = [
                _job(
                    each,
                    settings,
                    read_log,
                    locks=locks,
                    after=[*ready, *own[each.tenant], *finished],
                    opts=opts,
                )
                for each in wave
            ]
            finished = [job.finished for job in jobs]
    return [
        f"{job.tenant}/{name}"
        for stage in settings.stages
        for job in stage.workloads
        for name in object_names(job, settings, locks)
    ]


def object_names(workload: Workload, settings: Settings, locks: Locked) -> tuple[str, ...]:
    """Return the names of a workload's Jobs on the cluster: of slices without Indexed Jobs one each, and the reducer.

    The listener of an RDMA test is not among them.
    """
    indexed = settings.version.indexed_jobs
    match workload:
        case StageDataWorkload():
            return slice_jobs(locked_data.job_name(workload, locks), workload.slices, indexed=indexed)
        case IndexedWorkload():
            return (*slice_jobs(workload.name, workload.slices, indexed=indexed), f"{workload.name}{REDUCER}")
        case _:
            return (job_name(workload, settings),)


def _job(
    workload: Workload,
    settings: Settings,
    read_log: ReadLog,
    *,
    locks: Locked,
    after: Sequence[pulumi.Output[Any]],
    opts: pulumi.ResourceOptions,
) -> Job:
    args = of_workload(workload, settings, locks)
    name = f"{workload.tenant}-{job_name(workload, settings)}"
    return _COMPONENTS[type(args)](name, args, read_log, after, opts=opts)
