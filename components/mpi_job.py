"""One MPI job: a launcher that starts a program on workers with GPUs and RDMA devices (R-4.3)."""

from collections.abc import Sequence
from typing import Any, Literal

import pulumi
import pulumi_kubernetes as k8s
from pydantic import Field

from apis import names
from apis.kinds import Kind
from apis.nccl import Transport
from components import outcome
from components.component import Component
from components.confined import confined
from components.custom_resources import CustomObject
from components.labels import labels
from components.layout import Layout
from components.model import DnsLabel, DnsName, Image, Model, Quantity, Seconds
from components.outcome import Wait

LIBMLX5 = "/usr/lib/libibverbs/libmlx5"
"""Value of IBV_DRIVERS in the images of 2020 (R-4.3-5)."""

WORKSPACE = "/workspace"


class RunAs(Model):
    """User and group of the worker processes."""

    uid: int = Field(gt=0, description="inside the namespace's range, and owner of the data (R-4.3-6)")
    gid: int = Field(gt=0)


class MpiJobArgs(Model):
    """One job."""

    kind: Kind = Field(description="API generation, from the release")
    namespace: DnsLabel
    job_name: DnsLabel
    layout: Layout
    processes_per_pod: int = Field(gt=0, description="1 for programs that drive all GPUs of a pod, else one per GPU")
    transport: Transport
    command: tuple[str, ...] = Field(min_length=1, description="what mpirun starts")
    working_directory: str | None = Field(default=None, pattern=r"^/")
    image: Image
    account: DnsName = Field(description="service account of the workers")
    run_as: RunAs
    claim: DnsName = Field(description=f"persistent volume claim, mounted at {WORKSPACE}")
    rdma_resources: tuple[str, ...] = Field(description="of which every worker takes one each (R-3.4.2-7)")
    cpus: int = Field(gt=0, description="limit of a worker; whole CPUs, so that the kubelet can pin them")
    memory: Quantity = Field(description="limit of a worker; pinned memory and /dev/shm count against it")
    shm: Quantity = Field(default="8Gi", description="size limit of /dev/shm")
    backoff_limit: int = Field(default=0, ge=0, description="retries; a retried verification hides what it found")
    deadline: Seconds = Field(default=7 * 24 * 3600, description="seconds after which the job is ended")
    run: int = Field(default=1, ge=1, description="raise it to run the job again")
    on_change: Literal["replace", "keep"] = Field(
        default="replace", description="what a changed spec does: run again at once, or wait for the next run"
    )
    wait: Wait = Wait.FINISHED
    timeout: Seconds = Field(default=3600, description="seconds to follow the job for")


def mpirun(args: MpiJobArgs) -> list[str]:
    """Return the launcher's command line (R-4.3-3)."""
    environment = {"NCCL_DEBUG": "INFO", **args.transport.environment}
    exports = [*(f"{key}={value}" for key, value in environment.items()), "LD_LIBRARY_PATH", "PATH"]
    return [
        "mpirun",
        *("-np", str(args.layout.pods * args.processes_per_pod)),
        *(("-wdir", args.working_directory) if args.working_directory else ()),
        *("-bind-to", "none", "-map-by", "slot"),
        *(word for export in exports for word in ("-x", export)),
        *("-mca", "pml", "ob1", "-mca", "btl", "^openib"),
        *args.command,
    ]


def spec(args: MpiJobArgs) -> dict[str, Any]:
    """Return the `spec` of API generation v1alpha2."""
    return {
        "slotsPerWorker": args.processes_per_pod,
        "cleanPodPolicy": "Running",
        "backoffLimit": args.backoff_limit,
        "activeDeadlineSeconds": args.deadline,
        "mpiReplicaSpecs": {
            "Launcher": {"replicas": 1, "template": {"spec": {"containers": [_launcher(args)]}}},
            "Worker": {"replicas": args.layout.pods, "template": {"spec": _worker_pod(args)}},
        },
    }


def _container(args: MpiJobArgs) -> dict[str, Any]:
    return {
        "name": args.job_name,
        "image": args.image,
        "imagePullPolicy": "IfNotPresent",
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }


def _launcher(args: MpiJobArgs) -> dict[str, Any]:
    return _container(args) | {"command": mpirun(args), "securityContext": confined()}


def _worker_pod(args: MpiJobArgs) -> dict[str, Any]:
    rdma = args.rdma_resources if args.transport.uses_rdma else ()
    return {
        "serviceAccountName": args.account,
        "containers": [
            _container(args)
            | {
                "env": [{"name": "IBV_DRIVERS", "value": LIBMLX5}],
                "securityContext": confined(
                    *((names.IPC_LOCK,) if rdma else ()), runAsUser=args.run_as.uid, runAsGroup=args.run_as.gid
                ),
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
        ],
        "volumes": [
            {"name": "data", "persistentVolumeClaim": {"claimName": args.claim}},
            {"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": args.shm}},
        ],
    }


class MpiJob(Component):
    """One MPIJob object, replaced when its run number rises or, unless told otherwise, when its spec changes.

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
        replace = {"replace_on_changes": ["spec"]} if args.on_change == "replace" else {"ignore_changes": ["spec"]}
        job = CustomObject(
            f"{name}-job",
            args.kind,
            k8s.meta.v1.ObjectMetaArgs(
                name=args.job_name,
                namespace=args.namespace,
                labels=labels(args.job_name, "workload"),
                annotations=outcome.job_annotations(args.kind, args.wait, timeout=args.timeout),
            ),
            {"spec": spec(args)},
            self.child(*after, replacement_trigger=args.run, delete_before_replace=True, **replace),
        )
        self.outputs(finished=outcome.gate(args.namespace, args.job_name, job.status, read_log))
