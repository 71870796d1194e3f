"""The last words of failed jobs."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from core.apis import kubeconfig
from core.apis.client import ApiError
from stacks.layers import failed_jobs

POD = {
    "job-name": {"job-name": "job"},
    "v1alpha2": {"mpi_job_name": "job", "mpi_role_type": "launcher"},
    "v2beta1": {"training.kubeflow.org/job-name": "job", "training.kubeflow.org/job-role": "launcher"},
}


def pod(labels: dict[str, str], code: int, message: str | None) -> dict[str, Any]:
    """Return a pod whose container has ended."""
    end = {"exitCode": code, "reason": "Error"} | ({"message": message} if message else {})
    return {
        "metadata": {"name": "job-pod", "labels": labels},
        "status": {"containerStatuses": [{"state": {"terminated": end}}], "phase": "Failed" if code else "Succeeded"},
    }


def words(monkeypatch: pytest.MonkeyPatch, *pods: dict[str, Any]) -> str:
    """Return the last words of `job` on a cluster with these pods."""

    def get(_: str, *, labelSelector: str) -> Any:
        wanted = dict(part.split("=") for part in labelSelector.split(","))
        return {"items": [each for each in pods if wanted.items() <= each["metadata"]["labels"].items()]}

    monkeypatch.setattr(kubeconfig, "client", lambda *_, **__: SimpleNamespace(get=get))
    return failed_jobs.messages(Path("kubeconfig"), "context", "adas", "job")


@pytest.mark.parametrize("kind", POD)
def test_pods_of_every_kind_of_job_are_found(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Failed pods of Jobs and of MPIJobs of both generations are found, with their messages."""
    found = words(monkeypatch, pod(POD[kind], 1, "Couldn't allocate MR"), pod({"job-name": "other"}, 1, "other"))
    assert found == "pod job-pod, exit code 1: Couldn't allocate MR"


def test_pods_that_ended_well_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pods that succeeded contribute nothing to the message."""
    assert words(monkeypatch, pod(POD["job-name"], 0, "fine"), pod(POD["job-name"], 2, None)) == (
        "pod job-pod, exit code 2: Error"
    )


def test_a_cluster_that_does_not_answer_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster that does not answer is reported in the text, without a traceback."""

    def refuse(*_: object, **__: object) -> None:
        raise ApiError(403, "Forbidden", "pods is forbidden")

    monkeypatch.setattr(kubeconfig, "client", refuse)
    assert "could not be read: pods is forbidden" in failed_jobs.messages(Path("kubeconfig"), "context", "adas", "job")
