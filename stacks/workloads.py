"""The workload layer: stages of jobs, each after the one before it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import pulumi

from apis import names
from apis.kinds import MPI_JOB_V2BETA1
from apis.nccl import Transport
from components.gpu_job import GpuJob, GpuJobArgs
from components.job_args import JobChoices
from components.model import fields_of
from components.mpi_job import MpiJob, MpiJobArgs, RunAs, V2Beta1
from components.outcome import ReadLog
from components.rdma_perftest import RdmaPair, RdmaTest, RdmaTestArgs
from components.tenant import ACCOUNT
from components.torch_job import TorchJob, TorchJobArgs
from components.train_job import TrainJob, TrainJobArgs
from components.training_runtime import TrainingRuntimeArgs
from hardware import topology
from stacks import fabric, images
from stacks import topology as fabric_topology
from stacks.fabric_settings import InfiniBand, Roce
from stacks.layouts import Placement, follow, job_name, layout, placements, plan, pod_share
from stacks.operators import OfTenant
from stacks.platform import Settings
from stacks.workload_settings import (
    JobWorkload,
    MpiWorkload,
    RdmaTestWorkload,
    SpanningWorkload,
    Started,
    TorchWorkload,
    Workload,
)

__all__ = ["Placement", "build", "job_name", "layout", "placements", "plan"]

_CAPABILITIES = {"NVIDIA_DRIVER_CAPABILITIES": "compute,utility"}
_PRECISION: Mapping[str | None, Mapping[str, str]] = {"fp32": {"NVIDIA_TF32_OVERRIDE": "0"}}


def build(
    settings: Settings,
    ready: Sequence[pulumi.Output[Any]],
    parts: Sequence[OfTenant],
    read_log: ReadLog,
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
            jobs = [_job(each, settings, read_log, [*ready, *own[each.tenant], *finished], opts) for each in wave]
            finished = [job.finished for job in jobs]
    return [f"{job.tenant}/{job_name(job, settings)}" for stage in settings.stages for job in stage.workloads]


def _job(
    workload: Workload,
    settings: Settings,
    read_log: ReadLog,
    after: Sequence[pulumi.Output[Any]],
    opts: pulumi.ResourceOptions,
) -> MpiJob | TorchJob | TrainJob | RdmaTest | GpuJob:
    name = f"{workload.tenant}-{job_name(workload, settings)}"
    match workload:
        case RdmaTestWorkload():
            return RdmaTest(name, _rdma_test(workload, settings), read_log, after, opts=opts)
        case MpiWorkload():
            return MpiJob(name, mpi_job(workload, settings), read_log, after, opts=opts)
        case TorchWorkload():
            args = torch_job(workload, settings)
            if isinstance(args, TrainJobArgs):
                return TrainJob(name, args, read_log, after, opts=opts)
            return TorchJob(name, args, read_log, after, opts=opts)
        case JobWorkload():
            return GpuJob(name, gpu_job(workload, settings), read_log, after, opts=opts)


def arguments(workload: Started, settings: Settings) -> MpiJobArgs | TorchJobArgs | GpuJobArgs:
    """Return the arguments of a program's job; `checks.workload` guarantees that they exist."""
    match workload:
        case MpiWorkload():
            return mpi_job(workload, settings)
        case TorchWorkload():
            return torch_job(workload, settings)
        case JobWorkload():
            return gpu_job(workload, settings)


def _rdma_test(workload: RdmaTestWorkload, settings: Settings) -> RdmaTestArgs:
    roce = settings.fabric if isinstance(settings.fabric, Roce) else None
    return RdmaTestArgs(
        namespace=workload.tenant,
        job_name=workload.name,
        **fields_of(RdmaPair, workload),
        hcas=tuple(hca.name for hca in settings.profile.hcas) if isinstance(settings.fabric, InfiniBand) else (),
        roce=roce is not None,
        traffic_class=roce.traffic_class if roce else None,
        networks=fabric.networks(settings, workload.tenant),
        pull_secrets=_pull_secrets(workload.image, settings),
        account=ACCOUNT,
        rdma_resources=_rdma(settings),
        seccomp=_seccomp(settings),
        run=workload.run,
        wait=follow(workload, settings),
        timeout=workload.timeout or settings.timeouts.job,
    )


def mpi_job(workload: MpiWorkload, settings: Settings) -> MpiJobArgs:
    """Return the arguments of an MPI job."""
    kind = settings.version.mpi_job
    assert kind is not None  # noqa: S101 - checked in checks.workload
    # Images of 2020 get the Redpaper's command line; later ones see every adapter of the machine and need their names.
    today = kind.version == MPI_JOB_V2BETA1.version
    return MpiJobArgs(
        **_common(workload, settings),
        **_spanning(workload, settings, named=today),
        kind=kind,
        backoff_limit=settings.program(workload.program).restarts,
        debug=workload.debug,
        v2beta1=V2Beta1(
            queue=_queue(settings),
            launcher=workload.launcher or V2Beta1().launcher,
            roce_ports=_roce_ports(settings),
        ),
    )


def torch_job(workload: TorchWorkload, settings: Settings) -> TorchJobArgs:
    """Return the arguments of a PyTorch job: those of a TrainJob where the platform has Kubeflow Trainer."""
    own = {
        **_common(workload, settings),
        **_spanning(workload, settings, named=True),
        "restarts": settings.program(workload.program).restarts,
        "roce_ports": _roce_ports(settings),
        "queue": _queue(settings),
    }
    if settings.trainer is None:
        return TorchJobArgs(**own)
    return TrainJobArgs(**own, runtime=TrainingRuntimeArgs().runtime_name)


def _spanning(workload: MpiWorkload | TorchWorkload, settings: Settings, *, named: bool) -> dict[str, Any]:
    """Return the arguments that jobs of several pods have; `named`: NCCL gets the names of the machine's ports."""
    program, wanted = settings.program(workload.program), layout(workload, settings)
    transport = settings.transport_of(workload.tenant, workload.transport)
    ports = settings.profile.hcas if settings.uses_rdma else ()
    return {
        "layout": wanted,
        "processes_per_pod": program.processes(wanted),
        "transport": transport,
        "gdr_level": topology.gpudirect_level(settings.profile) if transport is Transport.GPUDIRECT else "PIX",
        "ib_hca": topology.nccl_ib_hca(ports) if named and ports else None,
        "rdma_resources": _rdma(settings),
        "networks": fabric.networks(settings, workload.tenant),
        **_topology(workload, settings),
    }


def _topology(workload: MpiWorkload | TorchWorkload, settings: Settings) -> dict[str, str]:
    """Return the labels of nodes that all pods of a job must or should share; of pods of one node there is none."""
    wanted = fabric_topology.request(workload, settings)
    if wanted is None or layout(workload, settings).pods == 1:
        return {}
    field = "required_topology" if wanted.required else "preferred_topology"
    return {field: fabric_topology.label(wanted, settings)}


def _roce_ports(settings: Settings) -> tuple[str, ...]:
    return tuple(hca.name for hca in settings.profile.hcas) if isinstance(settings.fabric, Roce) else ()


def gpu_job(workload: JobWorkload, settings: Settings) -> GpuJobArgs:
    """Return the arguments of a batch job."""
    return GpuJobArgs(
        **_common(workload, settings),
        gpus=workload.gpus,
        backoff_limit=settings.program(workload.program).restarts,
        seccomp=_seccomp(settings),
        queue=_queue(settings),
    )


def _common(workload: Started, settings: Settings) -> dict[str, Any]:
    """Return the arguments that jobs of both kinds have."""
    tenant, program, wanted = (
        settings.tenant(workload.tenant),
        settings.program(workload.program),
        layout(workload, settings),
    )
    part, name = pod_share(workload, settings), job_name(workload, settings)
    hook, image = settings.version.runtime_hook, images.image(workload, settings)
    further = fabric.environment(settings) if isinstance(workload, SpanningWorkload) else {}
    return {
        "namespace": workload.tenant,
        "job_name": name,
        "command": program.started(
            wanted, in_image=images.has_nccl_tests(workload, settings), largest_mib=workload.largest_mib, job=name
        ),
        "working_directory": program.working_directory,
        "image": image,
        "pull_secrets": _pull_secrets(image, settings),
        "account": ACCOUNT,
        "run_as": RunAs(uid=tenant.run_as_uid, gid=tenant.run_as_gid),
        "volumes": {mount.volume: tenant.all_volumes[mount.volume].in_pods for mount in program.mounts.values()},
        "mounts": program.mounts,
        **fields_of(JobChoices, workload),
        "environment": {
            **further,
            **program.variables(name),
            **_PRECISION.get(workload.precision, {}),
            **workload.environment,
        },
        "runtime_environment": _CAPABILITIES | {"NVIDIA_REQUIRE_CUDA": program.require_cuda} if hook else {},
        "priority_class": workload.priority,
        "cpus": part.cpus,
        "memory": f"{part.memory_gib}Gi",
        "further": program.resources.further,
        "ports": program.ports,
        "shm": f"{workload.shm_gib}Gi",
        "run": workload.run,
        "on_change": workload.on_change or ("keep" if program.trains else "replace"),
        "wait": follow(workload, settings),
        "timeout": workload.timeout or settings.timeouts.job,
    }


def _rdma(settings: Settings) -> tuple[str, ...]:
    return tuple(names.RDMA_PREFIX + resource for resource in settings.rdma_resources)


def _pull_secrets(image: str | None, settings: Settings) -> tuple[str, ...]:
    """Return the secrets that pods name; none for an image of the cluster's own registry.

    The login there is the account's, and a pod gets its account's secrets only when it names none (che #19999).
    """
    ours = image is not None and image.startswith(f"{settings.version.registry}/")
    return (settings.pull_secret.name,) if settings.pull_secret and not ours else ()


def _queue(settings: Settings) -> str | None:
    return settings.queues.queue if settings.queues else None


def _seccomp(settings: Settings) -> bool:
    return settings.version.scc_base == "restricted-v2"
