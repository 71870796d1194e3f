"""The arguments of a stack's jobs: pure functions of its settings and its locks."""

from collections.abc import Mapping
from typing import Any

from apis import names
from apis.kinds import MPI_JOB_V2BETA1
from apis.nccl import Transport
from components.gpu_job import GpuJobArgs
from components.indexed_job import IndexedJobArgs
from components.job_args import JobChoices
from components.job_volumes import MountOptions
from components.model import fields_of
from components.mpi_job import MpiJobArgs, RunAs, V2Beta1
from components.rdma_perftest import RdmaPair, RdmaTestArgs
from components.staged_data import StagedDataArgs
from components.tenant import ACCOUNT
from components.torch_job import TorchJobArgs
from components.train_job import TrainJobArgs
from components.training_runtime import TrainingRuntimeArgs
from hardware import topology
from stacks import fabric, images, locked_data
from stacks import topology as fabric_topology
from stacks.fabric_settings import InfiniBand, Roce
from stacks.layouts import follow, job_name, layout, pod_share
from stacks.locked_data import Locked
from stacks.platform import Settings
from stacks.workload_settings import (
    IndexedWorkload,
    JobWorkload,
    MpiWorkload,
    RdmaTestWorkload,
    SpanningWorkload,
    StageDataWorkload,
    Started,
    TorchWorkload,
    Workload,
)

ProgramArgs = MpiJobArgs | TorchJobArgs | GpuJobArgs | IndexedJobArgs

_CAPABILITIES = {"NVIDIA_DRIVER_CAPABILITIES": "compute,utility"}
_PRECISION: Mapping[str | None, Mapping[str, str]] = {"fp32": {"NVIDIA_TF32_OVERRIDE": "0"}}


def of_workload(workload: Workload, settings: Settings, locks: Locked) -> ProgramArgs | StagedDataArgs | RdmaTestArgs:
    """Return the arguments of a workload's job."""
    match workload:
        case RdmaTestWorkload():
            return rdma_test(workload, settings)
        case StageDataWorkload():
            return staging(workload, settings, locks)
        case _:
            return arguments(workload, settings, locks)


def arguments(workload: Started, settings: Settings, locks: Locked | None = None) -> ProgramArgs:
    """Return the arguments of a program's job; `checks.workload` guarantees that they exist.

    Without locks what a data set has is empty: rules that need none judge by that.
    """
    match workload:
        case MpiWorkload():
            return mpi_job(workload, settings, locks)
        case TorchWorkload():
            return torch_job(workload, settings, locks)
        case JobWorkload():
            return gpu_job(workload, settings, locks)
        case IndexedWorkload():
            return indexed_job(workload, settings, locks)


def rdma_test(workload: RdmaTestWorkload, settings: Settings) -> RdmaTestArgs:
    """Return the arguments of an RDMA test."""
    roce = settings.fabric if isinstance(settings.fabric, Roce) else None
    return RdmaTestArgs(
        **_of_any_job(workload, workload.image, settings),
        job_name=workload.name,
        **fields_of(RdmaPair, workload),
        hcas=tuple(hca.name for hca in settings.profile.hcas) if isinstance(settings.fabric, InfiniBand) else (),
        roce=roce is not None,
        traffic_class=roce.traffic_class if roce else None,
        networks=fabric.networks(settings, workload.tenant),
        rdma_resources=_rdma(settings),
        seccomp=seccomp(settings),
    )


def mpi_job(workload: MpiWorkload, settings: Settings, locks: Locked | None = None) -> MpiJobArgs:
    """Return the arguments of an MPI job."""
    kind = settings.version.mpi_job
    assert kind is not None  # noqa: S101 - checked in checks.workload
    # Images of 2020 get the Redpaper's command line; later ones see every adapter of the machine and need their names.
    today = kind.version == MPI_JOB_V2BETA1.version
    return MpiJobArgs(
        **_common(workload, settings, locks),
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


def torch_job(workload: TorchWorkload, settings: Settings, locks: Locked | None = None) -> TorchJobArgs:
    """Return the arguments of a PyTorch job: those of a TrainJob where the platform has Kubeflow Trainer."""
    own = {
        **_common(workload, settings, locks),
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


def _topology(workload: MpiWorkload | TorchWorkload, settings: Settings) -> dict[str, str | None]:
    """Return the labels of nodes that all pods of a job must or should share; of pods of one node there is none."""
    wanted = fabric_topology.request(workload, settings)
    if wanted is None or layout(workload, settings).pods == 1:
        return {}
    field = "required_topology" if wanted.required else "preferred_topology"
    return {field: fabric_topology.label(wanted, settings)}


def _roce_ports(settings: Settings) -> tuple[str, ...]:
    return tuple(hca.name for hca in settings.profile.hcas) if isinstance(settings.fabric, Roce) else ()


def gpu_job(workload: JobWorkload, settings: Settings, locks: Locked | None = None) -> GpuJobArgs:
    """Return the arguments of a batch job."""
    rdma = has_rdma(workload, settings)
    return GpuJobArgs(
        **_common(workload, settings, locks),
        gpus=workload.gpus,
        instance=workload.instance,
        rdma_resources=_rdma(settings) if rdma else (),
        networks=fabric.networks(settings, workload.tenant) if rdma else (),
        backoff_limit=settings.program(workload.program).restarts,
        seccomp=seccomp(settings),
        queue=_queue(settings),
    )


def has_rdma(workload: JobWorkload, settings: Settings) -> bool:
    """Return whether the pod of a job gets RDMA devices: its program uses them, and fabric and tenant have them."""
    return settings.program(workload.program).rdma and settings.uses_rdma and settings.tenant(workload.tenant).rdma


def indexed_job(workload: IndexedWorkload, settings: Settings, locks: Locked | None = None) -> IndexedJobArgs:
    """Return the arguments of a map-reduce job."""
    return IndexedJobArgs(
        **_common(workload, settings, locks),
        slices=workload.slices,
        gpus=workload.gpus,
        instance=workload.instance,
        results=workload.results,
        reducer=workload.reducer,
        indexed=settings.version.indexed_jobs,
        seccomp=seccomp(settings),
        queue=_queue(settings),
    )


def staging(workload: StageDataWorkload, settings: Settings, locks: Locked) -> StagedDataArgs:
    """Return the arguments of a staging."""
    tenant = settings.tenant(workload.tenant)
    return StagedDataArgs(
        **_of_any_job(workload, workload.image, settings),
        job_name=locked_data.job_name(workload, locks),
        **_data(workload, {}, settings, locks),
        slices=workload.slices,
        content=workload.content,
        indexed=settings.version.indexed_jobs,
        image=workload.image,
        run_as=RunAs(uid=tenant.run_as_uid, gid=tenant.run_as_gid),
        cpus=workload.cpus,
        memory=workload.memory,
        shm="64Mi",
        # A file that could not be read now may be in a minute; what it finds is the same in each attempt.
        backoff_limit=2,
        seccomp=seccomp(settings),
    )


def _data(
    workload: Started | StageDataWorkload, mounts: Mapping[str, MountOptions], settings: Settings, locks: Locked | None
) -> dict[str, Any]:
    """Return volumes and mounts of a job, those of its data set among them, and the data set."""
    tenant, name = settings.tenant(workload.tenant), workload.data_set
    split = None if isinstance(workload, StageDataWorkload) else workload.split
    data_set = locked_data.of_job(tenant.namespace, name, split, locks) if name else None
    wanted = dict(mounts)
    if data_set is not None:
        volume = next(each.volume for each in tenant.data_sets if each.name == name)
        wanted[data_set.at] = MountOptions(volume=volume, read_only=True)
    volumes = {mount.volume: tenant.all_volumes[mount.volume].in_pods for mount in wanted.values()}
    return {"data_set": data_set, "volumes": volumes, "mounts": wanted}


def _common(workload: Started, settings: Settings, locks: Locked | None) -> dict[str, Any]:
    """Return the arguments that all jobs of programs have."""
    tenant, program, wanted = (
        settings.tenant(workload.tenant),
        settings.program(workload.program),
        layout(workload, settings),
    )
    part, name = pod_share(workload, settings), job_name(workload, settings)
    hook, image = settings.version.runtime_hook, images.image(workload, settings)
    further = fabric.environment(settings) if isinstance(workload, SpanningWorkload) else {}
    data = _data(workload, program.mounts, settings, locks)
    found = data["data_set"].environment if data["data_set"] else {}
    return {
        **_of_any_job(workload, image, settings),
        "job_name": name,
        "command": program.started(
            wanted, in_image=images.has_nccl_tests(workload, settings), largest_mib=workload.largest_mib, job=name
        ),
        "working_directory": program.working_directory,
        "image": image,
        "run_as": RunAs(uid=tenant.run_as_uid, gid=tenant.run_as_gid),
        **data,
        **fields_of(JobChoices, workload),
        "environment": {
            **further,
            **program.variables(name),
            **_PRECISION.get(workload.precision, {}),
            **found,
            **workload.environment,
        },
        "runtime_environment": _CAPABILITIES | {"NVIDIA_REQUIRE_CUDA": program.require_cuda} if hook else {},
        "priority_class": workload.priority,
        "cpus": part.cpus,
        "memory": f"{part.memory_gib}Gi",
        "further": program.resources.further,
        "ports": program.ports,
        "shm": f"{workload.shm_gib}Gi",
        "on_change": workload.on_change or ("keep" if program.trains else "replace"),
    }


def _of_any_job(workload: Workload, image: str | None, settings: Settings) -> dict[str, Any]:
    """Return the arguments that every job has: whose it is, and how an update follows it."""
    return {
        "namespace": workload.tenant,
        "pull_secrets": pull_secrets(image, settings),
        "account": ACCOUNT,
        "run": workload.run,
        "wait": follow(workload, settings),
        "timeout": workload.timeout or settings.timeouts.job,
    }


def _rdma(settings: Settings) -> tuple[str, ...]:
    return tuple(names.RDMA_PREFIX + resource for resource in settings.rdma_resources)


def pull_secrets(image: str | None, settings: Settings) -> tuple[str, ...]:
    """Return the secrets that pods name; none for an image of the cluster's own registry.

    The login there is the account's, and a pod gets its account's secrets only when it names none (che #19999).
    """
    ours = image is not None and image.startswith(f"{settings.version.registry}/")
    return (settings.pull_secret.name,) if settings.pull_secret and not ours else ()


def _queue(settings: Settings) -> str | None:
    return settings.queues.queue if settings.queues else None


def seccomp(settings: Settings) -> bool:
    """Say whether pods request the runtime's default profile of system calls."""
    return settings.version.scc_base == "restricted-v2"
