"""The `spec` of an MPIJob in each API generation."""

from collections.abc import Callable, Mapping
from typing import Any

from apis import names
from apis.kinds import MPI_JOB_V1ALPHA2, MPI_JOB_V2BETA1
from components import mpi_job_ssh as ssh
from components.confined import confined
from components.mpi_job_args import WORKSPACE, MpiJobArgs

LIBMLX5 = "/usr/lib/libibverbs/libmlx5"
"""Value of IBV_DRIVERS in the images of 2020 (R-4.3-5); later ones find their drivers themselves."""
HOSTFILE = "/etc/mpi/hostfile"
"""Where the operator of v2beta1 mounts the list of workers."""
PROBE_SECONDS = 2


def mpirun(args: MpiJobArgs) -> list[str]:
    """Return the launcher's command line (R-4.3-3).

    v2beta1 names the hostfile: Open MPI 5 does not read the variable by which the operator tells it, and would run
    every rank in the launcher without a word (mpi-operator #842).
    """
    current = args.kind.version == MPI_JOB_V2BETA1.version
    environment = {"NCCL_DEBUG": "INFO", **args.transport.environment(args.gdr_level, words=current)}
    if args.ib_hca and args.transport.uses_rdma:
        environment["NCCL_IB_HCA"] = args.ib_hca
    exports = [*(f"{key}={value}" for key, value in environment.items()), "LD_LIBRARY_PATH", "PATH"]
    return [
        "mpirun",
        *(("-hostfile", HOSTFILE) if current else ()),
        *("-np", str(args.layout.pods * args.processes_per_pod)),
        *(("-wdir", args.working_directory) if args.working_directory else ()),
        *("-bind-to", "none", "-map-by", "slot"),
        *(word for export in exports for word in ("-x", export)),
        *("-mca", "pml", "ob1", "-mca", "btl", "^openib"),
        *args.command,
    ]


def v1alpha2(args: MpiJobArgs) -> dict[str, Any]:
    """Return the `spec` of 2020: the launcher, whose account the operator makes, reaches the workers by exec."""
    launcher = _container(args) | {"command": mpirun(args), "securityContext": confined()}
    worker = _worker(args) | {"env": [{"name": "IBV_DRIVERS", "value": LIBMLX5}]}
    return {
        "slotsPerWorker": args.processes_per_pod,
        "cleanPodPolicy": "Running",
        "backoffLimit": args.backoff_limit,
        "activeDeadlineSeconds": args.deadline,
        "mpiReplicaSpecs": {
            "Launcher": {"replicas": 1, "template": {"spec": {"containers": [launcher]}}},
            "Worker": {
                "replicas": args.layout.pods,
                "template": {
                    "spec": {"serviceAccountName": args.account, "containers": [worker], "volumes": _volumes(args)}
                },
            },
        },
    }


def v2beta1(args: MpiJobArgs) -> dict[str, Any]:
    """Return the `spec` of today: the launcher, made when all workers are ready, reaches them by SSH.

    A worker is ready when its sshd listens. No pod is restarted: a retry is a new launcher, and a worker that dies ends
    the job with its own words. Pods hold no token of their account; it only decides which SCC they get.
    """
    own = args.v2beta1
    launcher = _container(args) | {
        "command": mpirun(args),
        "securityContext": confined(**_ids(args)),
        "volumeMounts": ssh.mounts(),
    }
    worker = _worker(args)
    worker |= {
        "command": ssh.server(args),
        "ports": [{"name": "ssh", "containerPort": own.ssh_port}],
        "readinessProbe": {"tcpSocket": {"port": own.ssh_port}, "periodSeconds": PROBE_SECONDS},
        "volumeMounts": [*worker["volumeMounts"], *ssh.mounts()],
    }
    policy = {
        "cleanPodPolicy": "Running",
        "backoffLimit": args.backoff_limit,
        "activeDeadlineSeconds": args.deadline,
        **({"ttlSecondsAfterFinished": own.ttl} if own.ttl else {}),
        **({"suspend": True} if own.suspend else {}),
    }
    return {
        "slotsPerWorker": args.processes_per_pod,
        "mpiImplementation": "OpenMPI",
        "launcherCreationPolicy": "WaitForWorkersReady",
        "sshAuthMountPath": ssh.keys(args),
        "runPolicy": policy,
        "mpiReplicaSpecs": {
            "Launcher": _replicas(args, 1, launcher, []),
            "Worker": _replicas(args, args.layout.pods, worker, _volumes(args)),
        },
    }


SPECS: Mapping[str, Callable[[MpiJobArgs], dict[str, Any]]] = {
    MPI_JOB_V1ALPHA2.version: v1alpha2,
    MPI_JOB_V2BETA1.version: v2beta1,
}
"""What builds the `spec` of each API generation."""


def spec(args: MpiJobArgs) -> dict[str, Any]:
    """Return the `spec` in the API generation of `args.kind`."""
    return SPECS[args.kind.version](args)


def _replicas(args: MpiJobArgs, count: int, container: dict[str, Any], volumes: list[dict[str, Any]]) -> dict[str, Any]:
    pod = {
        "serviceAccountName": args.account,
        "automountServiceAccountToken": False,
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [container],
        "volumes": [*volumes, ssh.volume()],
    }
    template = {"metadata": {"annotations": ssh.annotations(args)}, "spec": pod}
    return {"replicas": count, "restartPolicy": "Never", "template": template}


def _container(args: MpiJobArgs) -> dict[str, Any]:
    return {
        "name": args.job_name,
        "image": args.image,
        "imagePullPolicy": "IfNotPresent",
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }


def _ids(args: MpiJobArgs) -> dict[str, int]:
    return {"runAsUser": args.run_as.uid, "runAsGroup": args.run_as.gid}


def _worker(args: MpiJobArgs) -> dict[str, Any]:
    rdma = args.rdma_resources if args.transport.uses_rdma else ()
    return _container(args) | {
        "securityContext": confined(*((names.IPC_LOCK,) if rdma else ()), **_ids(args)),
        "resources": {
            "limits": {
                "cpu": args.cpus,
                "memory": args.memory,
                names.GPU_RESOURCE: args.layout.gpus,
                **dict.fromkeys(rdma, 1),
            }
        },
        "volumeMounts": [
            {"name": "data", "mountPath": WORKSPACE},
            {"name": "dshm", "mountPath": "/dev/shm"},  # noqa: S108 - NCCL's shared memory, not a temp file
        ],
    }


def _volumes(args: MpiJobArgs) -> list[dict[str, Any]]:
    return [
        {"name": "data", "persistentVolumeClaim": {"claimName": args.claim}},
        {"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": args.shm}},
    ]
