"""One batch job: a single pod with GPUs of one node."""

from collections.abc import Sequence
from typing import Any, Self

import pulumi
from pydantic import Field, model_validator

from components.base.component import Component
from components.base.model import MigSize
from components.base.security_context import confined
from components.jobs import batch_job, job_pods, outcome
from components.jobs.job_args import NetworkName
from core.apis import kinds, names


class GpuJobArgs(batch_job.BatchJobArgs):
    """One job."""

    gpus: int = Field(gt=0, le=16, description="GPUs of its pod")
    instance: MigSize | None = Field(
        default=None, description="size of the MIG instance that it has in place of whole GPUs"
    )
    rdma_resources: tuple[str, ...] = Field(default=(), description="of which the pod takes one each")
    networks: tuple[NetworkName, ...] = Field(default=(), description="secondary networks that the pod joins")

    @model_validator(mode="after")
    def _starts_after_its_proof(self) -> Self:
        if self.data_set and not self.command:
            raise ValueError(
                f"data_set {self.data_set.name}: the image starts the program, and nothing could be proved before it; "
                "give the program a command"
            )
        return self


def spec(args: GpuJobArgs) -> dict[str, Any]:
    """Return the `spec` of the Job.

    The pod is not a bare one, has no privilege and nothing of the node's file system, as the papers' pods have.
    """
    devices = dict.fromkeys(args.rdma_resources, "1")
    gpus = {} if args.gpu_claim else batch_job.gpus(args.gpus, args.instance)
    share = {"cpu": str(args.cpus), "memory": args.memory, **gpus, **devices, **args.further}
    container = job_pods.container(args) | {
        **({"command": job_pods.after_proof(args, args.command)} if args.command else {}),
        **({"workingDir": args.working_directory} if args.working_directory else {}),
        **job_pods.variables(args.environment | args.runtime_environment),
        **({"ports": ports} if (ports := job_pods.ports(args)) else {}),
        "securityContext": confined(*((names.IPC_LOCK,) if devices else ()), **job_pods.ids(args)),
        "resources": {"limits": share, "requests": share, **job_pods.claimed(args)},
        "volumeMounts": job_pods.mounts(args),
    }
    return batch_job.spec(args, container, job_pods.networks(args.networks))


class GpuJob(Component):
    """One Job. Outputs: `finished`, the job's name, which raises when the job has failed."""

    finished: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        args: GpuJobArgs,
        read_log: outcome.ReadLog,
        after: Sequence[pulumi.Output[Any]] = (),
        *,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("workloads:GpuJob", name, args, opts)
        self.outputs(
            finished=job_pods.declare(
                self, name, args, kinds.JOB, spec(args), read_log=read_log, after=after, queue=args.queue
            )
        )
