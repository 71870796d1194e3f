"""Pods that each have a slice of one work: an Indexed Job, or as many Jobs where the release has no Indexed Jobs."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import pulumi
from pydantic import Field, model_validator

from components.base.component import Component
from components.base.security_context import confined
from components.jobs import job_pods, outcome
from components.jobs.batch_job import BatchJobArgs, spec
from components.storage.data_set import LockedData
from core.apis import data_sets, kinds

NAME_LENGTH = 63
"""Of a Job, whose pods have its name as a label."""
MOST_SLICES = 999
"""Pods of one job, as of a layout."""


class SlicedJobArgs(BatchJobArgs):
    """What the jobs of one work have."""

    data_set: LockedData = Field(description="whose list is divided")
    slices: int = Field(gt=0, le=MOST_SLICES, description="pods; slice i has every `slices`-th file from file i on")
    indexed: bool = Field(
        default=True, description="one Indexed Job; else a Job for each slice, with its number as variable (4.4)"
    )

    @model_validator(mode="after")
    def _names_fit(self) -> Self:
        longest = max(slice_jobs(self.job_name, self.slices, indexed=self.indexed), key=len)
        if len(longest) > NAME_LENGTH:
            raise ValueError(f"job_name: {longest} has more than {NAME_LENGTH} characters; shorten {self.job_name}")
        return self


def slice_jobs(job_name: str, slices: int, *, indexed: bool) -> tuple[str, ...]:
    """Return the names of the Jobs that have the slices: of one Indexed Job its own."""
    return (job_name,) if indexed else tuple(f"{job_name}-{index}" for index in range(slices))


def container(args: SlicedJobArgs, command: Sequence[str], limits: Mapping[str, str]) -> dict[str, Any]:
    """Return the container of a slice; what it requests is its limit."""
    variables = {**args.environment, **args.data_set.environment, **args.runtime_environment}
    return job_pods.container(args) | {
        "command": list(command),
        **({"workingDir": args.working_directory} if args.working_directory else {}),
        **job_pods.variables({**variables, data_sets.SLICES: str(args.slices)}),
        "securityContext": confined(**job_pods.ids(args)),
        "resources": {"limits": dict(limits), "requests": dict(limits)},
        "volumeMounts": job_pods.mounts(args),
    }


def of_slices(args: SlicedJobArgs, container: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the `spec` of each Job by its name: of one Indexed Job, or of one Job for each slice."""
    if args.indexed:
        counts = {"completionMode": "Indexed", "completions": args.slices, "parallelism": args.slices}
        return {args.job_name: {**counts, **spec(args, container)}}
    own = ([*container["env"], {"name": data_sets.INDEX, "value": str(index)}] for index in range(args.slices))
    names = slice_jobs(args.job_name, args.slices, indexed=False)
    return {name: spec(args, {**container, "env": env}) for name, env in zip(names, own, strict=True)}


def declare(
    owner: Component,
    name: str,
    args: SlicedJobArgs,
    container: Mapping[str, Any],
    *,
    read_log: outcome.ReadLog,
    after: Sequence[pulumi.Resource | pulumi.Output[Any]],
) -> pulumi.Output[str]:
    """Declare the jobs of all slices as children of `owner`; return `namespace/name` once none has failed."""
    finished = [
        job_pods.declare(
            owner,
            name + job_name.removeprefix(args.job_name),
            args.model_copy(update={"job_name": job_name}),
            kinds.JOB,
            body,
            read_log=read_log,
            after=after,
            queue=args.queue,
        )
        for job_name, body in of_slices(args, container).items()
    ]
    return pulumi.Output.all(*finished).apply(lambda _: f"{args.namespace}/{args.job_name}")
