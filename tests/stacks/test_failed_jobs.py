"""The last words of failed jobs."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from kubernetes.client.exceptions import ApiException

from stacks import failed_jobs

POD = {
    "job-name": {"job-name": "job"},
    "v1alpha2": {"mpi_job_name": "job", "mpi_role_type": "launcher"},
    "v2beta1": {"training.kubeflow.org/job-name": "job", "training.kubeflow.org/job-role": "launcher"},
}


def pod(labels: dict[str, str], code: int, message: str | None) -> Any:
    """Return a pod whose container has ended."""
    end = SimpleNamespace(exit_code=code, message=message, reason="Error")
    status = SimpleNamespace(state=SimpleNamespace(terminated=end))
    return SimpleNamespace(
        labels=labels,
        metadata=SimpleNamespace(name="job-pod"),
        status=SimpleNamespace(
            container_statuses=[status], phase="Failed" if code else "Succeeded", reason=None, message=None
        ),
    )


def words(monkeypatch: pytest.MonkeyPatch, *pods: Any) -> str:
    """Return the last words of `job` on a cluster with these pods."""

    def of(_: str, label_selector: str) -> Any:
        wanted = dict(part.split("=") for part in label_selector.split(","))
        return SimpleNamespace(items=[each for each in pods if wanted.items() <= each.labels.items()])

    monkeypatch.setattr(failed_jobs, "_connect", lambda *_: None)
    monkeypatch.setattr("kubernetes.client.CoreV1Api", lambda _: SimpleNamespace(list_namespaced_pod=of))
    return failed_jobs.last_words(Path("kubeconfig"), "context", "adas", "job")


@pytest.mark.parametrize("kind", POD)
def test_pods_of_every_kind_of_job_are_found(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Prevents `job failed` without the message that says why."""
    found = words(monkeypatch, pod(POD[kind], 1, "Couldn't allocate MR"), pod({"job-name": "other"}, 1, "other"))
    assert found == "pod job-pod, exit code 1: Couldn't allocate MR"


def test_pods_that_ended_well_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prevents a listener's greeting from passing for the reason of a failure."""
    assert words(monkeypatch, pod(POD["job-name"], 0, "fine"), pod(POD["job-name"], 2, None)) == (
        "pod job-pod, exit code 2: Error"
    )


def test_a_cluster_that_does_not_answer_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prevents a traceback in place of the failure that somebody waits for."""

    def refuse(*_: object) -> None:
        raise ApiException(status=403, reason="Forbidden")

    monkeypatch.setattr(failed_jobs, "_connect", refuse)
    assert "could not be read: (403)" in failed_jobs.last_words(Path("kubeconfig"), "context", "adas", "job")
