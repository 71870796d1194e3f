"""What all PyTorch jobs of a platform have in common, as Kubeflow Trainer keeps it: one ClusterTrainingRuntime.

TrainJobs name it, and add image, command, GPUs, RDMA devices, account and volumes. It has what a patch of theirs
cannot have, and confines pods that no TrainJob patches.
"""

from typing import Any

import pulumi
from pydantic import Field

from components.base.component import Component, stateful
from components.base.custom_resources import CustomObject, cluster_wide
from components.base.model import DnsName, Model, Quantity
from components.base.security_context import confined, confined_pod
from components.jobs.job_volumes import SHARED_MEMORY
from core.apis import kinds, trainer


class TrainingRuntimeArgs(Model):
    """One runtime."""

    runtime_name: DnsName = Field(default="hpc-torch", description="by which TrainJobs name it")
    shm: Quantity = Field(default="8Gi", description="size limit of /dev/shm, where a TrainJob has none of its own")
    protect: bool = Field(default=False, description="refuse to delete it: TrainJobs that name it would fail")


def spec(args: TrainingRuntimeArgs) -> dict[str, Any]:
    """Return the `spec`. The container must be called `node`; a retry of one rank alone is none of the job."""
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
        "volumes": [{"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": args.shm}}],
    }
    job = {
        "name": trainer.NODE,
        "replicas": 1,
        "template": {
            "metadata": {"labels": {trainer.ANCESTOR: trainer.STEP}},
            "spec": {"backoffLimit": 0, "completionMode": "Indexed", "template": {"spec": pod}},
        },
    }
    return {"mlPolicy": {"numNodes": 1, "torch": {}}, "template": {"spec": {"replicatedJobs": [job]}}}


class TrainingRuntime(Component):
    """One ClusterTrainingRuntime. Outputs: `runtime`, its name, known when TrainJobs can name it."""

    runtime: pulumi.Output[str]

    def __init__(self, name: str, args: TrainingRuntimeArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("workloads:TrainingRuntime", name, args, opts)
        runtime = CustomObject(
            f"{name}-runtime",
            kinds.CLUSTER_TRAINING_RUNTIME,
            cluster_wide(args.runtime_name, "workload"),
            {"spec": spec(args)},
            self.child(**stateful(protect=args.protect)),
        )
        self.outputs(runtime=runtime.id.apply(lambda _: args.runtime_name))
