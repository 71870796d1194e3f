"""The workload layer: stages of jobs, each after the one before it."""

from collections.abc import Sequence
from typing import Any

import pulumi

from apis import names
from components.layout import Layout
from components.mpi_job import WORKSPACE, MpiJob, MpiJobArgs, RunAs
from components.outcome import ReadLog
from components.rdma_test import RdmaTest, RdmaTestArgs
from components.tenant import ACCOUNT
from hardware.placement import Demand, share, waves
from stacks.platform import Settings
from stacks.workload_settings import MpiWorkload, Program, RdmaTestWorkload, Stage, Workload

_NCCL_TESTS = f"{WORKSPACE}/other/nccl"
_TF_BENCHMARKS = f"{WORKSPACE}/other/benchmarks/scripts/tf_cnn_benchmarks"
_A2D2_SCRIPTS = f"{WORKSPACE}/scripts/tf2_comparison/hvd"


def command(program: Program, layout: Layout) -> tuple[str, ...]:
    """Return what mpirun starts (R-4.4-6, R-4.5-2, R-4.3-9)."""
    match program:
        case Program.NCCL_ALL_REDUCE:
            sizes = ("-b", "8", "-e", "256M", "-f", "2")
            return (f"{_NCCL_TESTS}/all_reduce_perf", *sizes, "-g", str(layout.gpus))
        case Program.RESNET50:
            options = ("--model=resnet50", "--batch_size=64", "--use_fp16=true", "--variable_update=horovod")
            return ("python", f"{_TF_BENCHMARKS}/tf_cnn_benchmarks.py", *options)
        case Program.A2D2:
            options = ("--model_dir=ckpt", "--batch_size=16", "--exec_mode=train", "--max_steps=16000")
            return ("python", "main.py", *options)


def working_directory(program: Program) -> str | None:
    """Return where mpirun starts it, or None for the image's own directory."""
    return _A2D2_SCRIPTS if program is Program.A2D2 else None


def processes_per_pod(program: Program, layout: Layout) -> int:
    """Return how many ranks a pod runs: nccl-tests drive all GPUs of a pod from one process (R-4.3-2)."""
    return 1 if program is Program.NCCL_ALL_REDUCE else layout.gpus


def demands(workload: Workload) -> list[Demand]:
    """Return the GPUs that each pod of a workload takes; RDMA devices are shared and never run short first."""
    if isinstance(workload, MpiWorkload):
        return [{names.GPU_RESOURCE: workload.layout.gpus}] * workload.layout.pods
    return []


def plan(stage: Stage, settings: Settings) -> list[list[Workload]]:
    """Return the workloads of a stage in waves; those of one wave fit on the GPU nodes at the same time."""
    by_name = {f"{workload.tenant}/{workload.job_name}": workload for workload in stage.workloads}
    free = {node: {names.GPU_RESOURCE: gpus} for node, gpus in settings.free.items()}
    grouped = waves([(name, demands(workload)) for name, workload in by_name.items()], free)
    return [[by_name[name] for name in wave] for wave in grouped]


def build(
    settings: Settings,
    ready: Sequence[pulumi.Output[Any]],
    read_log: ReadLog,
    opts: pulumi.ResourceOptions,
) -> list[str]:
    """Declare all jobs, and return their names as namespace/name.

    `ready` are names of the platform's parts, known when jobs may start. A wave starts when all of the wave before it
    is as far as its `wait` settings say.
    """
    before = list(ready)
    for stage in settings.stages:
        for wave in plan(stage, settings):
            jobs = [_job(workload, settings, read_log, before, opts) for workload in wave]
            before = [*ready, *(job.finished for job in jobs)]
    return [f"{job.tenant}/{job.job_name}" for stage in settings.stages for job in stage.workloads]


def _job(
    workload: Workload,
    settings: Settings,
    read_log: ReadLog,
    after: Sequence[pulumi.Output[Any]],
    opts: pulumi.ResourceOptions,
) -> MpiJob | RdmaTest:
    name = f"{workload.tenant}-{workload.job_name}"
    rdma = tuple(names.RDMA_PREFIX + resource for resource in settings.rdma_resources)
    if isinstance(workload, RdmaTestWorkload):
        return RdmaTest(name, _rdma_test(workload, settings, rdma), read_log, after, opts=opts)
    return MpiJob(name, _mpi_job(workload, settings, rdma), read_log, after, opts=opts)


def _rdma_test(workload: RdmaTestWorkload, settings: Settings, rdma: tuple[str, ...]) -> RdmaTestArgs:
    return RdmaTestArgs(
        namespace=workload.tenant,
        job_name=workload.job_name,
        client_node=workload.client_node,
        server_node=workload.server_node,
        hca=workload.hca,
        hcas=tuple(hca.name for hca in settings.profile.hcas),
        image=workload.image,
        account=ACCOUNT,
        rdma_resources=rdma,
        run=workload.run,
        wait=workload.follow,
        timeout=workload.timeout,
    )


def _mpi_job(workload: MpiWorkload, settings: Settings, rdma: tuple[str, ...]) -> MpiJobArgs:
    tenant = settings.tenant(workload.tenant)
    kind = settings.version.mpi_job
    assert kind is not None and tenant.data is not None  # noqa: S101, PT018 - checked in workload_problems
    part = share(settings.profile, workload.layout.gpus, settings.reserved)
    return MpiJobArgs(
        kind=kind,
        namespace=workload.tenant,
        job_name=workload.job_name,
        layout=workload.layout,
        processes_per_pod=processes_per_pod(workload.program, workload.layout),
        transport=workload.transport,
        command=command(workload.program, workload.layout),
        working_directory=working_directory(workload.program),
        image=workload.image,
        account=ACCOUNT,
        run_as=RunAs(uid=tenant.run_as_uid, gid=tenant.run_as_gid),
        claim=tenant.data.claim,
        rdma_resources=rdma,
        cpus=part.cpus,
        memory=f"{part.memory_gib}Gi",
        shm=f"{workload.shm_gib}Gi",
        deadline=workload.deadline,
        run=workload.run,
        on_change=workload.changed,
        wait=workload.follow,
        timeout=workload.timeout,
    )
