"""Jobs: where they ran, how long, and why their pods do not come."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from core.apis import kinds, trainer
from core.apis.kinds import Kind
from policies.manifests.values import entries, read
from toolkit.cli.status.platform_parts import PENDING, List, Object
from toolkit.engine.prediction.blocking_events import cause, concerns, key, latest

FAILED = "Failed"
_ENDS = ("Succeeded", "Complete")
_QUEUED = "Suspended"
_OWNED = (kinds.STATEFUL_SET, kinds.JOB_SET, kinds.JOB, kinds.POD)
_HINDRANCES = 2  # of a job, the latest
_SECONDS = len("2026-01-01T00:00:00")  # what follows differs between events and objects


@dataclass(frozen=True)
class Job:
    """One MPIJob, TrainJob or batch Job; `hindrances`: why its pods do not come, as Kueue and Warning events say."""

    kind: str
    namespace: str
    name: str
    state: str
    nodes: tuple[str, ...]
    seconds: float | None
    hindrances: tuple[str, ...] = ()
    placed: Mapping[str, str] = field(default_factory=dict)
    """Pod -> node, of those pods of which events still have it; not of an MPIJob's launcher."""


def jobs(ours: List, everything: List, mpi_job: Kind | None, *, train_jobs: bool = True) -> Iterable[Job]:
    """Return the jobs in the order in which they were created; `mpi_job` is None where there is no MPI operator.

    An account may have no right to list TrainJobs where nothing makes some: they are not listed without `train_jobs`.
    """
    events = everything(kinds.EVENT)
    # In the order of time: of a pod that was made again under its name the last place counts.
    placed = sorted(_placements(events), key=lambda placement: placement[-1])
    warnings = sorted((event for event in events if event.get("type") == "Warning"), key=latest)
    owned = {item["metadata"].get("uid"): item for kind in _OWNED if warnings for item in everything(kind)}
    workloads = everything(kinds.WORKLOAD)
    job_kinds = (mpi_job, kinds.TRAIN_JOB if train_jobs else None, kinds.JOB)
    items = [(kind.kind, item) for kind in job_kinds if kind for item in ours(kind)]
    for kind, item in sorted(items, key=lambda pair: str(read(pair[1], "metadata", "creationTimestamp"))):
        if read(item, "metadata", "ownerReferences"):
            continue
        namespace, name = item["metadata"]["namespace"], item["metadata"]["name"]
        since = str(read(item, "metadata", "creationTimestamp") or "")[:_SECONDS]
        mine = {
            pod: node
            for inside, pod, node, when in placed
            if inside == namespace and when >= since and _belongs(pod, name, kind)
        }
        state = job_state(item)
        ended = state in (FAILED, "Succeeded")
        why = () if ended else (*_queued(item, workloads), *_hindrances(item, warnings, owned))
        yield Job(kind, namespace, name, state, tuple(sorted({*mine.values()})), _duration(item), why, mine)


def job_state(item: Object) -> str:
    """Return one word for a job's state, from its conditions."""
    met = [entry["type"] for entry in read(item, "status", "conditions") or () if entry.get("status") == "True"]
    for word in (FAILED, *_ENDS, _QUEUED, "Running", "Created"):
        if word in met:
            return "Succeeded" if word in _ENDS else word
    active = read(item, "status", "active") or any(read(job, "active") for job in entries(item, "status", "jobsStatus"))
    return "Running" if active else PENDING


def _hindrances(item: Object, warnings: Iterable[Object], owned: Mapping[str, Object]) -> tuple[str, ...]:
    uid = str(read(item, "metadata", "uid"))
    met = [event for event in warnings if concerns(event, uid, lambda reference: owned.get(reference.get("uid", "")))]
    return tuple({key(event): cause(event) for event in met}.values())[-_HINDRANCES:]


def _queued(item: Object, workloads: Iterable[Object]) -> Iterable[str]:
    """Yield why Kueue does not let a job start, and why it took one back that had started, in its own words."""
    uid = str(read(item, "metadata", "uid"))
    for workload in workloads:
        if not any(owner.get("uid") == uid for owner in read(workload, "metadata", "ownerReferences") or ()):
            continue
        met = {(entry["type"], entry["status"]): entry for entry in read(workload, "status", "conditions") or ()}
        if ("QuotaReserved", "True") in met:
            continue
        messages = (met.get(key, {}).get("message") for key in (("Evicted", "True"), ("QuotaReserved", "False")))
        yield from (f"Kueue: {text}" for text in dict.fromkeys(messages) if text)


def _placements(events: Iterable[Object]) -> Iterable[tuple[str, str, str, str]]:
    """Where and when pods were put: the operator removes the workers of a job that has ended; only events remain.

    A job that runs again has pods of the same names, so that the time distinguishes the runs.
    """
    for event in events:
        if event.get("reason") == "Scheduled" and read(event, "involvedObject", "kind") == "Pod":
            node = str(event.get("message", "")).rsplit(" to ", 1)[-1]
            where = event["involvedObject"]
            yield where.get("namespace", ""), where.get("name", ""), node, latest(event)[:_SECONDS] or "now"


def _belongs(pod: str, job: str, kind: str) -> bool:
    """Whether a pod is one of the job's, by name.

    `<job>-worker-3` of an MPIJob (not its launcher), `<job>-node-0-3-x7k2p` of a TrainJob, `<job>-x7k2p`, of an Indexed
    Job `<job>-0-x7k2p`.
    """
    if kind == kinds.TRAIN_JOB.kind:
        return trainer.is_of(pod, job)
    head, _, tail = pod.removeprefix(f"{job}-").rpartition("-")
    if not pod.startswith(f"{job}-"):
        return False
    return head == "worker" and tail.isdigit() if kind == "MPIJob" else not head or head.isdigit()


def _duration(item: Object) -> float | None:
    begin, end = (read(item, "status", key) for key in ("startTime", "completionTime"))
    if not begin or not end:
        return None
    return (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds()
