"""When an object is up, still coming, or will never be: from the object and what belongs to it (pure).

The rules are those of the official provider's awaiters, and of `kubectl wait` for what an annotation asks.
"""

from collections.abc import Mapping
from typing import Any

from toolkit.engine.prediction.inputs import ObjectType, annotation
from toolkit.engine.prediction.readiness import Observation, conditions, job, status_of
from toolkit.engine.prediction.values import Properties
from toolkit.simulator.provider.observations import Checker, Seen, ingress, pod_ready, pod_warnings, service, spec_of

REVISION = "deployment.kubernetes.io/revision"
_NOT_READY = "'{name}' timed out waiting to be Ready"
_POLLED = "Timeout occurred polling for '{name}'"
_REPLICA_SETS = ObjectType("apps", "v1", "ReplicaSet")
_PODS = ObjectType("", "v1", "Pod")
_CLAIMS = ObjectType("", "v1", "PersistentVolumeClaim")
_ENDPOINTS = ObjectType("", "v1", "Endpoints")
_SERVICES = ObjectType("", "v1", "Service")


def _is(live: Properties, condition: str) -> bool:
    return bool(conditions(live).get(condition, {}).get("status") == "True")


def owned(items: list[Properties], owner: Properties | None) -> list[Properties]:
    """Return those of the objects that another one owns."""
    uid = (owner or {}).get("metadata", {}).get("uid")
    return [
        item
        for item in items
        if uid and any(reference.get("uid") == uid for reference in item["metadata"].get("ownerReferences", []))
    ]


def _deployment(seen: Seen) -> Observation:
    live, status = seen.live, status_of(seen.live)
    revision = annotation(live, REVISION)
    if seen.creating and status.get("observedGeneration") != live["metadata"].get("generation"):
        return Observation(
            ready=False,
            message="its controller has not seen the change yet",
            reasons=["Minimum number of live Pods was not attained"],
        )
    condition_of_type = conditions(live) if revision else {}
    wrong = [
        _bracketed(condition_of_type[name])
        for name in ("Progressing", "Available")
        if name in condition_of_type and not _is(live, name)
    ]
    available = "Available" in condition_of_type and _is(live, "Available")
    progressed = (
        _is(live, "Progressing") and condition_of_type.get("Progressing", {}).get("reason") == "NewReplicaSetAvailable"
    )
    sets = {annotation(item, REVISION): item for item in owned(seen.related["ReplicaSet"], live)}
    newest = sets.get(revision) if revision else None
    rolled = _rolled_out(newest, live, seen.before)
    unbound = _unbound_claims(seen)
    if available and rolled and not unbound and (revision == "1" or progressed):
        return Observation(ready=True)
    reasons = [text for text in wrong if text]
    if unbound:
        reasons.append(f'Failed to bind PersistentVolumeClaim(s): "{",".join(unbound)}"')
    if not available:
        reasons.append("Minimum number of live Pods was not attained")
    elif not (progressed or revision == "1") or (not rolled and revision == "1"):
        reasons.append("Minimum number of Pods to consider the application live was not attained")
    elif not rolled:
        reasons.append("Attempted to roll forward to new ReplicaSet, but minimum number of Pods did not become live")
    reasons += [text for pod in owned(seen.related["Pod"], newest) for text in pod_warnings(pod)]
    ready, replicas = status.get("readyReplicas", 0), spec_of(live).get("replicas", 1)
    return Observation(ready=False, message=f"{ready} of {replicas} replicas are ready", reasons=reasons)


def _bracketed(condition: Properties) -> str:
    reason, message = condition.get("reason"), condition.get("message")
    return f"[{reason}] {message}" if reason and message else ""


def _rolled_out(newest: Properties | None, live: Properties, before: Properties | None) -> bool:
    if newest is None:
        return False
    replicas, ready = spec_of(newest).get("replicas", 1), status_of(newest).get("readyReplicas")
    enough = ready >= replicas if ready is not None else replicas == 0
    last = annotation(before, REVISION) if before else ""
    changed = before is None or annotation(live, REVISION) != last
    return bool(enough and (not changed or last != annotation(newest, REVISION)))


def _unbound_claims(seen: Seen) -> list[str]:
    volumes = spec_of(spec_of(seen.live).get("template", {})).get("volumes", [])
    names = {item["persistentVolumeClaim"].get("claimName") for item in volumes if "persistentVolumeClaim" in item}
    claims = [item for item in seen.related["PersistentVolumeClaim"] if item["metadata"]["name"] in names]
    return [item["metadata"]["name"] for item in claims if status_of(item).get("phase") != "Bound"]


def _stateful_set(seen: Seen) -> Observation:
    live, spec, status = seen.live, spec_of(seen.live), status_of(seen.live)
    generation = live["metadata"].get("generation", 0)
    observed = status.get("observedGeneration", -1) >= generation
    replicas = int(spec.get("replicas", 0)) if observed else 0
    counts = {
        name: int(status.get(name, 0)) for name in ("replicas", "readyReplicas", "currentReplicas", "updatedReplicas")
    }
    current, target = (str(status.get(name, "")) if observed else "" for name in ("currentRevision", "updateRevision"))
    if generation > 1 and spec.get("updateStrategy", {}).get("type") == "OnDelete":
        revised = observed
        replicated = observed and replicas == counts["replicas"] == counts["readyReplicas"]
    else:
        revised = bool(current) and current == target
        replicated = observed and replicas == counts["replicas"] == counts["readyReplicas"] == counts["currentReplicas"]
    if replicated and revised:
        return Observation(ready=True)
    ready = counts["readyReplicas"] if revised else min(counts["readyReplicas"], counts["updatedReplicas"])
    ready = ready if observed else 0
    reasons = [] if replicated else [f"{ready} out of {replicas} replicas succeeded readiness checks"]
    if not revised:
        reasons.append(f'StatefulSet controller failed to advance from revision "{current}" to revision "{target}"')
    reasons += [text for pod in owned(seen.related["Pod"], live) for text in pod_warnings(pod)]
    return Observation(ready=False, message=f"{ready} of {replicas} replicas are ready", reasons=reasons)


def _daemon_set(seen: Seen) -> Observation:
    live, status = seen.live, status_of(seen.live)
    desired = status.get("desiredNumberScheduled", -1)
    names = ("currentNumberScheduled", "updatedNumberScheduled", "numberAvailable", "numberReady")
    observed = status.get("observedGeneration") == live["metadata"].get("generation", 0)
    settled = observed and not live["metadata"].get("deletionTimestamp") and desired >= 0
    if settled and all(desired <= status.get(name, 0) for name in names):
        return Observation(ready=True)
    return Observation(
        ready=False, message=f"pods are available on {status.get('numberAvailable', 0)} of {desired} nodes"
    )


def _job(seen: Seen) -> Observation:
    observed = job(seen.live)
    if observed.ready:
        return observed
    warnings = [text for pod in owned(seen.related["Pod"], seen.live) for text in pod_warnings(pod)]
    reasons = list(dict.fromkeys([*observed.reasons, *warnings]))
    return Observation(ready=False, message=observed.message, reasons=reasons, failure=observed.failure)


def _pod(seen: Seen) -> Observation:
    if pod_ready(seen.live):
        return Observation(ready=True)
    phase = status_of(seen.live).get("phase", "Pending")
    return Observation(ready=False, message=f"phase {phase}", reasons=pod_warnings(seen.live))


def _volume(seen: Seen) -> Observation:
    phase = status_of(seen.live).get("phase")
    return Observation(ready=phase in ("Available", "Bound"), message=f"phase {phase or 'Pending'}")


def _claim(seen: Seen) -> Observation:
    phase = status_of(seen.live).get("phase")
    if seen.before is not None and phase == "Bound":
        return Observation(ready=True)
    late = any(item.get("volumeBindingMode") == "WaitForFirstConsumer" for item in seen.related["StorageClass"])
    return Observation(ready=phase == ("Pending" if late else "Bound"), message=f"phase {phase or 'Pending'}")


def _replication_controller(seen: Seen) -> Observation:
    replicas, available = spec_of(seen.live).get("replicas"), status_of(seen.live).get("availableReplicas")
    return Observation(
        ready=replicas is not None and replicas == available, message=f"{available or 0} of {replicas} are available"
    )


def _quota(seen: Seen) -> Observation:
    hard, counted = spec_of(seen.live).get("hard"), status_of(seen.live).get("hard")
    return Observation(ready=isinstance(hard, dict) and hard == counted, message="its status is not counted yet")


def _token(seen: Seen) -> Observation:
    ready = seen.live.get("type") != "kubernetes.io/service-account-token" or bool(seen.live.get("data"))
    return Observation(ready=ready, message="it has no token yet")


# By group and kind: the rules are the same in every version that is still served.
CHECKERS: Mapping[tuple[str, str], Checker] = {
    ("apps", "Deployment"): Checker(_deployment, _NOT_READY, (_REPLICA_SETS, _PODS, _CLAIMS), on_read=True),
    ("apps", "StatefulSet"): Checker(_stateful_set, _NOT_READY, (_PODS,), on_read=True),
    ("apps", "DaemonSet"): Checker(_daemon_set, on_read=True),
    ("batch", "Job"): Checker(_job, _NOT_READY, (_PODS,), on_read=True),
    ("", "Pod"): Checker(_pod, _NOT_READY, on_read=True),
    ("", "PersistentVolume"): Checker(_volume, _POLLED, fixed_timeout=300),
    ("", "PersistentVolumeClaim"): Checker(_claim, _POLLED, fixed_timeout=300, storage_class=True),
    ("", "ReplicationController"): Checker(_replication_controller, _POLLED, fixed_timeout=600),
    ("", "ResourceQuota"): Checker(_quota, _POLLED, fixed_timeout=60),
    ("", "Secret"): Checker(_token, _POLLED, fixed_timeout=5),
    ("", "Service"): Checker(service, _NOT_READY, (_ENDPOINTS,), on_read=True),
    ("networking.k8s.io", "Ingress"): Checker(ingress, _NOT_READY, (_ENDPOINTS, _SERVICES), on_read=True),
}


def text_of(value: Any) -> str:
    """Return a value of an object as an expression spells it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
