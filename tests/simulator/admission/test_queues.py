"""How new jobs are held for Kueue."""

import base64
import json
from typing import Any

import pytest

from simulator.admission import queues
from simulator.admission.manifests import queue_webhook

JOBS = (("batch", "v1", "jobs"), ("kubeflow.org", "v2beta1", "mpijobs"))


def request(kind: str, owner: str | None = None, **spec: Any) -> dict[str, Any]:
    """Return the request to create a job."""
    owners = [{"kind": owner, "controller": True}] if owner else []
    return {"uid": "1", "object": {"kind": kind, "metadata": {"name": "a", "ownerReferences": owners}, "spec": spec}}


def changes(asked: dict[str, Any]) -> list[Any]:
    """Return the changes that the API server makes."""
    response = queues.answer(asked).review()["response"]
    assert response["allowed"]
    found: list[Any] = json.loads(base64.b64decode(response.get("patch", "W10=")))
    return found


@pytest.mark.parametrize(
    ("asked", "path", "value"),
    [
        (request("Job"), "/spec/suspend", True),
        (request("Job", suspend=False), "/spec/suspend", True),
        (request("MPIJob"), "/spec/runPolicy", {"suspend": True}),
        (request("MPIJob", runPolicy={"backoffLimit": 0}), "/spec/runPolicy/suspend", True),
    ],
)
def test_a_new_job_is_held(asked: dict[str, Any], path: str, value: object) -> None:
    """Prevents pods of a job that has no quota yet, and a run policy that is lost on the way."""
    (change,) = changes(asked)
    assert (change["path"], change["value"]) == (path, value)


@pytest.mark.parametrize("asked", [request("Job", owner="MPIJob"), request("Job", suspend=True), request("Pod")])
def test_others_are_left_alone(asked: dict[str, Any]) -> None:
    """Prevents a launcher that is held although its job was let go."""
    assert changes(asked) == []


def test_only_namespaces_and_jobs_of_kueue_are_asked_about() -> None:
    """Prevents every job of the cluster from hanging on a process that plays Kueue."""
    (hook,) = queue_webhook(1234, b"ca", JOBS, named_only=True)["webhooks"]
    assert hook["namespaceSelector"] == {"matchLabels": {"kueue.openshift.io/managed": "true"}}
    assert "kueue.x-k8s.io/queue-name" in hook["matchConditions"][0]["expression"]
    assert [rule["resources"] for rule in hook["rules"]] == [["jobs"], ["mpijobs"]]
    assert {operation for rule in hook["rules"] for operation in rule["operations"]} == {"CREATE"}
    (every,) = queue_webhook(1234, b"ca", JOBS, named_only=False)["webhooks"]
    assert every["matchConditions"] == []
