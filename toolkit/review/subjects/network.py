"""Who may reach whose pods by NetworkPolicies."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from core.apis.kinds import NETWORK_POLICY
from core.apis.names import NAMESPACE_NAME
from policies.manifests.values import entries, read
from toolkit.review.indexed_review import IndexedReview
from toolkit.review.model import Change, Op, Resource
from toolkit.review.section import Line, Section, section
from toolkit.review.sentences import enumerated, name, shortened, title

_DIRECTIONS = (("ingress", "from"), ("egress", "to"))
_ANYBODY = "everywhere"


def find(indexed: IndexedReview) -> Section | None:
    """Report which namespaces open or close."""
    kept = {resource.namespace for resource in indexed.after.of(NETWORK_POLICY)}
    spaces = {resource.object_name for change in indexed.review.changes if (resource := _deleted_namespace(change))}
    lines = [
        line
        for change in indexed.changed(NETWORK_POLICY)
        if change.resource.namespace not in spaces
        for line in _lines(change, kept)
    ]
    return section("Network", lines, vital=True)


def _deleted_namespace(change: Change) -> Resource | None:
    resource = change.before
    return resource if change.op is Op.DELETE and resource and resource.type == "kubernetes:core/v1:Namespace" else None


def _lines(change: Change, kept: set[str]) -> Iterator[Line]:
    if change.after is None:
        if change.op is Op.FORGET:
            return
        space = name(change.resource.namespace)
        open_ = change.resource.namespace not in kept
        rest = "nothing else restricts who reaches its pods" if open_ else "others remain"
        yield Line(f"namespace {space} loses {title(change.resource)}: {rest}", alarm=open_)
        return
    after = _allowed(change.after)
    before = _allowed(change.before) if change.before else {}
    details = []
    wider = False
    for way, word in (("Ingress", "from"), ("Egress", "to")):
        old, new = before.get(way), after.get(way)
        if change.before is None and new is not None:
            details.append(f"traffic {word}: {enumerated(sorted(new), 8) or 'nowhere'} only")
        elif old != new and change.before is not None:
            more, less = (_ALL if side is None else side for side in (new, old))
            details += [f"now also {word} {enumerated(sorted(more - less), 8)}"] if more - less else []
            details += [f"no longer {word} {enumerated(sorted(less - more), 8)}"] if less - more else []
            wider |= bool(more - less)
    if change.before and _pods(change.before) != _pods(change.after):
        details.append(f"it is about {_pods(change.after)} (was about {_pods(change.before)})")
        wider = True
    if details:
        about = "closes" if change.before is None else "changes"
        text = f"{title(change.resource)} {about} {_pods(change.after)} of namespace {name(change.resource.namespace)}"
        yield Line(f"{text}: {'; '.join(details)}", alarm=wider)


_ALL = frozenset({_ANYBODY})


def _allowed(policy: Resource) -> dict[str, frozenset[str]]:
    spec: Any = read(policy.inputs, "spec")
    types = read(spec, "policyTypes")
    if not isinstance(types, list):
        types = ["Ingress", *(["Egress"] if read(spec, "egress") else [])]
    allowed = {}
    for way, (field, peers) in zip(("Ingress", "Egress"), _DIRECTIONS, strict=True):
        if way in types:
            allowed[way] = frozenset(peer for rule in entries(spec, field) for peer in _peers(rule, peers))
    return allowed


def _peers(rule: Any, field: str) -> Iterator[str]:
    ports = read(rule, "ports")
    at = f" at ports {name(shortened(_compact(ports), 80))}" if ports else ""
    if not read(rule, field):
        yield f"{_ANYBODY}{at}"
    for peer in entries(rule, field):
        yield f"{_peer(peer)}{at}"


def _peer(peer: Any) -> str:
    block = read(peer, "ipBlock", "cidr")
    if block is not None:
        return f"addresses {name(block)}"
    spaces, pods = read(peer, "namespaceSelector"), read(peer, "podSelector")
    selected = f"pods with {name(_compact(pods))}" if pods else "pods"
    if spaces is None:
        return f"{selected} of its own namespace"
    if not spaces:
        return f"{selected} of every namespace"
    label = read(spaces, "matchLabels", NAMESPACE_NAME)
    if label is not None and len(spaces) == 1:
        return f"{selected} of namespace {name(label)}"
    return f"{selected} of namespaces with {name(_compact(spaces))}"


def _pods(policy: Resource) -> str:
    selector = read(policy.inputs, "spec", "podSelector")
    return f"pods with {name(_compact(selector))}" if selector else "all pods"


def _compact(value: Any) -> str:
    labels = read(value, "matchLabels")
    if isinstance(labels, Mapping) and isinstance(value, Mapping) and len(value) == 1:
        return ", ".join(f"{key}={labels[key]}" for key in sorted(labels, key=str))
    return json.dumps(value, sort_keys=True, default=str)
