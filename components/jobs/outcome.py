"""From a job's status to its verdict, and from the verdict to what may come next.

Waiting for success alone would end only at its timeout when a job fails. So the provider waits for either end, and
what comes after waits for `gate`, which raises when it was the wrong one.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

import pulumi

from components.base import waits
from core.apis import kinds
from core.apis.kinds import Kind


class Wait(StrEnum):
    """How far an update follows a workload."""

    FINISHED = "finished"
    STARTED = "started"
    CREATED = "created"


class JobFailedError(pulumi.RunError):
    """A job that others wait for has failed."""


ReadLog = Callable[[str, str], str]
"""Given a namespace and a job's name, why its pods failed, or an empty text."""

FAILURE = "Failed"
"""Condition of a job of any kind that has failed."""


def job_annotations(kind: Kind, wait: Wait, *, timeout: int) -> dict[str, str]:
    """Return the annotations that make the provider follow a job of `kind` as far as `wait` defines."""
    if wait is Wait.CREATED:
        return {}
    batch = kind in (kinds.JOB, kinds.TRAIN_JOB)
    if kind is kinds.JOB and wait is Wait.STARTED:
        return waits.wait_for([waits.exists(".status.startTime")], timeout=timeout)
    if kind is kinds.TRAIN_JOB and wait is Wait.STARTED:
        # It has no condition of a job that runs; one that has ended has started, too.
        some = "@.active > 0 || @.succeeded > 0 || @.failed > 0"
        return waits.wait_for([waits.exists(f".status.jobsStatus[?({some})].name")], timeout=timeout)
    ended = ("Complete", FAILURE) if batch else ("Succeeded", FAILURE)
    running = () if wait is Wait.FINISHED else ("Running",)
    return waits.wait_for([waits.any_condition(*running, *ended)], timeout=timeout)


def failure(status: Mapping[str, Any] | None) -> str | None:
    """Return the message of the Failed condition, or None for a job that has not failed."""
    for condition in (status or {}).get("conditions") or ():
        if condition.get("type") == FAILURE and condition.get("status") == "True":
            return str(condition.get("message") or condition.get("reason") or FAILURE)
    return None


def gate(namespace: str, name: str, status: pulumi.Output[Any], read_log: ReadLog) -> pulumi.Output[str]:
    """Return `namespace/name` once `status` shows no failure; raise JobFailedError, outside previews, if it does."""

    def check(job_status: Mapping[str, Any] | None) -> str:
        message = failure(job_status)
        if message is None or pulumi.runtime.is_dry_run():
            return f"{namespace}/{name}"
        log = read_log(namespace, name)
        raise JobFailedError(
            f"job {namespace}/{name} failed: {message}"
            + (f"\n{log}" if log else "")
            + "\nRemove the cause, then raise the workload's `run` number in the stack's settings to run it again."
        )

    return status.apply(check)
