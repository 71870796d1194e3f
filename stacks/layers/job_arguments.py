"""The arguments of a stack's jobs: pure functions of its settings and its locks."""

from collections.abc import Mapping
from typing import Any

from components.base.model import fields_of
from components.base.scheduling import bearing
from components.jobs.gpu_job import GpuJobArgs
from components.jobs.job_args import JobChoices
from components.jobs.job_volumes import MountOptions
from components.jobs.mpi_job import MpiJobArgs, RunAs, V2Beta1
from components.jobs.rdma_perftest import RdmaPair, RdmaTestArgs
from components.jobs.resilience import Resilience
from components.jobs.sliced_jobs import IndexedJobArgs, StagedDataArgs
from components.jobs.torch_job import TorchJobArgs
from components.jobs.train_job import TrainingRuntimeArgs, TrainJobArgs
from components.tenants.tenant import ACCOUNT
from core.apis import devices, names
from core.apis.kinds import MPI_JOB_V2BETA1
from core.apis.nccl import Transport
from core.hardware import topology
from stacks.layers import fabric
from stacks.resolved import locked_data
from stacks.resolved import topology as fabric_topology
from stacks.resolved.jobs import Job, ProgramJob
from stacks.resolved.locked_data import Locked
from stacks.settings.fabric import InfiniBand, Roce
from stacks.settings.platform import Settings
from stacks.settings.resolved_pool import Pool
from stacks.settings.storage import in_pods
from stacks.settings.workloads import (
    IndexedWorkload,
    JobWorkload,
    MpiWorkload,
    RdmaTestWorkload,
    SpanningWorkload,
    StageDataWorkload,
    TorchWorkload,
)

AnyArgs = MpiJobArgs | TorchJobArgs | GpuJobArgs | IndexedJobArgs | StagedDataArgs | RdmaTestArgs

_CAPABILITIES = {"NVIDIA_DRIVER_CAPABILITIES": "compute,utility"}
_PRECISION: Mapping[str | None, Mapping[str, str]] = {"fp32": {"NVIDIA_TF32_OVERRIDE": "0"}}


def of_job(job: Job, settings: Settings, locks: Locked | None = None) -> AnyArgs:
    """Return the arguments of a job; `checks.workload` guarantees that they exist.

    Without locks what a data set has is empty: rules that need none judge by that.
    """
    match job.workload:
        case RdmaTestWorkload():
            return _rdma_test(job, job.workload, settings)
        case StageDataWorkload():
            assert locks is not None  # noqa: S101 - a staging is named by its lock
            return _staging(job, job.workload, settings, locks)
    assert isinstance(job, ProgramJob)  # noqa: S101 - all other workloads start a program
    match job.workload:
        case MpiWorkload():
            return _mpi_job(job, job.workload, settings, locks)
        case TorchWorkload():
            return _torch_job(job, settings, locks)
        case JobWorkload():
            return _gpu_job(job, job.workload, settings, locks)
        case IndexedWorkload():
            return _indexed_job(job, job.workload, settings, locks)


def _rdma_test(job: Job, workload: RdmaTestWorkload, settings: Settings) -> RdmaTestArgs:
    pool = job.pool
    roce = pool.fabric if isinstance(pool.fabric, Roce) else None
    return RdmaTestArgs(
        **_of_any_job(job, workload.image, settings),
        job_name=job.name,
        **fields_of(RdmaPair, workload),
        hcas=tuple(hca.name for hca in pool.hcas) if isinstance(pool.fabric, InfiniBand) else (),
        roce=roce is not None,
        traffic_class=roce.traffic_class if roce else None,
        networks=fabric.networks(pool, workload.tenant),
        rdma_resources=tuple(names.RDMA_PREFIX + resource for resource in pool.rdma_resources),
        tolerations=bearing(pool.taints),
        seccomp=seccomp(settings),
    )


def _mpi_job(job: ProgramJob, workload: MpiWorkload, settings: Settings, locks: Locked | None) -> MpiJobArgs:
    kind = settings.version.mpi_job
    assert kind is not None  # noqa: S101 - checked in checks.workload
    # Images of 2020 get the Redpaper's command line; later ones see every adapter of the machine and need their names.
    today = kind.version == MPI_JOB_V2BETA1.version
    return MpiJobArgs(
        **_common(job, settings, locks),
        **_spanning(job, settings, named=today),
        kind=kind,
        debug=workload.debug,
        launcher_tolerations=() if settings.has_plain_workers else bearing(job.pool.taints),
        v2beta1=V2Beta1(
            queue=_queue(settings),
            launcher=workload.launcher or V2Beta1().launcher,
            roce_ports=_roce_ports(job.pool),
        ),
    )


def _torch_job(job: ProgramJob, settings: Settings, locks: Locked | None) -> TorchJobArgs:
    """Return the arguments of a PyTorch job: those of a TrainJob where the platform has Kubeflow Trainer."""
    own = {
        **_common(job, settings, locks),
        **_spanning(job, settings, named=True),
        "roce_ports": _roce_ports(job.pool),
        "queue": _queue(settings),
    }
    if settings.trainer is None:
        return TorchJobArgs(**own)
    return TrainJobArgs(**own, runtime=TrainingRuntimeArgs().runtime_name)


def _spanning(job: ProgramJob, settings: Settings, *, named: bool) -> dict[str, Any]:
    """Return the arguments that jobs of several pods have; `named`: NCCL gets the names of the machine's ports."""
    machine, direct = job.pool.machine, job.transport is Transport.GPUDIRECT
    return {
        "layout": job.layout,
        "processes_per_pod": job.program.processes(job.layout),
        "transport": job.transport,
        "gdr_level": topology.gpudirect_level(machine) if direct else "PIX",
        "ib_hca": topology.nccl_ib_hca(job.hcas) if named and job.hcas else None,
        "rdma_resources": job.rdma_resources,
        "networks": fabric.networks(job.pool, job.tenant.namespace),
        "compute_domain": job.in_compute_domain,
        **_topology(job, settings),
    }


def _topology(job: ProgramJob, settings: Settings) -> dict[str, str | None]:
    """Return the labels of nodes that all pods of a job must or should share; of pods of one node there is none."""
    if job.closeness is None or job.layout.pods == 1:
        return {}
    field = "required_topology" if job.closeness.required else "preferred_topology"
    return {field: fabric_topology.label(job.closeness, job.pool, settings)}


def _roce_ports(pool: Pool) -> tuple[str, ...]:
    return tuple(hca.name for hca in pool.hcas) if isinstance(pool.fabric, Roce) else ()


def _gpu_job(job: ProgramJob, workload: JobWorkload, settings: Settings, locks: Locked | None) -> GpuJobArgs:
    return GpuJobArgs(
        **_common(job, settings, locks),
        gpus=workload.gpus,
        instance=workload.instance,
        rdma_resources=job.rdma_resources,
        networks=fabric.networks(job.pool, job.tenant.namespace) if job.uses_rdma else (),
        failure_policies=settings.version.indexed_jobs,
        seccomp=seccomp(settings),
        queue=_queue(settings),
    )


def _indexed_job(
    job: ProgramJob, workload: IndexedWorkload, settings: Settings, locks: Locked | None
) -> IndexedJobArgs:
    return IndexedJobArgs(
        **_common(job, settings, locks),
        slices=workload.slices,
        gpus=workload.gpus,
        instance=workload.instance,
        results=workload.results,
        reducer=workload.reducer,
        indexed=settings.version.indexed_jobs,
        failure_policies=settings.version.indexed_jobs,
        seccomp=seccomp(settings),
        queue=_queue(settings),
    )


def _staging(job: Job, workload: StageDataWorkload, settings: Settings, locks: Locked) -> StagedDataArgs:
    return StagedDataArgs(
        **_of_any_job(job, workload.image, settings),
        job_name=locked_data.job_name(workload, locks),
        **_data(job, {}, locks),
        slices=workload.slices,
        content=workload.content,
        indexed=settings.version.indexed_jobs,
        image=workload.image,
        run_as=RunAs(uid=job.tenant.run_as_uid, gid=job.tenant.run_as_gid),
        cpus=workload.cpus,
        memory=workload.memory,
        shm="64Mi",
        # A file that could not be read now may be in a minute; what it finds is the same in each attempt.
        resilience=Resilience(restart="pods", limit=2),
        seccomp=seccomp(settings),
    )


def _data(job: Job, mounts: Mapping[str, MountOptions], locks: Locked | None) -> dict[str, Any]:
    """Return volumes and mounts of a job, those of its data set among them, and the data set."""
    tenant = job.tenant
    name = None if isinstance(job.workload, RdmaTestWorkload) else job.workload.data_set
    split = job.workload.split if isinstance(job, ProgramJob) else None
    data_set = locked_data.of_job(tenant.namespace, name, split, locks) if name else None
    all_mounts = dict(mounts)
    if data_set is not None:
        volume = next(entry.volume for entry in tenant.data_sets if entry.name == name)
        all_mounts[data_set.at] = MountOptions(volume=volume, read_only=True)
    volumes = {mount.volume: in_pods(tenant.all_volumes[mount.volume]) for mount in all_mounts.values()}
    return {"data_set": data_set, "volumes": volumes, "mounts": all_mounts}


def _common(job: ProgramJob, settings: Settings, locks: Locked | None) -> dict[str, Any]:
    """Return the arguments that all jobs of programs have."""
    workload, program, tenant = job.workload, job.program, job.tenant
    further = fabric.environment(job.pool, settings) if isinstance(workload, SpanningWorkload) else {}
    data = _data(job, program.mounts, locks)
    of_data = data["data_set"].environment if data["data_set"] else {}
    return {
        **_of_any_job(job, job.image, settings),
        "job_name": job.name,
        "command": program.started(
            job.layout,
            in_image=job.build is not None and job.build.has_nccl_tests,
            largest_mib=workload.largest_mib,
            job=job.name,
        ),
        "working_directory": program.working_directory,
        "image": job.image,
        "run_as": RunAs(uid=tenant.run_as_uid, gid=tenant.run_as_gid),
        "node_labels": job.pool.selector if job.pool.declared else {},
        "tolerations": bearing(job.pool.taints),
        **data,
        **fields_of(JobChoices, workload),
        "environment": {
            **further,
            **program.variables(job.name),
            **_PRECISION.get(workload.precision, {}),
            **of_data,
            **workload.environment,
        },
        "runtime_environment": (
            _CAPABILITIES | {"NVIDIA_REQUIRE_CUDA": program.require_cuda} if settings.version.runtime_hook else {}
        ),
        "resilience": job.resilience,
        "priority_class": workload.priority,
        "cpus": job.share.cpus,
        "memory": f"{job.share.memory_gib}Gi",
        "further": program.resources.further,
        "gpu_claim": devices.claim_template(job.layout.gpus) if job.pool.by_claims else None,
        "ports": program.ports,
        "shm": f"{workload.shm_gib}Gi",
        "on_change": workload.on_change or ("keep" if program.trains else "replace"),
    }


def _of_any_job(job: Job, image: str | None, settings: Settings) -> dict[str, Any]:
    """Return the arguments that every job has: whose it is, and how an update follows it."""
    return {
        "namespace": job.tenant.namespace,
        "pull_secrets": pull_secrets(image, settings),
        "account": ACCOUNT,
        "run": job.workload.run,
        "wait": job.wait,
        "timeout": job.workload.timeout or settings.timeouts.job,
    }


def pull_secrets(image: str | None, settings: Settings) -> tuple[str, ...]:
    """Return the secrets that pods name; none for an image of the cluster's own registry.

    The login there is the account's, and a pod gets its account's secrets only when it names none (che #19999).
    """
    in_cluster_registry = image is not None and image.startswith(f"{settings.version.registry}/")
    return (settings.pull_secret.name,) if settings.pull_secret and not in_cluster_registry else ()


def _queue(settings: Settings) -> str | None:
    return settings.queues.queue if settings.queues else None


def seccomp(settings: Settings) -> bool:
    """Say whether pods request the runtime's default profile of system calls."""
    return settings.version.scc_base == "restricted-v2"
