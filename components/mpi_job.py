"""One MPI job: a launcher that starts a program on workers with GPUs and RDMA devices (R-4.3)."""

from collections.abc import Sequence
from typing import Any

import pulumi
import pulumi_kubernetes as k8s

from apis import names
from components import outcome
from components.component import Component
from components.custom_resources import CustomObject
from components.labels import labels
from components.mpi_job_args import WORKSPACE, MpiJobArgs, RunAs, V2Beta1
from components.mpi_job_specs import spec

__all__ = ["WORKSPACE", "MpiJob", "MpiJobArgs", "RunAs", "V2Beta1"]


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
        queue = {names.QUEUE_NAME: args.v2beta1.queue} if args.v2beta1.queue else {}
        job = CustomObject(
            f"{name}-job",
            args.kind,
            k8s.meta.v1.ObjectMetaArgs(
                name=args.job_name,
                namespace=args.namespace,
                labels=labels(args.job_name, "workload") | queue,
                annotations=outcome.job_annotations(args.kind, args.wait, timeout=args.timeout),
            ),
            {"spec": spec(args)},
            self.child(*after, replacement_trigger=args.run, delete_before_replace=True, **replace),
        )
        self.outputs(finished=outcome.gate(args.namespace, args.job_name, job.status, read_log))
