"""The jobs of a stack: what its cluster holds of them, and where the result is kept."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from cli import results, session
from cli.commands.status import look
from cli.console import Reporter
from cli.errors import Problem
from cli.proving import nodes
from cli.proving.asked import asked
from cli.proving.collect import collect
from cli.proving.versions import versions
from cli.stack import Stack
from evidence.records import Run, append
from evidence.verdict import Asked, Job, Verdict
from simulator.progress import SILENT


def gather(stack: Stack, only: Sequence[str] | None = None, *, silent: bool = False) -> list[Job]:
    """Return the jobs of a stack with what their logs hold, and the nodes; `only` some, and then without the nodes.

    Raises Problem for a job that the stack does not have, and where the cluster cannot be asked.
    """
    wanted = chosen(asked(stack.settings), only, stack)
    cluster = session.cluster(stack)
    seen = look(stack).jobs
    progress = SILENT if silent else Reporter()
    with progress.step("reading the logs of the jobs") as step:
        jobs = collect(cluster, wanted, seen, results.logs(stack), step)
    return jobs if only else [nodes.look(cluster, stack.settings), *jobs]


def chosen(wanted: Sequence[Asked], only: Sequence[str] | None, stack: Stack) -> list[Asked]:
    """Return the jobs that were named, by name or tenant/name; all of them where none was."""
    found = [one for one in wanted if not only or {one.job, one.job.partition("/")[2]} & {*only}]
    for name in only or ():
        if not any(name in (one.job, one.job.partition("/")[2]) for one in found):
            known = ", ".join(one.job.partition("/")[2] for one in wanted) or "none"
            raise Problem(f"stack {stack.name} has no job {name}", f"Its jobs: {known}.")
    return found


def keep(stack: Stack, jobs: Sequence[Job], verdicts: Sequence[Verdict]) -> tuple[Path, int]:
    """Add a result to those of the stack; return their file, and its number in it."""
    file = results.file(stack)
    run = Run(
        time=datetime.now(UTC),
        stack=stack.name,
        simulated=stack.simulated or any(reading.simulated for job in jobs for reading in job.readings),
        versions=versions(stack.settings, jobs),
        jobs=tuple(jobs),
        verdicts=tuple(verdicts),
    )
    return file, append(file, run)
