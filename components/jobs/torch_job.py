"""One PyTorch job: torchrun in every pod of an Indexed Job, which find each other by a headless Service.

The environment is that of Kubeflow Trainer's torch policy (kubeflow/trainer, pkg/runtime/framework/plugins/torch):
torchrun reads PET_*, and the index of a pod is its node's rank.
"""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Self

import pulumi
import pulumi_kubernetes as k8s
from pydantic import Field, model_validator

from components.base.component import Component, CustomObject
from components.base.model import DnsName
from components.base.security_context import confined_pod
from components.fabric import gid_index
from components.jobs import job_pods, outcome, resilience
from components.jobs.job_args import SpanningJobArgs
from core.apis import kinds, names
from core.apis.names import labels
from core.apis.trainer import LABEL_LENGTH


class TorchJobArgs(SpanningJobArgs):
    """One job."""

    port: int = Field(default=29500, ge=1024, le=65535, description="of the rendezvous, on the first pod")
    roce_ports: tuple[str, ...] = Field(
        default=(), description="ports that are Ethernet, e.g. mlx5_0: each pod looks for its own address on them"
    )
    queue: DnsName | None = Field(
        default=None, description="LocalQueue of the namespace; Kueue then decides when the job starts"
    )

    @property
    def own_ports(self) -> Mapping[str, int]:
        """The rendezvous, on the first pod."""
        return {"rendezvous": self.port}

    @property
    def head(self) -> str:
        """DNS name of the first pod, in its namespace."""
        return f"{self.job_name}-0.{self.service}"

    @property
    def restarting(self) -> Mapping[str, str]:
        """Variables by which torchrun knows how often it starts all processes again, in their pods, and how they meet.

        New processes need a store of their own, or they may read the addresses of the former ones and wait for these in
        vain. The static rendezvous and a shared store keep those: on two GPUs with PyTorch 2.11 three of five jobs did
        not come back, and with these variables all of four did (tests/toolkit/evidence/lost_ranks).
        """
        if not self.resilience.of_torchrun:
            return {}
        return {
            "PET_MAX_RESTARTS": str(self.resilience.of_torchrun),
            "PET_RDZV_BACKEND": "c10d",
            "PET_RDZV_ID": self.job_name,
            # In full, as in /etc/hosts: the first pod knows by its own name that it has the rendezvous, without DNS.
            "PET_RDZV_ENDPOINT": f"{self.head}.{self.namespace}.svc.cluster.local:{self.port}",
            # The static rendezvous waits as long for the first pod, c10d for 60 s.
            "PET_RDZV_CONF": "read_timeout=600",
            "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1",
        }

    @property
    def service(self) -> str:
        """Name of the Service of its pods; JobSet gives a TrainJob of this name one that is called like the job."""
        return f"{self.job_name}-pods"

    @model_validator(mode="after")
    def _can_be_created(self) -> Self:
        if len(self.service) > LABEL_LENGTH or not self.service[0].isalpha():
            raise ValueError(
                f"job_name: {self.service}, the Service of its pods, must be a DNS-1035 label; shorten {self.job_name}"
                f" to {LABEL_LENGTH - len(self.service) + len(self.job_name)} characters and start it with a letter"
            )
        return self

    @property
    def rendezvous(self) -> Mapping[str, str]:
        """Variables from which torchrun knows the job, beside the pod's own rank."""
        return {
            "PET_NNODES": str(self.layout.pods),
            "PET_NPROC_PER_NODE": str(self.processes_per_pod),
            "PET_MASTER_ADDR": self.head,
            "PET_MASTER_PORT": str(self.port),
        }

    @property
    def fixed(self) -> frozenset[str]:
        """Variables that the job sets itself: on RoCE each pod also finds its GID index."""
        own = super().fixed | self.rendezvous.keys() | self.restarting.keys() | {"PET_NODE_RANK", "PET_MAX_RESTARTS"}
        return frozenset(own | ({gid_index.NCCL} if self.roce_ports else set()))


def command(args: TorchJobArgs) -> list[str]:
    """Return what a pod runs."""
    words = ["torchrun", *args.command]
    if not args.rdma or not args.roce_ports:
        return job_pods.after_proof(args, words)
    export = f'[ -z "$index" ]||export {gid_index.NCCL}=$index'
    shell = ["/bin/sh", "-c", f"{gid_index.common_index(args.roce_ports)};{export};exec {shlex.join(words)}"]
    return job_pods.after_proof(args, shell)


def spec(args: TorchJobArgs) -> dict[str, Any]:
    """Return the `spec` of the Job.

    All pods start together, and one that fails ends the job: ranks that lost another cannot go on. A job of one pod
    may get another pod.
    """
    rank = {
        "name": "PET_NODE_RANK",
        "valueFrom": {"fieldRef": {"fieldPath": f"metadata.annotations['{names.COMPLETION_INDEX}']"}},
    }
    environment = {**args.nccl(words=True), **args.rendezvous, **args.restarting}
    container = {
        **job_pods.container(args),
        "command": command(args),
        **({"workingDir": args.working_directory} if args.working_directory else {}),
        "env": [*job_pods.variables(environment)["env"], rank],
        "ports": [{"name": "rendezvous", "containerPort": args.port}, *job_pods.ports(args)],
        **job_pods.with_gpus(args),
    }
    pod = {
        "restartPolicy": "Never",
        "subdomain": args.service,
        "serviceAccountName": args.account,
        "automountServiceAccountToken": False,
        "securityContext": confined_pod(),
        "containers": [container],
        "volumes": job_pods.volumes(args),
        **job_pods.placed(args),
        **job_pods.pod(args),
    }
    return {
        "completionMode": "Indexed",
        "completions": args.layout.pods,
        "parallelism": args.layout.pods,
        **resilience.of_job(args.resilience),
        "activeDeadlineSeconds": args.deadline,
        "template": job_pods.template(pod, job_pods.annotations(args)),
    }


def service_spec(args: TorchJobArgs) -> dict[str, Any]:
    """Return the `spec` of the headless Service by which the pods find the first of them."""
    return {
        "clusterIP": "None",
        "publishNotReadyAddresses": True,
        "selector": {names.JOB_NAME: args.job_name},
        "ports": [{"name": "rendezvous", "port": args.port}],
    }


class TorchJob(Component):
    """A headless Service and a Job. Outputs: `finished`, the job's name, which raises when the job has failed."""

    finished: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        args: TorchJobArgs,
        read_log: outcome.ReadLog,
        after: Sequence[pulumi.Output[Any]] = (),
        *,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("workloads:TorchJob", name, args, opts)
        service = CustomObject(
            f"{name}-service",
            kinds.SERVICE,
            k8s.meta.v1.ObjectMetaArgs(
                name=args.service, namespace=args.namespace, labels=labels(args.job_name, "workload")
            ),
            {"spec": service_spec(args)},
            self.child(*after),
        )
        self.outputs(
            finished=job_pods.declare(
                self, name, args, kinds.JOB, spec(args), read_log=read_log, after=[*after, service], queue=args.queue
            )
        )
