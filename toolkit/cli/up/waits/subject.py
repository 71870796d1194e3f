"""What the engine works on, from its events: the objects on the cluster that it waits for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.apis import kinds
from policies.manifests.values import read
from toolkit.cli.up.waits.verdict import Object, Verdict, failed, met, reason_of, waiting

_WAITED = frozenset({"create", "update", "create-replacement"})
_DELETED = frozenset({"delete", "delete-replaced"})
_JOBS = frozenset({("batch", "Job"), ("kubeflow.org", "MPIJob"), ("trainer.kubeflow.org", "TrainJob")})


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


def subject(step: Mapping[str, Any]) -> Subject | None:
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
