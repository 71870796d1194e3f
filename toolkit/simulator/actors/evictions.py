"""Eviction by the kubelet, of a pod on a node that lacks a resource: a pure function."""

from toolkit.simulator import names, pods
from toolkit.simulator.actors.api import Object, now, stated

KILLED = 137
"""Exit code of a container that got SIGKILL."""


def status(pod: Object) -> Object | None:
    """Return the status of a pod that is evicted now, as the kubelet writes it; None where none is to be.

    The kubelet's own limits and ranking are not simulated: users and tests choose the pod. The message's form is that
    of pkg/kubelet/eviction/helpers.go, Kubernetes 1.34.
    """
    resource = pods.annotations(pod).get(names.EVICT)
    if not resource or pods.phase(pod) in ("Succeeded", "Failed") or not pods.accepted(pod):
        return None
    message = f"The node was low on resource: {resource}. "
    why = {"DisruptionTarget": ("True", "TerminationByKubelet", message)}
    over = dict.fromkeys(("Ready", "ContainersReady"), ("False", "PodFailed", ""))
    ended = {"exitCode": KILLED, "reason": "Error", "finishedAt": now()}
    return {
        "phase": "Failed",
        "reason": "Evicted",
        "message": message,
        "conditions": stated(pod, {**over, **why}),
        "containerStatuses": [
            {**entry, "ready": False, "started": False, "state": {"terminated": ended}}
            for entry in pod["status"]["containerStatuses"]
        ],
    }
