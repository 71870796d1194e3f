"""What Kueue says of queues, and which of them share: pure functions."""

from collections.abc import Container, Iterable, Mapping

from simulator.actors import kueue_quota, kueue_workloads, pods
from simulator.actors.api import Object
from simulator.actors.kueue_quota import ZERO, Queue, Usage

State = tuple[str, str, str]
"""Of the condition Active: status, reason, message."""


def missing_flavors(queue: Object, flavors: Iterable[str]) -> list[str]:
    """Return the flavors that a ClusterQueue names and that do not exist, in their order."""
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


def amounts_of(queue: Object | None, workloads: Iterable[Object], *, borrowing: bool) -> Object:
    """Return the status of a queue about the Workloads in it: how many, and what they use of which quota.

    `queue` is the ClusterQueue that has the quota, None where there is none; only its own status has `borrowing`.
    """
    ours = [one for one in workloads if not pods.condition(one, "Finished")]
    admitted = [one for one in ours if kueue_workloads.admission(one)]
    usage = _usage(queue, kueue_workloads.held(admitted), borrowing=borrowing) if queue else []
    # Admission checks are not simulated: a workload with a quota is admitted.
    return {
        "pendingWorkloads": len(ours) - len(admitted),
        "reservingWorkloads": len(admitted),
        "admittedWorkloads": len(admitted),
        "flavorsReservation": usage,
        "flavorsUsage": usage,
    }


def _usage(queue: Object, held: Mapping[str, Usage], *, borrowing: bool) -> list[Object]:
    read = kueue_quota.queue(queue, held.get(queue["metadata"]["name"], {}))
    flavors = []
    for flavor, quotas in (one for group in read.groups for one in group.flavors):
        resources = []
        for name in sorted(quotas):
            total = read.usage.get((flavor, name), ZERO)
            over = max(total - quotas[name].nominal, ZERO)
            borrowed = {"borrowed": kueue_quota.shown(name, over)} if borrowing else {}
            resources.append({"name": name, "total": kueue_quota.shown(name, total), **borrowed})
        flavors.append({"name": flavor, "resources": resources})
    return flavors


def sharing(
    name: str, queues: Mapping[str, Object], active: set[str], usage: Mapping[str, Usage]
) -> tuple[Queue, list[Queue]]:
    """Return a ClusterQueue and the active others of its cohort."""
    own = kueue_quota.queue(queues[name], usage.get(name, {}))
    read = (kueue_quota.queue(queues[one], usage.get(one, {})) for one in sorted(active - {name}))
    return own, [one for one in read if own.cohort and one.cohort == own.cohort]
