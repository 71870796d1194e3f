"""Pods that each have a slice of one work: an Indexed Job, or as many Jobs where the release has no Indexed Jobs."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import pulumi
from pydantic import Field, model_validator

from components.base.component import Component
from components.base.model import MigSize
from components.base.security_context import confined
from components.jobs import batch_job, job_pods, outcome
from components.jobs.batch_job import BatchJobArgs, spec
from components.jobs.job_args import Folder
from components.jobs.job_volumes import SHARED_MEMORY
from components.storage.data_set import LockedData, proved_first
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


REDUCER = "-reduce"
"""Ends the name of the reducer's Job."""
_SLICE_LIST = f"{SHARED_MEMORY}/hpc-slice.list"


class IndexedJobArgs(SlicedJobArgs):
    """One map-reduce job."""

    command: tuple[str, ...] = Field(min_length=1, description="the program, which reads the list of its slice")
    gpus: int = Field(gt=0, le=16, description="GPUs of each pod")
    instance: MigSize | None = Field(
        default=None, description="size of the MIG instance that each pod has in place of whole GPUs"
    )
    results: Folder = Field(description="mounted folder that all pods share: results, and the lines that prove slices")
    reducer: tuple[str, ...] = Field(
        default=(), description="program that collects the results, after the slices are proved; empty: only the proof"
    )
    reducer_cpus: int = Field(default=1, gt=0, description="limit of the reducer's pod, which has no GPU; a choice")
    reducer_memory: str = Field(default="2Gi", description="limit of the reducer's pod; a choice")

    @property
    def reducer_name(self) -> str:
        """Name of the reducer's Job."""
        return f"{self.job_name}{REDUCER}"

    @model_validator(mode="after")
    def _reducer_has_a_name(self) -> Self:
        if len(self.reducer_name) > NAME_LENGTH:
            raise ValueError(f"job_name: {self.reducer_name} has more than {NAME_LENGTH} characters; shorten it")
        return self


def slices(args: IndexedJobArgs) -> dict[str, Any]:
    """Return the container of a slice: it proves the set and its slice before the program starts."""
    more = ("--slices", str(args.slices), "--slice-list", _SLICE_LIST, "--results", args.results)
    gpus = {} if args.gpu_claim else batch_job.gpus(args.gpus, args.instance)
    limits = {"cpu": str(args.cpus), "memory": args.memory, **gpus}
    made = container(args, proved_first(args.command, args.data_set.command("slice", *more)), limits)
    return {
        **made,
        "env": [*made["env"], {"name": data_sets.SLICE_LIST, "value": _SLICE_LIST}],
        "resources": {**made["resources"], **job_pods.claimed(args)},
    }


def reducer(args: IndexedJobArgs) -> dict[str, Any]:
    """Return the container of the reducer: it proves that the slices were disjoint and complete, and collects."""
    proof = args.data_set.command("reduce", "--slices", str(args.slices), "--results", args.results)
    limits = {"cpu": str(args.reducer_cpus), "memory": args.reducer_memory}
    return container(args, proved_first(args.reducer, proof), limits)


class IndexedJob(Component):
    """Inference over a data set, fanned out to pods that have a slice each, and collected by a reducer.

    The jobs of all slices, and the reducer's after them.

    An update waits for all slices before it creates the reducer. Outputs: `finished`, the reducer's name, which raises
    when a job has failed.
    """

    finished: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        args: IndexedJobArgs,
        read_log: outcome.ReadLog,
        after: Sequence[pulumi.Output[Any]] = (),
        *,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("workloads:IndexedJob", name, args, opts)
        whole = args.model_copy(update={"wait": outcome.Wait.FINISHED})
        mapped = declare(self, name, whole, slices(args), read_log=read_log, after=after)
        without_gpus = args.model_copy(update={"job_name": args.reducer_name, "gpu_claim": None})
        self.outputs(
            finished=job_pods.declare(
                self,
                f"{name}{REDUCER}",
                without_gpus,
                kinds.JOB,
                batch_job.spec(without_gpus, reducer(args)),
                read_log=read_log,
                after=[mapped],
                queue=None,
            )
        )


SHOWN_DIGITS = 10
"""Of the digest, in the job's name."""


class StagedDataArgs(SlicedJobArgs):
    """One staging."""

    content: bool = Field(default=False, description="print the SHA-256 of all contents; twice the CPU time")


def job_name(data_set: str, digest: str) -> str:
    """Return the name of the job that stages a lock."""
    return f"stage-{data_set}-{digest[:SHOWN_DIGITS]}"


class StagedData(Component):
    """A data set that is brought near: small pods read every file of it whole, so that any cache then has them.

    The name of the job carries the digest of the set's list: another lock is another job, and the same lock is none.

    The jobs of one staging, without GPUs. Outputs: `finished`, the job's name, which raises when it has failed.
    """

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
        self.outputs(finished=declare(self, name, args, body, read_log=read_log, after=after))
