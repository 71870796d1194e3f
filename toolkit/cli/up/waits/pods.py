"""Pods that are waited for: why one does not run, and whether that will pass by itself (pure)."""

from collections.abc import Iterable, Sequence

from core.apis import kinds
from policies.manifests.values import read
from toolkit.cli.shared import metadata
from toolkit.cli.up.waits.verdict import Look, Object, Verdict, conditions, failed, failing
from toolkit.engine.prediction.blocking_events import cause, latest

IMAGE = frozenset({"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "RegistryUnavailable", "InvalidImageName"})
_CONFIGURATION = frozenset(
    {
        "CreateContainerConfigError",
        "CreateContainerError",
        "RunContainerError",
        "PreCreateHookError",
        "PreStartHookError",
    }
)
_NEVER = "InvalidImageName"
"""The kubelet tries all others again."""
_BACK_OFF = "CrashLoopBackOff"
_REVISION, _GENERATION = "deployment.kubernetes.io/revision", "deprecated.daemonset.template.generation"
"""Annotations of ReplicaSets and DaemonSets: which template theirs is, counted."""
_SLOW = frozenset({"Pulling", "FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox", "FailedScheduling"})
"""Events with the reason why a pod does not exist yet."""


def of_owner(owner: Object, look: Look) -> list[Object]:
    """Return the pods of a workload that count.

    Those of an earlier template go when the new ones come, except where they stay until they are deleted.
    """
    owners = {metadata.uid(owner)}
    if owner.get("kind") == kinds.DEPLOYMENT.kind:
        owners = _newest_set(owner, look)
    mine = _owned(owners, metadata.namespace(owner), look)
    return mine if is_on_delete(owner) else [pod for pod in mine if _current(pod, owner)]


def outdated(owner: Object, look: Look) -> list[Object]:
    """Return the pods of a DaemonSet or StatefulSet that have an earlier template."""
    mine = _owned({metadata.uid(owner)}, metadata.namespace(owner), look)
    return [pod for pod in mine if not _current(pod, owner)]


def is_on_delete(owner: Object) -> bool:
    """Whether a workload's pods stay as they are until they are deleted."""
    return bool(read(owner, "spec", "updateStrategy", "type") == "OnDelete")


def _owned(owners: set[str], namespace: str, look: Look) -> list[Object]:
    return alive(pod for pod in look(kinds.POD, namespace) if any(metadata.owned_by(pod, owner) for owner in owners))


def _newest_set(deployment: Object, look: Look) -> set[str]:
    sets = [
        replica_set
        for replica_set in look(kinds.REPLICA_SET, metadata.namespace(deployment))
        if metadata.owned_by(replica_set, metadata.uid(deployment))
    ]
    newest = max(sets, key=lambda replica_set: int(metadata.annotations(replica_set).get(_REVISION) or 0), default={})
    return {metadata.uid(newest)}


def _current(pod: Object, owner: Object) -> bool:
    """Whether a DaemonSet's or StatefulSet's pod is of its present template, as far as both report it."""
    for label, now in (
        ("pod-template-generation", metadata.annotations(owner).get(_GENERATION)),
        ("controller-revision-hash", read(owner, "status", "updateRevision")),
    ):
        if now is not None and label in metadata.labels(pod):
            return bool(metadata.labels(pod)[label] == now)
    return True


def alive(pods: Iterable[Object]) -> list[Object]:
    """Return pods by name, without those that are being deleted."""
    return sorted((pod for pod in pods if not read(pod, "metadata", "deletionTimestamp")), key=metadata.name)


def trouble(pods: Sequence[Object], *, restarts: bool = True) -> Verdict | None:
    """Return the first failure among pods.

    `restarts`: whether a container that ends again and again is one. It is not where the owner counts the attempts
    and ends by itself, as a Job does.
    """
    verdicts = [verdict for pod in pods for verdict in _troubles(pod, restarts=restarts)]
    return next((verdict for verdict in verdicts if verdict.state == "failed"), verdicts[0] if verdicts else None)


def _troubles(pod: Object, *, restarts: bool) -> Iterable[Verdict]:
    for status in statuses(pod):
        container = str(status.get("name"))
        at = f"pod {metadata.namespace(pod)}/{metadata.name(pod)}, container {container}"
        key = f"{_owner(pod)} {container}"
        waits = read(status, "state", "waiting") or {}
        reason, message = str(waits.get("reason") or ""), str(waits.get("message") or "").strip()
        text = f"{at}: {reason}" + (f": {message}" if message else "")
        if reason == _NEVER:
            yield failed(text, pod, container)
        elif reason in IMAGE:
            yield failing(text, f"{key} image", pod, container)
        elif reason in _CONFIGURATION:
            yield failing(text, f"{key} configuration", pod, container)
        elif restarts and (end := _crash(status)):
            yield failing(f"{at} {end}", f"{key} ends", pod, container)


def statuses(pod: Object) -> list[Object]:
    """Return the statuses of a pod's containers, those of its init containers first."""
    return [
        *(read(pod, "status", "initContainerStatuses") or ()),
        *(read(pod, "status", "containerStatuses") or ()),
    ]


def _crash(status: Object) -> str:
    """Return how a container ended that is started again and again, empty for one that is ready or never failed."""
    now, before = read(status, "state", "terminated"), read(status, "lastState", "terminated")
    end = now or before or {}
    count = int(status.get("restartCount") or 0)
    backs_off = read(status, "state", "waiting", "reason") == _BACK_OFF
    if status.get("ready") or not (backs_off or (count and end.get("exitCode"))):
        return ""
    why = str(end.get("message") or "").strip() or str(end.get("reason") or "")
    text = f"ended with exit code {end['exitCode']}" if "exitCode" in end else "ended"
    return f"{text}, {count} restarts ({_BACK_OFF})" + (f": {why}" if why else "")


def _owner(pod: Object) -> str:
    owners = read(pod, "metadata", "ownerReferences") or ()
    return str(owners[0].get("name")) if owners else metadata.name(pod)


def progress(pods: Sequence[Object], look: Look) -> str:
    """Return what the first pod that is not ready waits for; empty when all are ready, or none is there."""
    late = [pod for pod in pods if not _ready(pod)]
    if not late:
        return ""
    pod = late[0]
    more = f" (and {len(late) - 1} more)" if len(late) > 1 else ""
    return f"pod {metadata.name(pod)}{more}: {_why(pod, look)}"


def _ready(pod: Object) -> bool:
    done = read(pod, "status", "phase") == "Succeeded"
    return done or conditions(pod).get("Ready", {}).get("status") == "True"


def _why(pod: Object, look: Look) -> str:
    unscheduled = conditions(pod).get("PodScheduled", {})
    if unscheduled.get("status") == "False":
        return str(unscheduled.get("message") or unscheduled.get("reason"))
    newest = newest_event(pod, look)
    if newest.get("reason") in _SLOW:
        return str(newest.get("message")) if newest["reason"] == "Pulling" else cause(newest)
    for status in statuses(pod):
        waits = read(status, "state", "waiting") or {}
        if waits.get("reason"):
            return f"container {status.get('name')}: {waits['reason']}"
        if not status.get("ready") and not read(status, "state", "terminated"):
            return f"container {status.get('name')} is not ready"
    return str(read(pod, "status", "phase") or "Pending")


def newest_event(obj: Object, look: Look) -> Object:
    """Return the newest event about an object; empty where there is none."""
    events = look(kinds.EVENT, metadata.namespace(obj))
    mine = (event for event in events if read(event, "involvedObject", "uid") == metadata.uid(obj))
    return max(mine, key=latest, default={})
