"""Eviction of a pod by the kubelet of its node."""

from typing import Any

from toolkit.simulator import names
from toolkit.simulator.actors import evictions


def _pod(phase: str, **annotations: str) -> dict[str, Any]:
    entry = {"name": "main", "ready": True, "restartCount": 0, "state": {"running": {"startedAt": "x"}}}
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    return {
        "metadata": {"name": "p", "annotations": annotations},
        "status": {"phase": phase, "containerStatuses": [entry], "conditions": [ready]},
    }


def test_an_evicted_pod_fails_for_its_node() -> None:
    """It is Failed with the kubelet's reason, its containers were killed, and it says that a disruption ended it."""
    status = evictions.status(_pod("Running", **{names.EVICT: "memory"}))
    assert status is not None
    assert (status["phase"], status["reason"]) == ("Failed", "Evicted")
    assert status["message"] == "The node was low on resource: memory. "
    conditions = {entry["type"]: (entry["status"], entry["reason"]) for entry in status["conditions"]}
    assert conditions["DisruptionTarget"] == ("True", "TerminationByKubelet")
    assert conditions["Ready"] == ("False", "PodFailed")
    (container,) = status["containerStatuses"]
    assert container["state"]["terminated"]["exitCode"] == 137
    assert container["ready"] is False


def test_others_stay() -> None:
    """A pod that is not to be evicted, and one that has ended, are left alone."""
    assert evictions.status(_pod("Running")) is None
    assert evictions.status(_pod("Failed", **{names.EVICT: "memory"})) is None
