"""Times of a job that Kubernetes and Kueue have."""

from typing import Any

from toolkit.cli.verify.job_times import events
from toolkit.evidence.goodput.account import account
from toolkit.evidence.goodput.causes import Cause
from toolkit.evidence.goodput.events import Event, Events, Kind, merged


def _at(second: int) -> str:
    return f"2026-03-01T10:{second // 60:02d}:{second % 60:02d}Z"


def _pod(started: int, ended: int | None = None, code: int = 0) -> dict[str, Any]:
    state: dict[str, Any] = {"running": {"startedAt": _at(started)}}
    if ended is not None:
        state = {"terminated": {"startedAt": _at(started), "finishedAt": _at(ended), "exitCode": code}}
    return {"status": {"containerStatuses": [{"state": state}]}}


def _workload(job: str, created: int, **met: int) -> dict[str, Any]:
    conditions = [{"type": name, "status": "True", "lastTransitionTime": _at(second)} for name, second in met.items()]
    return {
        "metadata": {"ownerReferences": [{"name": job}], "creationTimestamp": _at(created)},
        "status": {"conditions": conditions},
    }


def _found(found: Events) -> list[tuple[str, float]]:
    begin = found.times[0]
    return [(Kind(kind).name, time - begin) for time, kind, _ in found]


def test_the_wait_in_the_queue_is_kueues() -> None:
    """A workload waits from its creation to its admission; those of other jobs count not."""
    found = events("train", [_pod(65)], [_workload("train", 0, Admitted=60), _workload("other", 5, Admitted=6)])
    assert _found(found) == [("SUBMITTED", 0), ("ADMITTED", 60), ("START", 65)]


def test_an_eviction_is_between_the_end_of_an_attempt_and_the_next_admission() -> None:
    """Kueue forgets an eviction with the next admission, and the earlier attempt's container shows when it was."""
    pods = [_pod(10, 100, 143), _pod(405)]
    found = events("train", pods, [_workload("train", 0, Admitted=400)])
    assert _found(found) == [
        ("SUBMITTED", 0), ("START", 10), ("EVICTED", 101), ("FAULT", 101), ("ADMITTED", 400), ("START", 405)
    ]  # fmt: skip
    steps = [Event(found.times[0] + 10 + second, Kind.STEP, second) for second in range(1, 91)]
    steps += [Event(found.times[0] + 420 + second, Kind.STEP, 50 + second) for second in range(1, 100)]
    whole = account(merged([found, Events(steps)]))
    assert whole.seconds[Cause.QUEUE] == 10 + 299
    assert [(stop.noticed_s, stop.lost) for stop in whole.interruptions] == [(1, 40)]


def test_a_container_that_ended_well_is_no_failure() -> None:
    """Its exit code is 0."""
    assert _found(events("train", [_pod(0, 90)], [])) == [("START", 0)]
