"""Rounds of a suite as runs that are stored: the repeats of a job are one job, of which criteria judge the median."""

import json
import re
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from core.apis import kinds, suite
from core.apis.kinds import Kind
from core.progress import SILENT
from policies.manifests.values import read
from stacks.settings.tenants import SuiteSettings
from toolkit.cli.shared import identity, metadata, session, stack_checks
from toolkit.cli.shared.cluster_client import Cluster
from toolkit.cli.shared.console import Reporter, print_warning
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.stack import Stack
from toolkit.cli.status.jobs import jobs as jobs_of
from toolkit.cli.verify.expectations import requests
from toolkit.cli.verify.job_logs import collect
from toolkit.cli.verify.stack_jobs import UNDER_WAY, listed
from toolkit.evidence import metrics
from toolkit.evidence.goodput.reading import read_logs
from toolkit.evidence.judge import judge
from toolkit.evidence.model import Reading
from toolkit.evidence.records import Run
from toolkit.evidence.verdict import Ended, Job, Request

_FOLDER = re.compile(r"(?P<tenant>[a-z0-9-]+)_(?P<run>[a-z0-9-]+-(?P<round>\d{10})-(?P<number>\d)(?:-[a-z]+)?)")
"""Of the logs of a run: namespace and name."""


class _Repeat(NamedTuple):
    round: str
    job: str
    name: str
    number: int
    versions: Mapping[str, str]


def ended(stack: Stack, recorded: Container[datetime], *, silent: bool) -> list[Run]:
    """Return the rounds of the cluster that have ended and are not `recorded` by their time, the oldest first.

    Raises Problem for a stack without a suite, for a cluster that cannot be queried, and for another than the stack's.
    """
    suite_settings = _suite(stack)
    stack_checks.require_own_cluster(stack)
    cluster = session.cluster(stack)
    identity.require_unless_forbidden(stack, cluster)
    selector = f"{suite.SUITE}={suite_settings.name}"

    @cache
    def ours(kind: Kind) -> Sequence[Mapping[str, Any]]:
        return cluster.list(kind, suite_settings.tenant, labelSelector=selector)

    mpi_job, trains = stack.settings.version.mpi_job, stack.settings.trainer is not None
    seen = list(jobs_of(ours, lambda kind: listed(cluster, kind), mpi_job, train_jobs=trains))
    some = (mpi_job, kinds.TRAIN_JOB if trains else None, kinds.JOB)
    objects = [obj for kind in some if kind for obj in ours(kind)]
    repeats = [repeat for obj in objects if (repeat := _repeat(obj)) is not None]
    running = {repeat.round for repeat in repeats if _state(repeat, seen) in UNDER_WAY}
    if repeats and _is_active(cluster, stack, suite_settings):
        running.add(max(repeat.round for repeat in repeats))
    fresh = [repeat for repeat in repeats if repeat.round not in running and _time(repeat.round) not in recorded]
    progress = SILENT if silent else Reporter()
    folder = stack.results / "suite"
    with progress.step("reading the logs of the suite") as step:
        asked = _repeat_requests(stack, fresh)
        jobs = collect(cluster, [request for _, request in asked], seen, folder, step)
    return _rounds(stack, [(repeat, job) for (repeat, _), job in zip(asked, jobs, strict=True)])


def of_logs(stack: Stack, folder: Path) -> list[Run]:
    """Return the rounds whose logs are below a folder, as `ended` stores them: `<namespace>_<run>/<pod>.log`."""
    runs = []
    for path in sorted(folder_of_run for folder_of_run in folder.rglob("*_*") if folder_of_run.is_dir()):
        named = _FOLDER.fullmatch(path.name)
        if named is None:
            continue
        job = named["run"].replace(f"-{named['round']}-{named['number']}", "")
        repeat = _Repeat(named["round"], job, named["run"], int(named["number"]), {})
        for _, request in _repeat_requests(stack, [repeat]):
            logs = sorted(path.glob("*.log"))
            whole = [log for log in logs if log.name == "all-pods.log"] or logs
            readings: list[Reading] = [reading for log in whole for reading in metrics.read_log(log, request.metrics)]
            if request.goodput is not None:
                readings.append(read_logs([log for log in logs if log.name != "all-pods.log"], request.goodput))
            runs.append((repeat, Job(request=request, ended=Ended.UNKNOWN, readings=tuple(readings))))
    if not runs:
        raise Problem(
            f"{folder} has no logs of a suite's runs",
            "Name a folder with folders such as adas_nccl-test-02x08-2611270200-1, or a file of rounds.",
        )
    return _rounds(stack, runs)


def _suite(stack: Stack) -> SuiteSettings:
    if stack.settings.suite is None:
        raise Problem(f"stack {stack.name} has no suite", "Add `suite` to its settings (docs/guide/suite.md).")
    return stack.settings.suite


def _repeat(item: Mapping[str, Any]) -> _Repeat | None:
    labels = metadata.labels(item)
    try:
        round_, _, number = labels[suite.RUN].partition("-")
        _time(round_)
        versions = json.loads(metadata.annotations(item).get(suite.VERSIONS, "{}"))
        return _Repeat(round_, labels[suite.JOB], metadata.name(item), int(number), versions)
    except (KeyError, ValueError):
        return None


def _time(round_: str) -> datetime:
    return datetime.strptime(round_, suite.ROUND_FORMAT).replace(tzinfo=UTC)


def _state(repeat: _Repeat, seen: Sequence[Any]) -> str:
    return next((str(job.state) for job in seen if job.name == repeat.name), "")


def _is_active(cluster: Cluster, stack: Stack, suite_settings: SuiteSettings) -> bool:
    """Return whether the runner is at work: its newest round may have runs that it has not created yet."""
    runner = cluster.read(stack.settings.version.cron_job, suite_settings.tenant, suite_settings.name)
    return bool(read(runner or {}, "status", "active"))


def _repeat_requests(stack: Stack, repeats: Sequence[_Repeat]) -> list[tuple[_Repeat, Request]]:
    """Return what is requested of each run: of the stack's job, under its name; of one that is gone nothing."""
    tenant = _suite(stack).tenant
    by_job = {request.job: request for request in requests(stack.settings, stack.locks)}
    for job in dict.fromkeys(repeat.job for repeat in repeats):
        if f"{tenant}/{job}" not in by_job:
            print_warning(f"the suite has runs of {tenant}/{job}, which the stack no longer has: they are left out")
    return [
        (repeat, request.model_copy(update={"job": f"{tenant}/{repeat.name}"}))
        for repeat in sorted(repeats)
        if (request := by_job.get(f"{tenant}/{repeat.job}")) is not None
    ]


def _rounds(stack: Stack, runs: Sequence[tuple[_Repeat, Job]]) -> list[Run]:
    rounds: dict[str, list[tuple[_Repeat, Job]]] = defaultdict(list)
    for repeat, job in runs:
        rounds[repeat.round].append((repeat, job))
    return [_round(stack, name, some) for name, some in sorted(rounds.items())]


def _round(stack: Stack, name: str, runs: Sequence[tuple[_Repeat, Job]]) -> Run:
    by_job: dict[str, list[tuple[_Repeat, Job]]] = defaultdict(list)
    for repeat, job in runs:
        by_job[repeat.job].append((repeat, job))
    numbers = sorted({repeat.number for repeat, _ in runs})
    tenant = _suite(stack).tenant
    jobs = [_merged(f"{tenant}/{job}", some, numbers, simulated=stack.simulated) for job, some in by_job.items()]
    return Run(
        time=_time(name),
        stack=stack.name,
        simulated=stack.simulated or any(reading.simulated for job in jobs for reading in job.readings),
        versions=runs[-1][0].versions,
        jobs=tuple(jobs),
        verdicts=judge(jobs),
    )


def _merged(name: str, repeats: Sequence[tuple[_Repeat, Job]], numbers: Sequence[int], *, simulated: bool) -> Job:
    """Return the repeats of a job as one job: with the readings of all, and failed if any run has, or is missing."""
    runs = {repeat.number: job for repeat, job in repeats}
    (first, *_) = runs.values()
    why = list(_faults(runs, numbers))
    seconds = [job.seconds for job in runs.values() if job.seconds is not None]
    nodes = {job.request.nodes for job in runs.values()}
    how = {job.ended for job in runs.values()}
    return Job(
        # Criteria of nodes are of one placement; repeats may have had others.
        request=first.request.model_copy(update={"job": name, "nodes": nodes.pop() if len(nodes) == 1 else ()}),
        ended=how.pop() if len(how) == 1 and len(runs) == len(numbers) else Ended.FAILED,
        why="; ".join(why) or None,
        # A simulated job takes a second or two; only its log has how long it would have taken.
        seconds=median(seconds) if seconds and not simulated else None,
        readings=tuple(reading for job in runs.values() for reading in job.readings),
        versions=first.versions,
    )


def _faults(runs: Mapping[int, Job], numbers: Sequence[int]) -> Iterator[str]:
    for number in numbers:
        if number not in runs:
            yield f"repeat {number} is missing: it could not be created, or came too late"
        elif runs[number].ended not in (Ended.SUCCEEDED, Ended.UNKNOWN):
            yield f"repeat {number} {runs[number].ended}{f': {why}' if (why := runs[number].why) else ''}"
