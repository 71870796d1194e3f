"""Nodes that restart when they are lost."""

from typing import Any

from tests.support.reviews import created, deleted, made, reported, review, same, updated
from toolkit.review.model import Resource
from toolkit.review.subjects import remediation


def check(**spec: Any) -> Resource:
    """Return a check of GPU nodes."""
    signs = [{"type": "Ready", "status": "Unknown", "duration": "300s"}]
    content = {"metadata": {"name": "gpu-nodes"}, "spec": {"unhealthyConditions": signs, "minHealthy": 7, **spec}}
    return made("remediation.medik8s.io/v1alpha1:NodeHealthCheck", content)


def test_a_new_check_says_what_restarts() -> None:
    """Signs, the limit and what it does to jobs."""
    assert reported(remediation.find, review(created(check()))) == [
        "! NodeHealthCheck gpu-nodes restarts a node that it takes for lost",
        "  a node with Ready Unknown for 300s",
        "  while nodes are healthy, at least: 7",
        "  its jobs lose their pods, and drivers are built or loaded again",
    ]


def test_changes_show_what_was() -> None:
    """A changed limit shows the former one; a change of labels nothing; a removal leaves pods on lost nodes."""
    lines = reported(remediation.find, review(updated(check(), check(minHealthy="51%"))))
    assert lines[0] == "! NodeHealthCheck gpu-nodes now restarts a node that it takes for lost"
    assert lines[-1] == "  before: while nodes are healthy, at least: 7"
    assert reported(remediation.find, review(updated(check(), check()), same(check()))) == []
    (line,) = reported(remediation.find, review(deleted(check())))
    assert "pods of a lost node stay Terminating" in line
