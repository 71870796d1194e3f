"""What an update waits for, by the engine's events, and the verdict on it: done, waiting, failing or failed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from core.apis import kinds
from policies.manifests.values import read

Object = Mapping[str, Any]
State = Literal["done", "waiting", "failing", "failed"]
Look = Callable[..., Sequence[Object]]
"""List a kind, in a namespace if one is named: `look(kinds.POD, "adas")`. None where the user may not read them."""

_LONGEST = 600  # characters of an operator's message
RECOVERED = 15.0
"""Seconds that something must be better for, to count as recovered: a container that ends and is started again runs
for a moment in between. Longer than the first of the kubelet's pauses between restarts, 10 s, and than a round."""
_WAITED = frozenset({"create", "update", "create-replacement"})
_DELETED = frozenset({"delete", "delete-replaced"})
_JOBS = frozenset({("batch", "Job"), ("kubeflow.org", "MPIJob"), ("trainer.kubeflow.org", "TrainJob")})


@dataclass(frozen=True)
class Verdict:
    """How far an object is, and why, by its operator's own message.

    `failed` is final by the API's own semantics. `failing` is what an operator may recover from by itself: it counts
    as failed when it has lasted (`timeouts.failed_after` of the settings).
    """

    state: State
    message: str = ""
    key: str = ""
    """What stays the same while the message changes, as a counter of restarts does."""
    pod: Object | None = None
    """The pod that fails, if one does, and its container."""
    container: str = ""

    def about(self, what: str) -> "Verdict":
        """Return the verdict with `what` ahead of its message."""
        return replace(self, message=f"{what}: {self.message}" if self.message else what, key=f"{what} {self.key}")

    @property
    def bad(self) -> bool:
        """Whether it is a failure, lasting or not."""
        return self.state in ("failing", "failed")


DONE = Verdict("done")
Judge = Callable[[Object, Look], Verdict]
"""From a live object, and what can be listed around it, to its verdict; pure."""


@dataclass(frozen=True)
class Rule:
    """How the objects of some kinds are judged: kinds of a group, whatever their version."""

    group: str
    kinds: tuple[str, ...]
    judge: Judge


def waiting(message: str) -> Verdict:
    """Return that an object is alive and not done."""
    return Verdict("waiting", short(message))


def failing(message: str, key: str = "", pod: Object | None = None, container: str = "") -> Verdict:
    """Return a failure that counts when it lasts; `key` names it while its message changes."""
    return Verdict("failing", short(message), key or short(message), pod, container)


def failed(message: str, pod: Object | None = None, container: str = "") -> Verdict:
    """Return a failure that is final."""
    return Verdict("failed", short(message), short(message), pod, container)


def short(message: str) -> str:
    """Return an operator's message without its length getting out of hand."""
    text = message.strip()
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


def conditions(obj: Object) -> dict[str, Object]:
    """Return the status conditions by type."""
    reported = read(obj, "status", "conditions")
    return (
        {str(condition.get("type")): condition for condition in reported if isinstance(condition, Mapping)}
        if isinstance(reported, list)
        else {}
    )


def met(obj: Object, kind: str) -> Object | None:
    """Return a status condition that is True, or None; one of an earlier generation of the object does not count."""
    condition = conditions(obj).get(kind)
    if not condition or condition.get("status") != "True":
        return None
    seen, made = condition.get("observedGeneration"), read(obj, "metadata", "generation")
    return None if isinstance(seen, int) and isinstance(made, int) and seen < made else condition


def reason_of(condition: Object) -> str:
    """Return reason and message of a condition: `ConstraintsNotSatisfiable: no operators found in ...`."""
    parts = (str(condition.get(key) or "").strip() for key in ("reason", "message"))
    return ": ".join(part for part in parts if part) or str(condition.get("type"))


@dataclass
class FailureDuration:
    """The verdicts on one object, as they came."""

    failed_after: float
    """Seconds that a failure must last which its operator may recover from."""
    _key: str = ""
    _since: float = 0.0
    _better: float | None = None
    """When it was better for the first time since it failed last."""

    def take(self, verdict: Verdict, now: float) -> bool:
        """Take the verdict of `now`, in seconds; return whether it ends the update."""
        if verdict.state == "failed":
            return True
        if verdict.state != "failing":
            self._better = now if self._better is None else self._better
            return False
        recovered = self._better is not None and now - self._better > RECOVERED
        if verdict.key != self._key or recovered:
            self._key, self._since = verdict.key, now
        self._better = None
        return now - self._since >= self.failed_after


@dataclass(frozen=True)
class Subject:
    """One object that the engine waits for: to be ready or, if `deleted`, to be gone."""

    api_version: str
    kind: str
    namespace: str
    name: str
    deleted: bool = False

    @property
    def group(self) -> str:
        """API group, empty for the core one."""
        return self.api_version.rpartition("/")[0]

    def __str__(self) -> str:
        """Return kind and name: `Subscription openshift-nfd/nfd`."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


def subject_of(step: Mapping[str, Any]) -> Subject | None:
    """Return the object of a step of the engine, None for what is not an object or is not waited for."""
    deleted = step.get("op") in _DELETED
    if not (deleted or step.get("op") in _WAITED) or not str(step.get("type", "")).startswith("kubernetes:"):
        return None
    state = step.get("old") if deleted else step.get("new")
    inputs = (state or {}).get("inputs") or {}
    name = read(inputs, "metadata", "name") or read(state, "outputs", "metadata", "name")
    if not isinstance(name, str) or not isinstance(inputs.get("apiVersion"), str):
        return None
    version, kind, namespace = inputs["apiVersion"], str(inputs.get("kind")), read(inputs, "metadata", "namespace")
    api_kind = kinds.find(version, kind)
    if not isinstance(namespace, str) or (api_kind is not None and api_kind.scope == "Cluster"):
        namespace = ""  # the official provider writes one where it does not know the kind
    return Subject(version, kind, namespace, name, deleted)


def failed_job(step: Mapping[str, Any], of: Subject) -> Verdict | None:
    """Return the failure of a job that the engine has followed to its end: for the engine it is done like any other."""
    outputs = (step.get("new") or {}).get("outputs") or {}
    condition = met(outputs, "Failed") if (of.group, of.kind) in _JOBS else None
    return failed(reason_of(condition)) if condition else None


def going(obj: Object) -> Verdict:
    """Return why an object that is being deleted is still there."""
    finalizers = read(obj, "metadata", "finalizers") or ()
    messages = [
        str(condition.get("message"))
        for condition in read(obj, "status", "conditions") or ()
        if obj.get("kind") == "Namespace" and condition.get("status") == "True"
    ]
    why = [f"finalizers {', '.join(finalizers)}"] if finalizers else []
    return waiting("; ".join(["is being deleted", *why, *messages]))
