"""Kubeflow Trainer: PyTorch jobs as TrainJobs, and the runtime that they name."""

import shlex
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Self

import pulumi
import pulumi_kubernetes as k8s
from pydantic import Field, model_validator

from components.base.component import Component, CustomObject, cluster_wide, stateful
from components.base.model import DnsName, Model, Quantity
from components.base.security_context import confined, confined_pod
from components.jobs import job_pods, outcome, resilience, torch_job
from components.jobs.job_volumes import SHARED_MEMORY
from components.jobs.resilience import Resilience
from components.jobs.torch_job import TorchJobArgs
from core.apis import kinds, trainer
from core.apis.names import labels


class TrainJobArgs(TorchJobArgs):
    """One job."""

    runtime: DnsName = Field(description="ClusterTrainingRuntime of the platform; not of a job that restarts `all`")

    @property
    def fixed(self) -> frozenset[str]:
        """Variables that the job or the controller sets itself."""
        return super().fixed | trainer.VARIABLES

    @property
    def head(self) -> str:
        """DNS name of the first pod, in its namespace."""
        return trainer.head(self.job_name)

    @model_validator(mode="after")
    def _can_be_created(self) -> Self:
        # In the place of that of an Indexed Job, whose Service it does not have.
        last = trainer.longest_pod(self.job_name, self.layout.pods)
        if len(last) > trainer.LABEL_LENGTH or not last[0].isalpha():
            raise ValueError(
                f"job_name: {last} must be a DNS-1035 label, or JobSet makes no pod; shorten {self.job_name} to"
                f" {trainer.LABEL_LENGTH - len(last) + len(self.job_name)} characters and start it with a letter"
            )
        if self.priority_class is not None:
            raise ValueError(
                f"priority {self.priority_class}: a TrainJob cannot give its pods a priority class; leave it out, or "
                "set `trainer: none`"
            )
        if self.ports:
            raise ValueError(
                f"ports {', '.join(self.ports)}: a TrainJob cannot name ports of its pods; leave them out, or set "
                "`trainer: none`"
            )
        if self.port != trainer.PORT:
            raise ValueError(f"port {self.port}: Kubeflow Trainer uses {trainer.PORT}; leave it out")
        return self


def has_own_runtime(args: TrainJobArgs) -> bool:
    """Say whether a job names a runtime of its own: only there can JobSet's failurePolicy and claims of pods be."""
    return args.resilience.of_all > 0 or bool(job_pods.claims(args))


def command(args: TrainJobArgs) -> list[str]:
    """Return what a pod runs; a TrainJob has no field for the folder to run it in."""
    words = torch_job.command(args)
    if args.working_directory is None:
        return words
    return ["/bin/sh", "-c", f"cd {shlex.quote(args.working_directory)}&&exec {shlex.join(words)}"]


def spec(args: TrainJobArgs) -> dict[str, Any]:
    """Return the `spec` of the TrainJob."""
    whole = job_pods.with_gpus(args)
    node = {"name": trainer.NODE, "securityContext": whole["securityContext"], "volumeMounts": whole["volumeMounts"]}
    pod = {
        "serviceAccountName": args.account,
        "securityContext": confined_pod(),
        "containers": [node],
        "volumes": job_pods.volumes(args),
        **job_pods.placed(args),
        **job_pods.pod(args),
    }
    # A patch cannot have them; the runtime of its own does.
    pod.pop("resourceClaims", None)
    template = job_pods.template(pod, job_pods.annotations(args))
    patch = {"name": trainer.NODE, "template": {"spec": {"template": template}}}
    runtime = kinds.TRAINING_RUNTIME if has_own_runtime(args) else kinds.CLUSTER_TRAINING_RUNTIME
    name = args.job_name if has_own_runtime(args) else args.runtime
    return {
        "runtimeRef": {"apiGroup": runtime.group, "kind": runtime.kind, "name": name},
        "activeDeadlineSeconds": args.deadline,
        "trainer": {
            "image": args.image,
            "command": command(args),
            **job_pods.variables({**args.nccl(words=True), **args.restarting}),
            "numNodes": args.layout.pods,
            "numProcPerNode": args.processes_per_pod,
            "resourcesPerNode": whole["resources"],
        },
        "runtimePatches": [
            {
                "manager": trainer.PATCH_MANAGER,
                "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [patch]}}},
            }
        ],
    }


class TrainJob(Component):
    """One PyTorch job as a TrainJob of Kubeflow Trainer: what it has of its own beside the platform's runtime.

    The controller sets the PET_* variables of torchrun, and does so only where `trainer` is set. Fields of pods that a
    patch of the runtime cannot have are the runtime's (`TrainingRuntime`). A job that restarts all pods has a runtime
    of its own, in its namespace: it alone can have the limit of its restarts.

    One TrainJob, and a TrainingRuntime of the same name where it restarts `all`. Outputs: `finished`, the job's name,
    which raises when the job has failed.
    """

    finished: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        args: TrainJobArgs,
        read_log: outcome.ReadLog,
        after: Sequence[pulumi.Output[Any]] = (),
        *,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("workloads:TrainJob", name, args, opts)
        ready: list[pulumi.Resource | pulumi.Output[Any]] = [*after]
        if has_own_runtime(args):
            ready.append(self._runtime(name, args, after))
        self.outputs(
            finished=job_pods.declare(
                self, name, args, kinds.TRAIN_JOB, spec(args), read_log=read_log, after=ready, queue=args.queue
            )
        )

    def _runtime(self, name: str, args: TrainJobArgs, after: Sequence[pulumi.Output[Any]]) -> CustomObject:
        return CustomObject(
            f"{name}-runtime",
            kinds.TRAINING_RUNTIME,
            k8s.meta.v1.ObjectMetaArgs(
                name=args.job_name, namespace=args.namespace, labels=labels(args.job_name, "workload")
            ),
            {"spec": runtime_spec(args.shm, args.resilience, job_pods.claims(args))},
            self.child(*after),
        )


class TrainingRuntimeArgs(Model):
    """One runtime."""

    runtime_name: DnsName = Field(default="hpc-torch", description="by which TrainJobs name it")
    shm: Quantity = Field(default="8Gi", description="size limit of /dev/shm, where a TrainJob has none of its own")
    protect: bool = Field(default=False, description="refuse to delete it: TrainJobs that name it would fail")


def runtime_spec(shm: str, own: Resilience, claims: Mapping[str, str] = MappingProxyType({})) -> dict[str, Any]:
    """Return the `spec`. The container must be called `node`; a retry of one rank alone is none of the job.

    `claims`: what its pods claim, with the ResourceClaimTemplates.
    """
    container = {
        "name": trainer.NODE,
        "imagePullPolicy": "IfNotPresent",
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "securityContext": confined(),
        "volumeMounts": [{"name": "dshm", "mountPath": SHARED_MEMORY}],
    }
    pod = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "securityContext": confined_pod(),
        "containers": [container],
        "volumes": [{"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": shm}}],
        **job_pods.claiming(claims),
    }
    job = {
        "name": trainer.NODE,
        "replicas": 1,
        "template": {
            "metadata": {"labels": {trainer.ANCESTOR: trainer.STEP}},
            "spec": {**resilience.of_job(own), "completionMode": "Indexed", "template": {"spec": pod}},
        },
    }
    job_set = {**resilience.of_job_set(own), "replicatedJobs": [job]}
    return {"mlPolicy": {"numNodes": 1, "torch": {}}, "template": {"spec": job_set}}


class TrainingRuntime(Component):
    """What all PyTorch jobs of a platform have in common, as Kubeflow Trainer keeps it: one ClusterTrainingRuntime.

    TrainJobs name it, and add image, command, GPUs, RDMA devices, account and volumes. It has what a patch of theirs
    cannot have, and confines pods that no TrainJob patches.

    One ClusterTrainingRuntime. Outputs: `runtime`, its name, known when TrainJobs can name it.
    """

    runtime: pulumi.Output[str]

    def __init__(self, name: str, args: TrainingRuntimeArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("workloads:TrainingRuntime", name, args, opts)
        runtime = CustomObject(
            f"{name}-runtime",
            kinds.CLUSTER_TRAINING_RUNTIME,
            cluster_wide(args.runtime_name, "workload"),
            {"spec": runtime_spec(args.shm, resilience.NOTHING)},
            self.child(**stateful(protect=args.protect)),
        )
        self.outputs(runtime=runtime.id.apply(lambda _: args.runtime_name))
