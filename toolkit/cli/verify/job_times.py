"""Times of a job that Kubernetes and Kueue have: when it waited, when its containers started and ended. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from policies.manifests.values import read as value
from toolkit.evidence.goodput.events import Event, Events, Kind

Object = Mapping[str, Any]


def events(job: str, pods: Iterable[Object], workloads: Iterable[Object]) -> Events:
    """Return the events of a job; `pods` are those of all its attempts, `workloads` all of Kueue's in its namespace."""
    own = [item for item in workloads if any(owner.get("name") == job for owner in _owners(item))]
    rows = [
        *(event for pod in pods for event in _of_pod(pod)),
        *(event for item in own for event in _of_workload(item)),
    ]
    ends = [event.time for event in rows if event.kind is Kind.FAULT]
    for event in tuple(rows):
        # Kueue forgets an eviction with the next admission: the containers had ended before it.
        if event.kind is Kind.ADMITTED and (before := [time for time in ends if time < event.time]):
            rows.append(Event(max(before), Kind.EVICTED))
    return Events(sorted(rows))


def _owners(item: Object) -> Iterable[Object]:
    return value(item, "metadata", "ownerReferences") or ()


def _of_pod(pod: Object) -> Iterator[Event]:
    status = value(pod, "status", "containerStatuses", 0) or {}
    for state in (value(status, "state"), value(status, "lastState")):
        running, ended = value(state or {}, "running") or {}, value(state or {}, "terminated") or {}
        if started := running.get("startedAt") or ended.get("startedAt"):
            yield Event(_seconds(started), Kind.START)
        if ended.get("finishedAt") and ended.get("exitCode"):
            # Whole seconds, cut off: its last lines may be later.
            yield Event(_seconds(ended["finishedAt"]) + 1, Kind.FAULT)
    for condition in _met(pod, "DisruptionTarget"):
        yield Event(_seconds(condition["lastTransitionTime"]) + 1, Kind.FAULT)


def _of_workload(workload: Object) -> Iterator[Event]:
    if created := value(workload, "metadata", "creationTimestamp"):
        yield Event(_seconds(created), Kind.SUBMITTED)
    for condition in _met(workload, "Admitted"):
        yield Event(_seconds(condition["lastTransitionTime"]), Kind.ADMITTED)
    for condition in _met(workload, "Evicted"):
        yield Event(_seconds(condition["lastTransitionTime"]), Kind.EVICTED)


def _met(item: Object, kind: str) -> Iterator[Object]:
    """Yield the condition of a kind if it is met, and has its time."""
    for condition in value(item, "status", "conditions") or ():
        if condition.get("type") == kind and condition.get("status") == "True" and condition.get("lastTransitionTime"):
            yield condition


def _seconds(time: str) -> float:
    return datetime.fromisoformat(time).timestamp()
