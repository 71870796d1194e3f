"""Inference over a data set, fanned out to pods that have a slice each, and collected by a reducer."""

from collections.abc import Sequence
from typing import Any, Self

import pulumi
from pydantic import Field, model_validator

from components.base.component import Component
from components.base.model import MigSize
from components.jobs import batch_job, job_pods, outcome, sliced_jobs
from components.jobs.job_args import Folder
from components.jobs.job_volumes import SHARED_MEMORY
from components.jobs.sliced_jobs import NAME_LENGTH, SlicedJobArgs, container
from components.storage.data_set import proved_first
from core.apis import data_sets, kinds

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
    limits = {"cpu": str(args.cpus), "memory": args.memory, **batch_job.gpus(args.gpus, args.instance)}
    made = container(args, proved_first(args.command, args.data_set.command("slice", *more)), limits)
    return {**made, "env": [*made["env"], {"name": data_sets.SLICE_LIST, "value": _SLICE_LIST}]}


def reducer(args: IndexedJobArgs) -> dict[str, Any]:
    """Return the container of the reducer: it proves that the slices were disjoint and complete, and collects."""
    proof = args.data_set.command("reduce", "--slices", str(args.slices), "--results", args.results)
    limits = {"cpu": str(args.reducer_cpus), "memory": args.reducer_memory}
    return container(args, proved_first(args.reducer, proof), limits)


class IndexedJob(Component):
    """The jobs of all slices, and the reducer's after them.

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
        mapped = sliced_jobs.declare(self, name, whole, slices(args), read_log=read_log, after=after)
        self.outputs(
            finished=job_pods.declare(
                self,
                f"{name}{REDUCER}",
                args.model_copy(update={"job_name": args.reducer_name}),
                kinds.JOB,
                batch_job.spec(args, reducer(args)),
                read_log=read_log,
                after=[mapped],
                queue=None,
            )
        )
