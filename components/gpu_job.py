"""One batch job: a single pod with GPUs of one node (S-4.4, S-7.6, B-4.3)."""

from collections.abc import Sequence
from typing import Any

import pulumi
from pydantic import Field

from apis import kinds, names
from components import job_pods, outcome
from components.component import Component
from components.job_args import JobArgs
from components.model import DnsName
from components.security_context import confined, confined_pod


class GpuJobArgs(JobArgs):
    """One job."""

    gpus: int = Field(gt=0, le=16, description="GPUs of its pod")
    seccomp: bool = Field(
        default=True,
        description="confine system calls to the runtime's default, as SCC restricted-v2 does; one of before OpenShift "
        "4.11 refuses a pod that requests it",
    )
    queue: DnsName | None = Field(
        default=None, description="LocalQueue of the namespace; Kueue then decides when the job starts"
    )


def spec(args: GpuJobArgs) -> dict[str, Any]:
    """Return the `spec` of the Job.

    The pod is no bare one, has no privilege and nothing of the node's file system, as the papers' pods have (E-40,
    E-52).
    """
    share = {"cpu": str(args.cpus), "memory": args.memory, names.GPU_RESOURCE: str(args.gpus), **args.further}
    container = job_pods.container(args) | {
        **({"command": list(args.command)} if args.command else {}),
        **({"workingDir": args.working_directory} if args.working_directory else {}),
        **job_pods.variables(args.environment | args.runtime_environment),
        **({"ports": ports} if (ports := job_pods.ports(args)) else {}),
        "securityContext": confined(**job_pods.ids(args)),
        "resources": {"limits": share, "requests": share},
        "volumeMounts": job_pods.mounts(args),
    }
    pod = {
        "restartPolicy": "Never",
        "serviceAccountName": args.account,
        "automountServiceAccountToken": False,
        "securityContext": confined_pod(seccomp=args.seccomp),
        "containers": [container],
        "volumes": job_pods.volumes(args),
        **job_pods.placed(args),
        **job_pods.pod(args),
    }
    return {
        "backoffLimit": args.backoff_limit,
        "activeDeadlineSeconds": args.deadline,
        "template": {"spec": pod},
    }


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
