"""How jobs are held for Kueue, and keep their queue."""

import base64
import json
from typing import Any

import pytest

from apis.names import QUEUE_NAME
from simulator.admission import queues
from simulator.admission.manifests import queue_webhook

JOBS = (("batch", "v1", "jobs"), ("kubeflow.org", "v2beta1", "mpijobs"))


def request(kind: str, owner: str | None = None, **spec: Any) -> dict[str, Any]:
    """Return the request to create a job."""
    owners = [{"kind": owner, "controller": True}] if owner else []
    job = {"kind": kind, "metadata": {"name": "a", "ownerReferences": owners}, "spec": spec}
    return {"uid": "1", "operation": "CREATE", "object": job}


def changes(requested: dict[str, Any]) -> list[Any]:
    """Return the changes that the API server makes."""
    response = queues.answer(requested).review()["response"]
    assert response["allowed"]
    found: list[Any] = json.loads(base64.b64decode(response.get("patch", "W10=")))
    return found


@pytest.mark.parametrize(
    ("requested", "path", "value"),
    [
        (request("Job"), "/spec/suspend", True),
        (request("Job", suspend=False), "/spec/suspend", True),
        (request("MPIJob"), "/spec/runPolicy", {"suspend": True}),
        (request("MPIJob", runPolicy={"backoffLimit": 0}), "/spec/runPolicy/suspend", True),
    ],
)
def test_a_new_job_is_held(requested: dict[str, Any], path: str, value: object) -> None:
    """A new job with a queue is suspended, and keeps its other settings."""
    (change,) = changes(requested)
    assert (change["path"], change["value"]) == (path, value)


@pytest.mark.parametrize("requested", [request("Job", owner="MPIJob"), request("Job", suspend=True), request("Pod")])
def test_others_are_left_alone(requested: dict[str, Any]) -> None:
    """Jobs of other jobs, jobs that are suspended already, and pods are left alone."""
    assert changes(requested) == []


def moved(kind: str, before: str | None, after: str | None, **spec: Any) -> Any:
    """Return the answer to the request to move a job to another queue."""
    queues_ = [{QUEUE_NAME: each} if each else {} for each in (before, after)]
    old, new = ({"kind": kind, "metadata": {"name": "a", "labels": labels}, "spec": spec} for labels in queues_)
    return queues.answer({"uid": "1", "operation": "UPDATE", "oldObject": old, "object": new}).review()["response"]


@pytest.mark.parametrize(("before", "after"), [("a", "b"), ("a", None), (None, "b")])
def test_a_job_that_was_let_go_keeps_its_queue(before: str | None, after: str | None) -> None:
    """The queue of an admitted job cannot be changed."""
    for kind in ("Job", "MPIJob"):
        refused = moved(kind, before, after)
        assert not refused["allowed"]
        assert refused["status"]["message"].endswith(f'Invalid value: "{after or ""}": field is immutable')


def test_a_job_that_waits_may_change_its_queue() -> None:
    """A job that waits may change its queue."""
    assert moved("Job", "a", "b", suspend=True)["allowed"]
    assert moved("MPIJob", "a", "b", runPolicy={"suspend": True})["allowed"]
    assert moved("MPIJob", "a", "a")["allowed"]


def test_only_namespaces_and_jobs_of_kueue_are_asked_about() -> None:
    """The webhook is called for Kueue's namespaces and kinds only."""
    (hook,) = queue_webhook(1234, b"ca", JOBS, named_only=True)["webhooks"]
    assert hook["namespaceSelector"] == {"matchLabels": {"kueue.openshift.io/managed": "true"}}
    named = hook["matchConditions"][0]["expression"]
    for job in ("object", "oldObject"):
        assert f"'kueue.x-k8s.io/queue-name' in {job}.metadata.labels" in named
    assert [rule["resources"] for rule in hook["rules"]] == [["jobs"], ["mpijobs"]]
    assert {operation for rule in hook["rules"] for operation in rule["operations"]} == {"CREATE", "UPDATE"}
    (every,) = queue_webhook(1234, b"ca", JOBS, named_only=False)["webhooks"]
    assert every["matchConditions"] == []
