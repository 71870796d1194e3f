"""One MPI job: a launcher that starts a program on workers with GPUs and RDMA devices."""

from collections.abc import Sequence
from typing import Any

import pulumi

from components.base.component import Component
from components.jobs import job_pods, outcome
from components.jobs.mpi_job_args import MpiJobArgs, RunAs, V2Beta1
from components.jobs.mpi_job_specs import spec

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
