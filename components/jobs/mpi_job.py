"""One MPI job: a launcher that starts a program on workers with GPUs and RDMA devices."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pulumi

from components.base.component import Component
from components.base.security_context import confined, confined_pod
from components.jobs import job_pods, outcome
from components.jobs import mpi_job_ssh as ssh
from components.jobs.mpi_job_args import HOSTFILES, MpiJobArgs, RunAs, V2Beta1
from core.apis.kinds import MPI_JOB_V1ALPHA2, MPI_JOB_V2BETA1

__all__ = ["MpiJob", "MpiJobArgs", "RunAs", "V2Beta1"]


class MpiJob(Component):
    """One MPIJob object, replaced when its run number rises or, unless `on_change` is keep, when its spec changes.

    Outputs: `finished`, the job's name, which raises when the job has failed.
    """

    finished: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        args: MpiJobArgs,
        read_log: outcome.ReadLog,
        after: Sequence[pulumi.Output[Any]] = (),
        *,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("workloads:MpiJob", name, args, opts)
        self.outputs(
            finished=job_pods.declare(
                self, name, args, args.kind, spec(args), read_log=read_log, after=after, queue=args.v2beta1.queue
            )
        )


LIBMLX5 = "/usr/lib/libibverbs/libmlx5"
"""Value of IBV_DRIVERS in the images of 2020; later ones find their drivers themselves."""
HOSTFILE = f"{HOSTFILES}/hostfile"
"""The list of workers, from the operator of v2beta1."""
PROBE_SECONDS = 2
DEBUG = ("-mca", "plm_base_verbose", "100", "-mca", "btl_base_verbose", "30")
"""Options with which Open MPI logs how it starts and connects processes."""


def mpirun(args: MpiJobArgs) -> list[str]:
    """Return the launcher's command line.

    v2beta1 names the hostfile: Open MPI 5 does not read the operator's variable for it, and would run every
    rank in the launcher without a warning (mpi-operator #842).
    """
    current = args.kind.version == MPI_JOB_V2BETA1.version
    exports = [*(f"{key}={value}" for key, value in args.nccl(words=current).items()), "LD_LIBRARY_PATH", "PATH"]
    return [
        "mpirun",
        *(("-hostfile", HOSTFILE) if current else ()),
        *("-np", str(args.layout.pods * args.processes_per_pod)),
        *(("-wdir", args.working_directory) if args.working_directory else ()),
        *("-bind-to", "none", "-map-by", "slot"),
        *(word for export in exports for word in ("-x", export)),
        *("-mca", "pml", "ob1", "-mca", "btl", "^openib"),
        *(DEBUG if args.debug else ()),
        *job_pods.after_proof(args, args.command, of_ranks=True),
    ]


def v1alpha2(args: MpiJobArgs) -> dict[str, Any]:
    """Return the `spec` of 2020: the launcher, whose account the operator makes, reaches the workers by exec."""
    launcher = job_pods.container(args) | {"command": mpirun(args), "securityContext": confined()}
    worker = _worker(args) | job_pods.variables({"IBV_DRIVERS": LIBMLX5, **args.runtime_environment})
    worker |= {"ports": ports} if (ports := job_pods.ports(args)) else {}
    pod = {
        "serviceAccountName": args.account,
        "containers": [worker],
        "volumes": job_pods.volumes(args),
        **job_pods.placed(args),
        **job_pods.pod(args),
    }
    return {
        "slotsPerWorker": args.processes_per_pod,
        "cleanPodPolicy": "Running",
        "backoffLimit": args.resilience.limit,
        "activeDeadlineSeconds": args.deadline,
        "mpiReplicaSpecs": {
            # By default, OnFailure, its pod is deleted with its log when the job fails (mpi-operator #154).
            "Launcher": {
                "replicas": 1,
                "restartPolicy": "Never",
                "template": {
                    "spec": {
                        "containers": [launcher],
                        **job_pods.pod(args),
                        **job_pods.tolerating(args.launcher_tolerations, args.resilience),
                    }
                },
            },
            "Worker": {"replicas": args.layout.pods, "template": job_pods.template(pod, job_pods.annotations(args))},
        },
    }


def v2beta1(args: MpiJobArgs) -> dict[str, Any]:
    """Return the `spec` of today: the launcher, created when all workers are ready, reaches them by SSH.

    A worker is ready when its sshd listens. No pod is restarted: a retry is a new launcher, and a worker that dies ends
    the job with its own words. Pods hold no token of their account; it only decides which SCC they get.
    """
    own = args.v2beta1
    share = {"cpu": own.launcher.cpu, "memory": own.launcher.memory}
    launcher = job_pods.container(args) | {
        "command": mpirun(args),
        "securityContext": confined(**job_pods.ids(args)),
        "resources": {"limits": share, "requests": share},
        "volumeMounts": ssh.mounts(),
    }
    worker = _worker(args) | job_pods.variables(args.runtime_environment)
    worker |= {
        "command": ssh.server(args),
        # Kueue writes the protocol into its Workload. Where the job lacks it, Kueue takes the job for a changed one
        # and makes another Workload for ever.
        "ports": [{"name": "ssh", "containerPort": own.ssh_port, "protocol": "TCP"}, *job_pods.ports(args)],
        "readinessProbe": {"tcpSocket": {"port": own.ssh_port}, "periodSeconds": PROBE_SECONDS},
        "volumeMounts": [*worker["volumeMounts"], *ssh.mounts()],
    }
    policy = {
        "cleanPodPolicy": "Running",
        "backoffLimit": args.resilience.limit,
        "activeDeadlineSeconds": args.deadline,
        **({"ttlSecondsAfterFinished": own.ttl} if own.ttl else {}),
        **({"suspend": True} if own.suspend else {}),
    }
    launching = (
        _pod(args, launcher, [])
        | _wait_for_workers(args, launcher)
        | job_pods.tolerating(args.launcher_tolerations, args.resilience)
    )
    workers = {**_pod(args, worker, job_pods.volumes(args)), **job_pods.placed(args)}
    return {
        "slotsPerWorker": args.processes_per_pod,
        "mpiImplementation": "OpenMPI",
        "launcherCreationPolicy": "WaitForWorkersReady",
        "sshAuthMountPath": ssh.keys(args),
        "runPolicy": policy,
        "mpiReplicaSpecs": {
            "Launcher": _replicas(1, launching, ssh.annotations(args)),
            "Worker": _replicas(args.layout.pods, workers, ssh.annotations(args) | job_pods.annotations(args)),
        },
    }


def _wait_for_workers(args: MpiJobArgs, launcher: dict[str, Any]) -> dict[str, Any]:
    """Return what holds a launcher back that Kueue, or a restart, starts while workers are missing.

    launcherCreationPolicy holds back the first launcher alone: a later one would cost a restart, and the next, before
    the worker of a lost node is there again.
    """
    if args.v2beta1.queue is None and not args.resilience.limit:
        return {}
    container = {key: value for key, value in launcher.items() if key != "volumeMounts"}
    return {"initContainers": [{**container, "name": "workers", "command": ssh.waiting(args)}]}


SPECS: Mapping[str, Callable[[MpiJobArgs], dict[str, Any]]] = {
    MPI_JOB_V1ALPHA2.version: v1alpha2,
    MPI_JOB_V2BETA1.version: v2beta1,
}
"""What builds the `spec` of each API generation."""


def spec(args: MpiJobArgs) -> dict[str, Any]:
    """Return the `spec` in the API generation of `args.kind`."""
    return SPECS[args.kind.version](args)


def _replicas(count: int, pod: dict[str, Any], annotations: dict[str, str]) -> dict[str, Any]:
    return {"replicas": count, "restartPolicy": "Never", "template": job_pods.template(pod, annotations)}


def _pod(args: MpiJobArgs, container: dict[str, Any], volumes: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "serviceAccountName": args.account,
        "automountServiceAccountToken": False,
        "securityContext": confined_pod(),
        "containers": [container],
        "volumes": [*volumes, ssh.volume()],
        **job_pods.pod(args),
    }


def _worker(args: MpiJobArgs) -> dict[str, Any]:
    return job_pods.container(args) | job_pods.with_gpus(args)
