"""`./hpc plan`: where the jobs of a stack fit, and what the loss of a node costs each, without a cluster."""

from itertools import groupby

from stacks.resolved import jobs, node_health, node_loss
from stacks.resolved.jobs import ProgramJob
from stacks.settings.platform import Settings
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.console import print_text, show_rows
from toolkit.cli.shared.options import DEFAULT_STACK, StackOption
from toolkit.cli.shared.preflight import update_checks

_COLUMNS = ("job", "restarts", "pods deleted", "noticed", "goes on", "with", "lost at most")
_ASSUMED = (
    f"Seconds after the node's last sign: the cluster waits {node_loss.SILENT} s, then `resilience.lost_after`; mpirun "
    f"ends after {node_loss.MPIRUN} s, and PyTorch's ranks after {node_loss.WATCHDOG} s; from new pods to the first "
    f"step {node_loss.STARTS} s, on nodes that have the image and room. Ranks notice earlier where connections break, "
    "and GPUs of all its nodes idle meanwhile."
)


def command(stack: StackOption = DEFAULT_STACK) -> None:
    """Show where jobs fit, and what a lost node costs.

    Times are those of the settings and of Kubernetes: when the loss of a node is noticed, when the job goes on at the
    earliest, and what it has lost then at most.
    """
    settings = stacks.read(stack).settings
    update_checks.show_placements(settings)
    show_losses(settings)


def show_losses(settings: Settings) -> None:
    """Print for each job of each stage what the loss of a node costs it."""
    freed = node_health.freed_after(settings)
    started = [
        (stage.name, job)
        for stage, of_stage in jobs.by_stage(settings)
        for job in of_stage
        if isinstance(job, ProgramJob)
    ]
    for stage, rows in groupby(started, key=lambda row: row[0]):
        show_rows(f"Loss of a node, stage {stage}", _COLUMNS, (_row(job, freed) for _, job in rows))
    if started:
        print_text(_ASSUMED)
    if started and freed is not None:
        print_text(f"By `node_health` the pods of a lost node are gone after {freed} s, and it may be back.")


def _row(job: ProgramJob, freed: int | None) -> tuple[str, ...]:
    loss, own = node_loss.of_job(job, freed=freed), job.resilience
    restarts = f"{own.limit} x {own.restart}" if own.limit else "none"
    times = (_seconds(time) for time in (loss.deleted, loss.noticed, loss.again))
    return (job.id, restarts, *times, loss.after, loss.lost)


def _seconds(time: int | None) -> str:
    return "-" if time is None else f"{time} s"
