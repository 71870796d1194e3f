"""When an object is up, still coming, or will never be: from the live object alone (pure).

The rules follow `kubectl rollout status` and the official provider's awaiters.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from simulator.plugins.provider.inputs import ObjectType
from simulator.plugins.provider.values import Properties

State = Literal["ready", "waiting", "failed"]


@dataclass(frozen=True)
class Verdict:
    """The state, and what is missing or wrong."""

    state: State
    message: str = ""


READY = Verdict("ready")
Rule = Callable[[Properties], Verdict]


def _waiting(message: str) -> Verdict:
    return Verdict("waiting", message)


def conditions(live: Properties) -> dict[str, Properties]:
    """`status.conditions` by type."""
    found = (live.get("status") or {}).get("conditions") or []
    return {item.get("type", ""): item for item in found if isinstance(item, dict)}


def _is(live: Properties, condition: str, status: str = "True") -> bool:
    return conditions(live).get(condition, {}).get("status") == status


def _message(live: Properties, condition: str) -> str:
    found = conditions(live).get(condition, {})
    return ": ".join(str(found[key]) for key in ("reason", "message") if found.get(key))


def _observed(live: Properties) -> bool:
    """Whether the controller has seen the newest spec; before that the status speaks of an older one."""
    generation = live.get("metadata", {}).get("generation", 0)
    return bool(live.get("status", {}).get("observedGeneration", 0) >= generation)


def _counts(live: Properties, *names: str) -> list[int]:
    status = live.get("status", {})
    return [int(status.get(name, 0)) for name in names]


def deployment(live: Properties) -> Verdict:
    """All replicas of the newest template are available, and no older ones are left."""
    wanted = int(live.get("spec", {}).get("replicas", 1))
    if not _observed(live):
        return _waiting("its controller has not seen the change yet")
    if _is(live, "Progressing", "False"):
        return Verdict("failed", _message(live, "Progressing"))
    updated, total, available = _counts(live, "updatedReplicas", "replicas", "availableReplicas")
    if updated < wanted or total > updated or available < updated:
        return _waiting(
            f"{available} of {wanted} replicas are available, {updated} are up to date, {total - updated} old ones left"
        )
    return READY


def stateful_set(live: Properties) -> Verdict:
    """All replicas are ready, and of the newest revision unless the strategy leaves that to the user."""
    spec, status = live.get("spec", {}), live.get("status", {})
    wanted = int(spec.get("replicas", 1))
    if not _observed(live):
        return _waiting("its controller has not seen the change yet")
    ready, updated = _counts(live, "readyReplicas", "updatedReplicas")
    strategy = spec.get("updateStrategy", {})
    partition = strategy.get("rollingUpdate", {}).get("partition", 0)
    rolls = strategy.get("type", "RollingUpdate") == "RollingUpdate" and not partition
    if ready < wanted or (rolls and updated < wanted and status.get("currentRevision") != status.get("updateRevision")):
        return _waiting(f"{ready} of {wanted} replicas are ready, {updated} are up to date")
    return READY


def daemon_set(live: Properties) -> Verdict:
    """Return a pod is available on every node it belongs on, of the newest template unless the strategy is OnDelete."""
    if not _observed(live):
        return _waiting("its controller has not seen the change yet")
    wanted, updated, available = _counts(live, "desiredNumberScheduled", "updatedNumberScheduled", "numberAvailable")
    rolls = live.get("spec", {}).get("updateStrategy", {}).get("type", "RollingUpdate") == "RollingUpdate"
    if available < wanted or (rolls and updated < wanted):
        return _waiting(f"pods are available on {available} of {wanted} nodes, {updated} are up to date")
    return READY


def job(live: Properties) -> Verdict:
    """Return the job is complete (or suspended, and so not meant to run)."""
    if live.get("spec", {}).get("suspend") or _is(live, "Complete"):
        return READY
    if _is(live, "Failed"):
        return Verdict("failed", _message(live, "Failed"))
    active, succeeded, failed = _counts(live, "active", "succeeded", "failed")
    return _waiting(f"{active} pods active, {succeeded} succeeded, {failed} failed")


def pod(live: Properties) -> Verdict:
    """Return the pod is ready, or has succeeded."""
    status = live.get("status", {})
    phase = status.get("phase", "Pending")
    if phase == "Succeeded" or (phase == "Running" and _is(live, "Ready")):
        return READY
    if phase == "Failed":
        return Verdict("failed", "; ".join(pod_messages(live)) or str(status.get("message", "the pod failed")))
    return _waiting("; ".join([f"phase {phase}", *pod_messages(live), *filter(None, [_message(live, "PodScheduled")])]))


def persistent_volume(live: Properties) -> Verdict:
    """Require the volume to be Available or Bound."""
    phase = live.get("status", {}).get("phase")
    if phase in ("Available", "Bound"):
        return READY
    if phase == "Failed":
        return Verdict("failed", str(live["status"].get("message", "the volume is in phase Failed")))
    return _waiting(f"phase {phase or 'Pending'}")


def persistent_volume_claim(live: Properties) -> Verdict:
    """Require the claim to be bound (a class that binds at first use is the caller's business: `binds_late`)."""
    phase = live.get("status", {}).get("phase")
    return READY if phase == "Bound" else _waiting(f"phase {phase or 'Pending'}: no volume is bound to it")


def binds_late(storage_class: Properties | None) -> bool:
    """Whether claims of this class stay Pending until a pod uses them."""
    return (storage_class or {}).get("volumeBindingMode") == "WaitForFirstConsumer"


def namespace(live: Properties) -> Verdict:
    """Require the namespace to take objects."""
    phase = live.get("status", {}).get("phase")
    return READY if phase == "Active" else _waiting(f"phase {phase or 'unknown'}")


def custom_resource_definition(live: Properties) -> Verdict:
    """Require the API server to serve the kind."""
    if _is(live, "Established"):
        return READY
    if _is(live, "NamesAccepted", "False"):
        return Verdict("failed", _message(live, "NamesAccepted"))
    return _waiting("the API server does not serve the kind yet")


@dataclass(frozen=True)
class Await:
    """How one kind is awaited: the rule, how long (seconds), and whether a refresh looks as well."""

    rule: Rule
    timeout: float
    on_read: bool = False


# Times and choice of kinds: the official provider's (provider/pkg/await/awaiters.go), plus Namespace and CRD.
AWAITED: dict[tuple[str, str], Await] = {
    ("apps", "Deployment"): Await(deployment, 600, on_read=True),
    ("apps", "StatefulSet"): Await(stateful_set, 600, on_read=True),
    ("apps", "DaemonSet"): Await(daemon_set, 600, on_read=True),
    ("batch", "Job"): Await(job, 600, on_read=True),
    ("", "Pod"): Await(pod, 300, on_read=True),
    ("", "PersistentVolume"): Await(persistent_volume, 300),
    ("", "PersistentVolumeClaim"): Await(persistent_volume_claim, 300),
    ("", "Namespace"): Await(namespace, 300),
    ("apiextensions.k8s.io", "CustomResourceDefinition"): Await(custom_resource_definition, 60),
}


def awaited(kind: ObjectType) -> Await | None:
    """How a kind is awaited without being told; None for the kinds that are done when they exist, and patches."""
    return None if kind.patch else AWAITED.get((kind.group, kind.kind))


def pod_messages(live: Properties) -> list[str]:
    """Say what a pod's containers say about why they do not run: reason, exit status and termination message."""
    status = live.get("status", {})
    return [
        text
        for item in (*status.get("initContainerStatuses", []), *status.get("containerStatuses", []))
        for text in _container_messages(item)
    ]


def _container_messages(status: dict[str, Any]) -> Iterable[str]:
    state = status.get("state", {})
    terminated, waiting = state.get("terminated"), state.get("waiting")
    if terminated and terminated.get("exitCode"):
        message = str(terminated.get("message", "")).strip()
        yield f"container {status.get('name')} ended with exit status {terminated['exitCode']}" + (
            f": {message}" if message else f" ({terminated.get('reason', 'no message')})"
        )
    elif waiting and waiting.get("reason"):
        yield f"container {status.get('name')} is waiting: {waiting['reason']} {waiting.get('message', '')}".strip()
