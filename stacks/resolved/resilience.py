"""What a job does about the loss of a rank, a pod or a node: its choices, and what they are where it makes none."""

from components.jobs.layout import Layout
from components.jobs.resilience import Resilience, ResilienceChoices, Restart
from stacks.programs import Program
from stacks.settings.workloads import MpiWorkload, SpanningWorkload, Started, TorchWorkload

OF_SEVERAL_PODS = 30
"""Seconds that a node of a job of several pods may be missed, after the 50 s until the cluster notices: all its other
GPUs wait meanwhile. A kubelet that restarts is back before that."""
WITH_CHECKPOINT = 3
"""Restarts of a program that resumes: as many as a failure that is not its own is likely to need."""


def restarts(workload: Started, layout: Layout, *, trainer: bool) -> tuple[Restart, ...]:
    """Return what a workload's kind of job can restart, its default first; `trainer`: it is a TrainJob."""
    if isinstance(workload, MpiWorkload):
        return ("ranks",)
    if isinstance(workload, TorchWorkload):
        if trainer:
            return ("all", "ranks")
        return ("pods", "ranks") if layout.pods == 1 else ("ranks",)
    return ("pods",)


def resolved(
    choices: ResilienceChoices, workload: Started, program: Program, layout: Layout, *, trainer: bool
) -> Resilience:
    """Return what a job does; what its kind cannot do is refused by `checks.resilience`."""
    restart = choices.restart or restarts(workload, layout, trainer=trainer)[0]
    limit = WITH_CHECKPOINT if program.checkpoint and program.trains else 0
    spans = isinstance(workload, SpanningWorkload) and layout.pods > 1
    return Resilience(
        restart=restart,
        limit=limit if choices.limit is None else choices.limit,
        count_disruptions=restart != "all" if choices.count_disruptions is None else choices.count_disruptions,
        lost_after=OF_SEVERAL_PODS if choices.lost_after is None and spans else choices.lost_after,
    )
