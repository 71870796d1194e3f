"""Deployments, DaemonSets and StatefulSets: those that are waited for, and those of a custom resource (pure)."""

from collections.abc import Iterable

from core.apis import kinds
from policies.manifests.values import read
from toolkit.cli.shared import metadata
from toolkit.cli.up.waits import pods
from toolkit.cli.up.waits.verdict import DONE, Look, Object, Verdict, conditions, failing, met, reason_of, waiting
from toolkit.engine.prediction.blocking_events import cause, latest

KINDS = (kinds.DEPLOYMENT, kinds.DAEMON_SET, kinds.STATEFUL_SET)
_QUOTA = "exceeded quota"
"""Of a pod that is refused for now: others end, and leave room."""
_GOOD = frozenset({"Available", "Ready", "Success", "Active", "Established"})


def verdict(obj: Object, look: Look) -> Verdict:
    """Return how far a workload is: its pods show more than its status."""
    ready, desired = _counts(obj)
    if ready >= desired and observed(obj):
        return DONE
    mine = pods.of_owner(obj, look)
    if (bad := pods.trouble(mine) or _refused(obj, look, have=len(mine), desired=desired)) is not None:
        return bad
    progressing = conditions(obj).get("Progressing", {})
    if progressing.get("status") == "False":
        return failing(reason_of(progressing), "Progressing")
    text = f"{ready} of {desired} pods are ready"
    old = len(pods.outdated(obj, look)) if obj.get("kind") != kinds.DEPLOYMENT.kind else 0
    replaced = (
        f"; {old} of an earlier template {'stay' if pods.is_on_delete(obj) else 'are being replaced'}" if old else ""
    )
    why = pods.progress(mine, look)
    return waiting(f"{text}{replaced}; {why}" if why else f"{text}{replaced}")


def operands(owner: Object, look: Look) -> Verdict:
    """Return the verdict of the first workload of a custom resource that is not done; DONE where all are."""
    slow = DONE
    for workload in owned(owner, look):
        outcome = verdict(workload, look)
        if outcome.bad:
            return outcome
        if outcome.state == "waiting" and slow is DONE:
            slow = outcome.about(f"{workload['kind']} {metadata.name(workload)}")
    return slow


def owned(owner: Object, look: Look) -> Iterable[Object]:
    """Yield the workloads of a custom resource, those of its namespace or, of a cluster-wide one, all of them."""
    for kind in KINDS:
        for workload in look(kind, metadata.namespace(owner)):
            if metadata.owned_by(workload, metadata.uid(owner)):
                yield {**workload, "kind": kind.kind}  # items of a list have no kind


def refused(uids: Iterable[str], inside: str, look: Look) -> Verdict | None:
    """Return why the controller of one of the objects cannot make pods or other parts of it, by its events."""
    mine = {*uids}
    events = sorted(
        (event for event in look(kinds.EVENT, inside) if read(event, "involvedObject", "uid") in mine), key=latest
    )
    for event in reversed(events):
        if event.get("reason") == "SuccessfulCreate":
            return None
        if event.get("reason") == "FailedCreate":
            text = cause(event)
            return None if _QUOTA in text else failing(text, "FailedCreate")
    return None


def _refused(obj: Object, look: Look, *, have: int, desired: int) -> Verdict | None:
    if have >= desired:
        return None
    if (failure := met(obj, "ReplicaFailure")) is not None:
        return None if _QUOTA in reason_of(failure) else failing(reason_of(failure), "ReplicaFailure")
    return refused([metadata.uid(obj)], metadata.namespace(obj), look)


def _counts(obj: Object) -> tuple[int, int]:
    status = obj.get("status") or {}
    if "desiredNumberScheduled" in status or obj.get("kind") == kinds.DAEMON_SET.kind:
        return int(status.get("numberReady") or 0), int(status.get("desiredNumberScheduled") or 0)
    replicas = read(obj, "spec", "replicas")
    return int(status.get("readyReplicas") or 0), 1 if replicas is None else int(replicas)


def observed(obj: Object) -> bool:
    """Whether its controller has seen a workload as it is."""
    seen, made = read(obj, "status", "observedGeneration"), read(obj, "metadata", "generation")
    return made is None or seen == made


def judge_by_workloads(obj: Object, look: Look) -> Verdict:
    """Return what fails of the workloads of a custom resource without a rule of its own, else its own status."""
    outcome = operands(obj, look)
    return waiting(status_text(obj)) if outcome.state == "done" else outcome


def status_text(obj: Object) -> str:
    """Return an object's status, in one line: the good condition that is not met, else state or phase."""
    for kind, condition in conditions(obj).items():
        if kind in _GOOD and condition.get("status") != "True":
            return f"{kind} is {condition.get('status')}: {reason_of(condition)}"
    words = [str(word) for key in ("state", "phase", "reason") if (word := read(obj, "status", key))]
    return ": ".join(words) or "no status yet"
