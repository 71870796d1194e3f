"""A data set that is brought near: small pods read every file of it whole, so that any cache then has them.

The name of the job carries the digest of the set's list: another lock is another job, and the same lock is none.
"""

from collections.abc import Sequence
from typing import Any

import pulumi
from pydantic import Field

from components.base.component import Component
from components.jobs import outcome, sliced_jobs
from components.jobs.sliced_jobs import SlicedJobArgs, container

SHOWN_DIGITS = 10
"""Of the digest, in the job's name."""


class StagedDataArgs(SlicedJobArgs):
    """One staging."""

    content: bool = Field(default=False, description="print the SHA-256 of all contents; twice the CPU time")


def job_name(data_set: str, digest: str) -> str:
    """Return the name of the job that stages a lock."""
    return f"stage-{data_set}-{digest[:SHOWN_DIGITS]}"


class StagedData(Component):
    """The jobs of one staging, without GPUs. Outputs: `finished`, the job's name, which raises when it has failed."""

    finished: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        args: StagedDataArgs,
        read_log: outcome.ReadLog,
        after: Sequence[pulumi.Output[Any]] = (),
        *,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("workloads:StagedData", name, args, opts)
        more = ("--content",) if args.content else ()
        reads = args.data_set.command("stage", "--slices", str(args.slices), *more)
        body = container(args, reads, {"cpu": str(args.cpus), "memory": args.memory})
        self.outputs(finished=sliced_jobs.declare(self, name, args, body, read_log=read_log, after=after))
