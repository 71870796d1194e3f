"""Which namespace an object is in, and what that says of its pods' nodes."""

import json
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import Field

from core.apis.kinds import NAMESPACE, find
from core.apis.names import PROJECT_NODE_SELECTOR
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pods import Pod
from policies.manifests.values import brief
from policies.rule import ALL_KINDS, Parameters, Rule, Severity
from policies.views.tenants import Tenancy

_LISTED = 10
_NAME_LENGTH = 63
"""Characters of a namespace's name."""


class KnownNamespace(Tenancy):
    """The namespaces that exist beside those among the objects."""

    tenants: tuple[str, ...] = Field(
        default=(), description="namespaces of the tenants; none means that they are unknown and nothing is checked"
    )


def _known_namespace(subject: Obj, inventory: Inventory, parameters: KnownNamespace) -> Iterator[Violation]:
    if not parameters.tenants or parameters.excepts(subject) or _is_clusters(subject):
        return
    place = ("metadata", "namespace")
    namespace = subject.read(*place)
    if not isinstance(namespace, str) or not namespace or namespace in parameters.tenants:
        return
    if inventory.get(NAMESPACE, namespace) is None:
        close = get_close_matches(namespace[:_NAME_LENGTH], parameters.tenants, n=1)
        hint = f": did you mean {close[0]}?" if close else ""
        tenants = ", ".join(parameters.tenants[:_LISTED])
        yield subject.violation(
            f"namespace {brief(namespace)} is not a tenant of the stack{hint} (tenants: {tenants})", *place
        )


def _is_clusters(subject: Obj) -> bool:
    """Return whether objects of a kind have no namespace; Pulumi's provider gives them `default` all the same."""
    kind = find(subject.api_version, subject.kind)
    return kind is not None and kind.scope == "Cluster"


KNOWN_NAMESPACE = Rule(
    name="known-namespace",
    what="Every object is in the namespace of a tenant, of the infrastructure, or in one that is among the objects.",
    why='Only the cluster refuses a misspelt namespace: namespaces "langauge" not found. Until then its quotas, '
    "accounts and claims cannot be verified, so most other rules report nothing about the object.",
    remedy="Correct the namespace, add the tenant to the stack's settings, or include the Namespace's file in the "
    "check",
    source="kubernetes.io/docs/concepts/overview/working-with-objects/namespaces",
    severity=Severity.MANDATORY,
    parameters=KnownNamespace,
    examine=_known_namespace,
    kinds=ALL_KINDS,
    links=True,
)


_SELECTORS = (PROJECT_NODE_SELECTOR, "scheduler.alpha.kubernetes.io/node-selector")
_DEFAULT = "scheduler.alpha.kubernetes.io/defaultTolerations"
_ALLOWED = "scheduler.alpha.kubernetes.io/tolerationsWhitelist"
_KEYS = frozenset({*_SELECTORS, _DEFAULT, _ALLOWED})
_LONGEST, _MOST = 1 << 14, 64
_Toleration = Mapping[str, Any]


def _namespace_placement(subject: Obj, inventory: Inventory, _: Parameters) -> Iterator[Violation]:
    notes = inventory.once(_placement_annotations).get(subject.namespace)
    if notes is not None:
        for pod in subject.pods:
            yield from _selector(pod, subject.namespace, notes)
            yield from _tolerations(pod, subject.namespace, notes)


def _placement_annotations(inventory: Inventory) -> Mapping[str, Mapping[str, Any]]:
    every = {namespace.name: namespace.mapping("metadata", "annotations") for namespace in inventory.of(NAMESPACE)}
    return {name: notes for name, notes in every.items() if not _KEYS.isdisjoint(notes)}


def _selector(pod: Pod, namespace: str, notes: Mapping[str, Any]) -> Iterator[Violation]:
    selector = pod.mapping("nodeSelector")
    for key in _SELECTORS:
        annotation = notes.get(key)
        for part in annotation[:_LONGEST].split(",") if isinstance(annotation, str) else ():
            label, _, value = (piece.strip() for piece in part.partition("="))
            if isinstance(selected := selector.get(label), str) and selected != value:
                message = (
                    f"selects nodes with {label}={selected[:80]}, and namespace {namespace} those with {value[:80]!r}"
                )
                yield pod.violation(message, "nodeSelector", label)


def _tolerations(pod: Pod, namespace: str, notes: Mapping[str, Any]) -> Iterator[Violation]:
    added, allowed = (_read(notes.get(key)) for key in (_DEFAULT, _ALLOWED))
    for key, tolerations in ((_DEFAULT, added), (_ALLOWED, allowed)):
        if tolerations is None:
            yield pod.violation(f"is refused, since {key} of namespace {namespace} is no list of tolerations in JSON")
    if not added and not allowed:
        return
    tolerated = [(index, entry) for index, entry in enumerate(pod.entries("tolerations")) if isinstance(entry, Mapping)]
    for index, entry in tolerated if allowed else ():
        if not any(_covers(allowance, entry) for allowance in allowed or ()):
            taint = str(entry.get("key") or "every taint")[:200]
            message = f"tolerates {taint}, which the tolerations that namespace {namespace} allows do not include"
            yield pod.violation(message, "tolerations", index)


def _read(annotation: object) -> list[_Toleration] | None:
    """Return tolerations of an annotation; None where it holds something else."""
    if not isinstance(annotation, str) or not annotation:
        return []
    try:
        content = json.loads(annotation[:_LONGEST])
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, list) or not all(isinstance(entry, dict) for entry in content):
        return None
    return [{str(key).lower(): value for key, value in entry.items()} for entry in content[:_MOST]]


def _covers(allowed: _Toleration, toleration: _Toleration) -> bool:
    """Return whether an allowed toleration (its keys in small letters, as Go reads them) includes another one."""
    every = allowed.get("operator") == "Exists"
    key, effect = allowed.get("key") or "", allowed.get("effect") or ""
    if not (key == (toleration.get("key") or "") or (every and not key)):
        return False
    if effect and effect != toleration.get("effect"):
        return False
    same = toleration.get("operator") != "Exists" and (allowed.get("value") or "") == (toleration.get("value") or "")
    return every or same


NAMESPACE_PLACEMENT = Rule(
    name="namespace-placement",
    what="nodeSelector and tolerations of a pod agree with the node selector of its namespace and with the tolerations "
    "that the namespace allows.",
    why="Admission adds the namespace's selector and default tolerations to every pod, and refuses one that says "
    "otherwise: `pod node label selector conflicts with its project node label selector`, `pod tolerations (possibly "
    "merged with namespace default tolerations) conflict with its namespace whitelist`. Only an event of the job "
    "shows it.",
    remedy="Select what the namespace selects, or leave it out; tolerate what it allows; or change the namespace's "
    "annotation",
    source="kubernetes.io/docs/reference/access-authn-authz/admission-controllers, PodNodeSelector and "
    "PodTolerationRestriction",
    severity=Severity.MANDATORY,
    examine=_namespace_placement,
    links=True,
)
