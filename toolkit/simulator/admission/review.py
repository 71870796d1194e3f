"""From an AdmissionReview to its answer: what OpenShift's SCC plugin says to the creation and the change of a pod.

Which requests it leaves alone, and that a change may not need anything filled in, is as in
openshift/apiserver-library-go, pkg/securitycontextconstraints/sccadmission.
"""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from policies.scc import REQUIRED_ANNOTATION, InvalidPod, Namespace, User, Verdict, admit
from policies.scc.defaults import ACCOUNT, defaulted_pod
from policies.scc.rbac import Rbac
from policies.scc.subjects import running_as
from toolkit.simulator import names

Operation = dict[str, Any]

Object = Mapping[str, Any]

PREDICTED = "toolkit.simulator.admission: a prediction of OpenShift's SCC plugin"
EPHEMERAL_CONTAINERS = "ephemeralContainers"

# Changes of an object's metadata that garbage collection makes; the plugin lets them pass.
_COLLECTED = ("ownerReferences", "finalizers", "managedFields", "resourceVersion", "generation")
_IGNORED_ANNOTATIONS = frozenset({"k8s.ovn.org/pod-networks"})
_FORBIDDEN = (403, "Forbidden")
_FAILED = (500, "InternalError")


@dataclass(frozen=True)
class Facts:
    """What is true of the cluster now: the pod's namespace, all SCCs, all RBAC that counts there."""

    namespace: Namespace
    sccs: Sequence[Object]
    rbac: Rbac


@dataclass(frozen=True)
class Answer:
    """The answer to one request: `scc` is None when the request is none of the plugin's business, or refused."""

    uid: str
    allowed: bool
    scc: str | None = None
    message: str = ""
    failed: bool = False
    """Whether it was refused because the question could not be answered."""
    changes: tuple[dict[str, Any], ...] = ()

    def review(self) -> dict[str, Any]:
        """Return it as an AdmissionReview."""
        response: dict[str, Any] = {"uid": self.uid, "allowed": self.allowed}
        if not self.allowed:
            code, reason = _FAILED if self.failed else _FORBIDDEN
            response["status"] = {"code": code, "reason": reason, "message": self.message}
        if self.changes:
            response["patchType"] = "JSONPatch"
            response["patch"] = base64.b64encode(json.dumps(self.changes).encode()).decode()
        return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}


def concerned(request: Object) -> bool:
    """Return whether the plugin reviews a request at all: not changes that do not touch what it decides about."""
    if request["operation"] == "CREATE":
        return True
    old, new = request["oldObject"], request["object"]
    return bool(old["spec"] != new["spec"] or _metadata(old) != _metadata(new))


def answer(request: Object, facts: Facts) -> Answer:
    """Answer a request that `concerned` let through."""
    uid = request["uid"]
    try:
        pod = defaulted_pod(request["object"])
        created = request["operation"] == "CREATE"
        verdict = _admit(pod, request, facts, facts.sccs) if created else _changed(pod, request, facts)
    except InvalidPod as error:
        return Answer(uid, allowed=False, message=f"{_forbidden(request['object'])}: {error}")
    if not verdict.admitted:
        return Answer(uid, allowed=False, message=verdict.message)
    if verdict.scc is None:
        return Answer(uid, allowed=True)
    metadata = verdict.pod["metadata"]
    annotations = {**metadata["annotations"], names.ADMITTED_BY: PREDICTED}
    filled = {**verdict.pod, "metadata": {**metadata, "annotations": annotations}}
    return Answer(uid, allowed=True, scc=verdict.scc, changes=tuple(patch(pod, filled)))


def _changed(pod: Object, request: Object, facts: Facts) -> Verdict:
    """Find an SCC that takes the changed pod as it is; ephemeral containers may be filled in when they are new."""
    old = request["oldObject"]
    if _annotations(pod).get(REQUIRED_ANNOTATION) != _annotations(old).get(REQUIRED_ANNOTATION):
        words = f"invalid change of required security context constraint annotation: {REQUIRED_ANNOTATION}"
        return Verdict(admitted=False, scc=None, pod=pod, reasons=(), message=f"{_forbidden(pod)}: {words}")
    free = {EPHEMERAL_CONTAINERS} if request.get("subResource") == EPHEMERAL_CONTAINERS.lower() else set()
    left = facts.sccs
    while True:
        verdict = _admit(pod, request, facts, left)
        if not verdict.admitted or verdict.scc is None or _same(pod["spec"], verdict.pod["spec"], free):
            return verdict
        left = [scc for scc in left if scc["metadata"]["name"] != verdict.scc]


def _admit(pod: Object, request: Object, facts: Facts, sccs: Sequence[Object]) -> Verdict:
    by = request["userInfo"]
    user = User(by.get("username", ""), tuple(by.get("groups") or ()))
    account = running_as(facts.namespace.name, pod["spec"].get(ACCOUNT, ""))  # a static pod of a kubelet has none
    scc_names = [scc["metadata"]["name"] for scc in sccs]
    own = facts.rbac.usable(account, facts.namespace.name, scc_names)
    users = facts.rbac.usable(user, facts.namespace.name, scc_names)
    return admit(pod, facts.namespace, user, sccs, own | users, usable_by_account=own)


def _same(before: Object, after: Object, free: set[str]) -> bool:
    return all(before.get(key) == after.get(key) for key in (before.keys() | after.keys()) - free)


def _metadata(pod: Object) -> dict[str, Any]:
    metadata = {key: value for key, value in pod["metadata"].items() if key not in _COLLECTED}
    shown = {key: text for key, text in _annotations(pod).items() if key not in _IGNORED_ANNOTATIONS}
    return {**metadata, "annotations": shown}


def _annotations(pod: Object) -> Object:
    return pod["metadata"].get("annotations") or {}


def _forbidden(pod: Object) -> str:
    return f'pods "{pod["metadata"].get("name") or pod["metadata"].get("generateName", "")}" is forbidden'


def patch(before: Any, after: Any, path: str = "") -> Iterator[Operation]:
    """Yield the operations that make `after` of `before`; lists of different lengths are replaced as a whole."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in before.keys() - after.keys():
            yield {"op": "remove", "path": f"{path}/{_escaped(key)}"}
        for key, value in after.items():
            below = f"{path}/{_escaped(key)}"
            if key not in before:
                yield {"op": "add", "path": below, "value": value}
            else:
                yield from patch(before[key], value, below)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from patch(old, new, f"{path}/{index}")
    elif before != after:
        yield {"op": "replace", "path": path, "value": after}


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
