"""What the loss of a node costs a job: when it is noticed, when the job goes on at the earliest, what is lost at most.

Times of Kubernetes 1.32 to 1.35 (pkg/controller/nodelifecycle/config/v1alpha1/defaults.go, admission plugin
DefaultTolerationSeconds) and of Open MPI 5.0.11 (`prte_info --param oob tcp --level 9`: a connection that is silent for
300 s is probed nine times, every 20 s).
"""

from dataclasses import dataclass

from stacks.resolved.jobs import ProgramJob
from stacks.settings.workloads import MpiWorkload

SILENT = 50
"""Seconds until a node that is silent counts as not ready, and gets the taint by which its pods are deleted."""
USUAL_TOLERATION = 300
"""Seconds that admission lets a pod stay there where it has no tolerations of its own."""
MPIRUN = 480
"""Seconds after which mpirun ends because a worker is silent."""
WATCHDOG = 660
"""Seconds after which PyTorch's ranks end because another is silent: the default timeout of a process group, and 60 s
for dumps of the flight recorder (60.5 s with PyTorch 2.11 on two GPUs, tests/toolkit/evidence/lost_ranks)."""
STARTS = 60
"""Seconds from a pod's creation to the first step, on a node that has the image; an assumption."""


@dataclass(frozen=True)
class NodeLoss:
    """What becomes of a job when one of its nodes is silent; times in seconds after its last sign."""

    deleted: int
    """When its pods there are deleted."""
    noticed: int | None
    """When the rest of the job hears of it, at the latest; None: not before the node is back, removed or fenced."""
    again: int | None
    """When it goes on at the earliest; None: not by itself."""
    after: str
    """What it goes on with, or must happen before."""
    lost: str
    """What is lost at most, beside the time until it goes on."""


def of_job(job: ProgramJob, *, freed: int | None = None) -> NodeLoss:
    """Return what the loss of a node costs; `freed`: seconds until its pods are gone for good, None: nobody frees it.

    A pod stays Terminating on a dead node, and keeps its name and its Job's end, until the node is back, removed, or
    fenced and tainted out-of-service.
    """
    own = job.resilience
    deleted = SILENT + (USUAL_TOLERATION if own.lost_after is None else own.lost_after)
    noticed = _noticed(job, deleted, freed)
    lost = "steps since its last checkpoint" if job.program.checkpoint else "all of its steps"
    if not own.limit:
        return NodeLoss(deleted, noticed, None, "fails, as nothing restarts it; raise `run`", lost)
    if own.restart == "ranks" and not isinstance(job.workload, MpiWorkload):
        return NodeLoss(deleted, noticed, None, "fails, as its ranks need all its pods; raise `run`", lost)
    if own.restart == "pods" and own.count_disruptions:
        return NodeLoss(deleted, noticed, deleted + STARTS, "a pod on another node", lost)
    what = {"all": "all pods again", "ranks": "a new launcher", "pods": "a pod on another node"}[own.restart]
    if freed is None:
        return NodeLoss(deleted, noticed, None, f"{what}, once the node is back, removed or fenced", lost)
    return NodeLoss(deleted, noticed, max(noticed or 0, freed) + STARTS, f"{what}, once the node is fenced", lost)


def _noticed(job: ProgramJob, deleted: int, freed: int | None) -> int | None:
    """Return when the rest of a job hears of a lost pod: when it is deleted, unless it counts only when it has ended.

    Of an MPIJob mpirun alone decides.
    """
    own = job.resilience
    if isinstance(job.workload, MpiWorkload):
        return MPIRUN
    if own.count_disruptions or not own.limit or own.restart == "ranks":
        return deleted
    by_ranks = WATCHDOG if job.layout.pods > 1 else None
    return min((time for time in (by_ranks, freed) if time is not None), default=None)
