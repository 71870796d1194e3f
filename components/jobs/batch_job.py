"""What Jobs of one container have in common, however many pods they have."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from components.base.model import DnsName
from components.base.security_context import confined_pod
from components.jobs import job_pods, resilience
from components.jobs.job_args import JobArgs
from core.apis import names


class BatchJobArgs(JobArgs):
    """One batch job."""

    seccomp: bool = Field(
        default=True,
        description="confine system calls to the runtime's default, as SCC restricted-v2 does; one of before OpenShift "
        "4.11 refuses a pod that requests it",
    )
    failure_policies: bool = Field(
        default=True, description="whether Jobs have a podFailurePolicy (Kubernetes 1.31, on by default from 1.26 on)"
    )
    queue: DnsName | None = Field(
        default=None, description="LocalQueue of the namespace; Kueue then decides when the job starts"
    )


def gpus(count: int, instance: str | None) -> dict[str, str]:
    """Return what a container asks for: whole GPUs, or one MIG instance of a size."""
    return {f"{names.MIG_PREFIX}{instance}": "1"} if instance else {names.GPU_RESOURCE: str(count)}


def spec(
    args: BatchJobArgs, container: Mapping[str, Any], annotations: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return the `spec` of a Job of one container, whose pods have the annotations."""
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
        **resilience.of_job(args.resilience, policies=args.failure_policies),
        "activeDeadlineSeconds": args.deadline,
        "template": job_pods.template(pod, annotations or {}),
    }
