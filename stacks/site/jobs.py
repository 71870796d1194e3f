"""The stack's workloads, as a scheduler other than the cluster's starts them."""

from collections.abc import Iterator
from dataclasses import replace

from components.jobs.gpu_job import GpuJobArgs
from components.jobs.mpi_job import MpiJobArgs
from components.jobs.torch_job import TorchJobArgs
from stacks.layers.job_arguments import of_job
from stacks.resolved import jobs
from stacks.resolved.jobs import ProgramJob
from stacks.settings.platform import Settings
from stacks.settings.workloads import IndexedWorkload, RdmaTestWorkload, StageDataWorkload
from stacks.site.site import BatchJob, BatchMount, PodJob


def of(settings: Settings) -> Iterator[BatchJob | PodJob]:
    """Yield MPI, PyTorch and single-node jobs, with the variables that their pods have, and the others by name.

    Without a scheduler in the settings there are none.
    """
    if settings.site is None or settings.site.scheduler is None:
        return
    for job in jobs.every(settings):
        match job.workload:
            case IndexedWorkload(data_set=slices, name=name):
                yield _of_pods(name, slices)
            case StageDataWorkload(data_set=slices):
                yield _of_pods(f"stage-{slices}", slices)
            case RdmaTestWorkload(name=name):
                remedy = "run its programs between two nodes, and judge their output (verify -f)"
                yield PodJob(name=name, why="its two sides are pods", remedy=remedy)
            case _ if isinstance(job, ProgramJob):
                yield _job(job, settings)


def _of_pods(name: str, data_set: str) -> PodJob:
    why = f"its slices of data set {data_set} are proved by pods alone"
    return PodJob(name=name, why=why, remedy="run it on the cluster")


def _job(job: ProgramJob, settings: Settings) -> BatchJob:
    # Without the data set, whose proof needs the locks that an update reads.
    without = job.workload.model_copy(update={"data_set": None, "split": None})
    args = of_job(replace(job, workload=without), settings)
    assert isinstance(args, MpiJobArgs | TorchJobArgs | GpuJobArgs)  # noqa: S101 - by the kinds of workloads above
    spanning = None if isinstance(args, GpuJobArgs) else args
    return BatchJob(
        tenant=job.tenant.namespace,
        name=args.job_name,
        starter="one" if spanning is None else "mpi" if isinstance(spanning, MpiJobArgs) else "torch",
        nodes=job.layout.pods,
        tasks=spanning.processes_per_pod if isinstance(spanning, MpiJobArgs) else 1,
        gpus=job.layout.gpus,
        cpus=args.cpus,
        memory=args.memory,
        together=bool(spanning and spanning.required_topology),
        image=args.image,
        build=job.build.name if job.build else None,
        command=tuple(args.command),
        working_directory=args.working_directory,
        environment=dict(spanning.nccl(words=True) if spanning else args.environment),
        mounts=tuple(
            BatchMount(at=at, volume=mount.volume, folder=mount.folder, read_only=mount.read_only)
            for at, mount in args.mounts.items()
        ),
        data_set=job.workload.data_set,
    )
