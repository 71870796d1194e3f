"""What Kueue says of queues, and which of them share: pure functions."""

from collections.abc import Container, Iterable, Mapping

from simulator.actors import kueue_quota
from simulator.actors.api import Object
from simulator.actors.kueue_quota import Queue, Usage

State = tuple[str, str, str]
"""Of the condition Active: status, reason, message."""


def missing_flavors(queue: Object, flavors: Iterable[str]) -> list[str]:
    """Return the flavors that a ClusterQueue names and nobody has made, in their order."""
    known = {*flavors}
    named = [one["name"] for group in queue["spec"].get("resourceGroups") or [] for one in group["flavors"]]
    return [name for name in dict.fromkeys(named) if name not in known]


def of_cluster(queue: Object, flavors: Iterable[str]) -> State:
    """Return whether a ClusterQueue is active."""
    lost = ",".join(missing_flavors(queue, flavors))
    if lost:
        return "False", "FlavorNotFound", f"Can't admit new workloads: references missing ResourceFlavor(s): {lost}."
    return "True", "Ready", "Can admit new workloads"


def of_tenant(local: Object, queues: Container[str], active: Container[str]) -> State:
    """Return whether a LocalQueue is active."""
    target = local["spec"]["clusterQueue"]
    if target in active:
        return "True", "Ready", "Can submit new workloads to localQueue"
    reason = "ClusterQueueIsInactive" if target in queues else "ClusterQueueDoesNotExist"
    return "False", reason, "Can't submit new workloads to clusterQueue"


def sharing(
    name: str, queues: Mapping[str, Object], active: set[str], usage: Mapping[str, Usage]
) -> tuple[Queue, list[Queue]]:
    """Return a ClusterQueue and the active others of its cohort."""
    own = kueue_quota.queue(queues[name], usage.get(name, {}))
    read = (kueue_quota.queue(queues[one], usage.get(one, {})) for one in sorted(active - {name}))
    return own, [one for one in read if own.cohort and one.cohort == own.cohort]
