"""The stack's workloads, as a scheduler other than the cluster's starts them."""

from collections.abc import Iterator

from components.gpu_job import GpuJobArgs
from components.mpi_job import MpiJobArgs
from components.torch_job import TorchJobArgs
from sites.batch_job import BatchJob, BatchMount, PodJob
from stacks import images
from stacks.job_arguments import arguments
from stacks.platform import Settings
from stacks.workload_settings import (
    IndexedWorkload,
    JobWorkload,
    MpiWorkload,
    RdmaTestWorkload,
    StageDataWorkload,
    TorchWorkload,
)


def of(settings: Settings) -> Iterator[BatchJob | PodJob]:
    """Yield MPI, PyTorch and single-node jobs, with the variables that their pods have, and the others by name.

    Without a scheduler in the settings there are none.
    """
    if settings.site is None or settings.site.scheduler is None:
        return
    for stage in settings.stages:
        for workload in stage.workloads:
            match workload:
                case MpiWorkload() | TorchWorkload() | JobWorkload():
                    yield _job(workload, settings)
                case IndexedWorkload(data_set=slices, name=name):
                    yield _of_pods(name, slices)
                case StageDataWorkload(data_set=slices):
                    yield _of_pods(f"stage-{slices}", slices)
                case RdmaTestWorkload():
                    remedy = "run its programs between two nodes, and judge their output (verify -f)"
                    yield PodJob(name=workload.name, why="its two sides are pods", remedy=remedy)


def _of_pods(name: str, data_set: str) -> PodJob:
    why = f"its slices of data set {data_set} are proved by pods alone"
    return PodJob(name=name, why=why, remedy="run it on the cluster")


def _job(workload: MpiWorkload | TorchWorkload | JobWorkload, settings: Settings) -> BatchJob:
    # Without the data set, whose proof needs the locks that an update reads.
    args = arguments(workload.model_copy(update={"data_set": None, "split": None}), settings)
    assert isinstance(args, MpiJobArgs | TorchJobArgs | GpuJobArgs)  # noqa: S101 - by the kinds of workloads above
    built = images.build(workload, settings)
    spanning = None if isinstance(args, GpuJobArgs) else args
    return BatchJob(
        tenant=workload.tenant,
        name=args.job_name,
        starter="one" if spanning is None else "mpi" if isinstance(spanning, MpiJobArgs) else "torch",
        nodes=spanning.layout.pods if spanning else 1,
        tasks=spanning.processes_per_pod if isinstance(spanning, MpiJobArgs) else 1,
        gpus=spanning.layout.gpus if spanning else workload.gpus or 1,
        cpus=args.cpus,
        memory=args.memory,
        together=bool(spanning and spanning.required_topology),
        image=args.image,
        build=built.name if built else None,
        command=tuple(args.command),
        working_directory=args.working_directory,
        environment=dict(spanning.nccl(words=True) if spanning else args.environment),
        mounts=tuple(
            BatchMount(at=at, volume=mount.volume, folder=mount.folder, read_only=mount.read_only)
            for at, mount in args.mounts.items()
        ),
        data_set=workload.data_set,
    )
