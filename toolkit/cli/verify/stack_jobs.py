"""The jobs of a stack: what its cluster has of them, and where the result is stored."""

import time
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from core.apis.kinds import Kind
from core.progress import SILENT, Progress
from stacks.resolved.versions import requested
from stacks.settings.platform import Settings
from toolkit.cli.shared import identity, session, stack_checks
from toolkit.cli.shared.cluster_client import Cluster, RefusedError
from toolkit.cli.shared.console import Reporter
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.stack import Stack
from toolkit.cli.status.jobs import Job as Seen
from toolkit.cli.status.jobs import jobs as jobs_of
from toolkit.cli.status.overview import OURS
from toolkit.cli.status.platform_parts import PENDING
from toolkit.cli.verify import nodes
from toolkit.cli.verify.expectations import requests
from toolkit.cli.verify.job_logs import collect
from toolkit.evidence.model import NodeFact, NodeFacts
from toolkit.evidence.records import FILE, Run, append
from toolkit.evidence.tools.nvidia_smi.model import NvidiaSmi
from toolkit.evidence.verdict import Job, Request, Verdict

SIMULATED_WAIT = 30.0
"""Seconds to wait by default for jobs of a simulated cluster that still run: they take about one each."""
_SIMULATED_EVERY, _EVERY = 1.0, 5.0
"""Seconds between two queries of jobs that are waited for."""
UNDER_WAY = frozenset({"Created", "Running", "Suspended", PENDING})
"""States of jobs that have not ended."""


def gather(
    stack: Stack, only: Sequence[str] | None = None, *, wait: float | None = None, silent: bool = False
) -> list[Job]:
    """Return the jobs of a stack with their logs, read, and the nodes; `only` some, and then without the nodes.

    `wait` is for how many seconds jobs that are under way are waited for; None: not at all, on a simulated cluster
    for a short time. Raises Problem for a job that the stack does not have, where the cluster cannot be queried, and
    for another cluster than the stack's: nothing of it is judged.
    """
    selected = chosen(requests(stack.settings, stack.locks), only, stack)
    stack_checks.require_own_cluster(stack)
    cluster = session.cluster(stack)
    identity.require_unless_forbidden(stack, cluster)
    progress = SILENT if silent else Reporter()
    seen = _ended(cluster, stack, {request.job for request in selected}, wait, progress)
    with progress.step("reading the logs of the jobs") as step:
        jobs = collect(cluster, selected, seen, stack.results / "logs", step)
    if stack.simulated:
        # There a job takes a second or two; only its log has how long it would have taken.
        jobs = [job.model_copy(update={"seconds": None}) for job in jobs]
    return jobs if only else [*nodes.look(cluster, stack.settings), *jobs]


def _ended(
    cluster: Cluster, stack: Stack, names: Container[str], wait: float | None, progress: Progress
) -> Sequence[Seen]:
    """Return the jobs of the cluster, when those that are wanted have ended or the time is over."""
    until = time.monotonic() + ((SIMULATED_WAIT if stack.simulated else 0) if wait is None else wait)
    if time.monotonic() < until and (late := _late(_states(cluster, stack), names)):
        with progress.step("waiting for jobs that are under way") as step:
            while late and (left := until - time.monotonic()) > 0:
                step.update(what=", ".join(late))
                time.sleep(min(left, _SIMULATED_EVERY if stack.simulated else _EVERY))
                late = _late(_states(cluster, stack), names)
    return _look(cluster, stack, partial(listed, cluster))


def _states(cluster: Cluster, stack: Stack) -> Sequence[Seen]:
    """Return the jobs with their states alone, which takes a request for each kind, whatever else the cluster has."""
    return _look(cluster, stack, lambda _: ())


def _look(cluster: Cluster, stack: Stack, others: Callable[[Kind], Sequence[Mapping[str, Any]]]) -> Sequence[Seen]:
    settings, ours = stack.settings, partial(cluster.list, labelSelector=OURS)
    return tuple(jobs_of(ours, others, settings.version.mpi_job, train_jobs=settings.trainer is not None))


def listed(cluster: Cluster, kind: Kind) -> Sequence[Mapping[str, Any]]:
    """Return the objects of a kind that only adds to what is known of jobs, such as events; none where refused."""
    try:
        return cluster.list(kind)
    except RefusedError:
        return ()


def _late(seen: Sequence[Seen], names: Container[str]) -> list[str]:
    named = {f"{job.namespace}/{job.name}": job for job in seen}
    return [name for name, job in named.items() if name in names and job.state in UNDER_WAY]


def chosen(candidates: Sequence[Request], only: Sequence[str] | None, stack: Stack) -> list[Request]:
    """Return the jobs that were named, by name or tenant/name; all of them where none was."""
    selected = [request for request in candidates if not only or {request.job, request.job.partition("/")[2]} & {*only}]
    for name in only or ():
        if not any(name in (request.job, request.job.partition("/")[2]) for request in selected):
            choices = ", ".join(request.job.partition("/")[2] for request in candidates) or "none"
            raise Problem(f"stack {stack.name} has no job {name}", f"Its jobs: {choices}.")
    return selected


def store(stack: Stack, jobs: Sequence[Job], verdicts: Sequence[Verdict]) -> tuple[Path, int]:
    """Add a result to those of the stack; return their file, and its number in it."""
    file = stack.results / FILE
    run = Run(
        time=datetime.now(UTC),
        stack=stack.name,
        simulated=stack.simulated or any(reading.simulated for job in jobs for reading in job.readings),
        versions=versions(stack.settings, jobs),
        jobs=tuple(jobs),
        verdicts=tuple(verdicts),
    )
    return file, append(file, run)


def versions(settings: Settings, jobs: Sequence[Job]) -> Mapping[str, str]:
    """Return part of the stack -> version; what nodes report counts before what is requested."""
    rows = [row for job in jobs for reading in job.readings if isinstance(reading, NodeFacts) for row in reading.nodes]
    reported = {
        "GPU driver": _distinct_values(rows, "driver"),
        "kernel": _distinct_values(rows, "kernel"),
        "system": _distinct_values(rows, "os_image"),
        "kubelet": _distinct_values(rows, "kubelet"),
    }
    readings = [reading for job in jobs for reading in job.readings]
    printed = {
        "CUDA of the driver": {reading.cuda for reading in readings if isinstance(reading, NvidiaSmi)},
        "NCCL": {reading.nccl.version for reading in readings if reading.nccl},
        "images": {job.versions.get("image") for job in jobs},
    }
    reported |= {part: ", ".join(sorted(filter(None, values))) for part, values in printed.items()}
    return {**requested(settings), **{part: version for part, version in reported.items() if version}}


def _distinct_values(rows: Iterable[NodeFact], field: str) -> str:
    """Return what nodes have, several where they differ."""
    return ", ".join(sorted({str(value) for row in rows if (value := getattr(row, field))}))
