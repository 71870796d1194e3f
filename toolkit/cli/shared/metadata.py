"""Metadata, taints and owners of live objects; what an object does not have is empty."""

from collections.abc import Iterator, Mapping
from typing import Any

from components.base.scheduling import Taint
from core.apis import field_owners
from core.apis.names import KUBERNETES_TAINTS, MANAGED_BY, PART_OF
from policies.manifests.values import entries, read

PART = "app.kubernetes.io/part-of"
_MARKS = {
    "meta.helm.sh/release-name": "Helm release",
    "argocd.argoproj.io/tracking-id": "Argo CD application",
    "kustomize.toolkit.fluxcd.io/name": "Flux kustomization",
    "helm.toolkit.fluxcd.io/name": "Flux release",
    "argocd.argoproj.io/instance": "Argo CD application",
    "hypershift.openshift.io/managed": "HyperShift",
    "hypershift.openshift.io/managed-by": "HyperShift",
    "olm.owner": "operator",
}
"""Labels and annotations by which tools find what is theirs."""
_PULUMI = "pulumi-kubernetes"
_DEPLOYERS = ("helm", "argocd", "kustomize-controller", "helm-controller", "terraform", "ansible", "Terraform")


def name(obj: Mapping[str, Any]) -> str:
    """Return the name of an object."""
    return str(read(obj, "metadata", "name") or "")


def namespace(obj: Mapping[str, Any]) -> str:
    """Return the namespace of an object, empty for one of the whole cluster."""
    return str(read(obj, "metadata", "namespace") or "")


def path(obj: Mapping[str, Any]) -> str:
    """Return NAMESPACE/NAME of an object, NAME for one of the whole cluster."""
    return "/".join(part for part in (namespace(obj), name(obj)) if part)


def uid(obj: Mapping[str, Any]) -> str:
    """Return the identity of an object."""
    return str(read(obj, "metadata", "uid") or "")


def labels(obj: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the labels of an object."""
    entries: Mapping[str, str] = read(obj, "metadata", "labels") or {}
    return entries


def annotations(obj: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the annotations of an object."""
    entries: Mapping[str, str] = read(obj, "metadata", "annotations") or {}
    return entries


def owned_by(obj: Mapping[str, Any], owner: str) -> bool:
    """Whether an object belongs to the one with the UID `owner`."""
    return bool(owner) and any(
        reference.get("uid") == owner for reference in read(obj, "metadata", "ownerReferences") or ()
    )


def repelling(node: Mapping[str, Any]) -> Iterator[Taint]:
    """Yield the taints that keep pods off a node of the API, without those by which Kubernetes itself does."""
    for entry in entries(node, "spec", "taints"):
        fields: dict[str, Any] = {field: entry.get(field) or None for field in ("key", "value", "effect")}
        taint = Taint.model_construct(**fields)
        if taint.keeps_off and not str(taint.key).startswith(KUBERNETES_TAINTS):
            yield taint


def other_owners(live: Mapping[str, Any], manager: str) -> Iterator[str]:
    """Yield who else owns an object; `manager` is the name under which our stack would own its fields."""
    for owner in read(live, "metadata", "ownerReferences") or ():
        if isinstance(owner, Mapping):
            yield f"{owner.get('kind')} {owner.get('name')} owns it, and it goes with that"
    labels = read(live, "metadata", "labels") or {}
    by = labels.get(MANAGED_BY)
    if by and not (by == "pulumi" and labels.get(PART) == PART_OF):
        yield f"its label names {by} as its manager"
    yield from (f"{tool} has it" for tool in tools(live))
    yield from _managers(live, manager)


def tools(live: Mapping[str, Any]) -> Iterator[str]:
    """Yield the tools whose marks an object has, with the name of their unit: `Argo CD application gpus`."""
    marks = {**(read(live, "metadata", "labels") or {}), **(read(live, "metadata", "annotations") or {})}
    for key, tool in _MARKS.items():
        if (unit := marks.get(key)) is not None:
            yield tool if unit == "true" else f"{tool} {unit}"


def _managers(live: Mapping[str, Any], manager: str) -> Iterator[str]:
    names = {str(entry.get("manager") or "") for entry in field_owners.entries(live) if not entry.get("subresource")}
    for name in sorted(names - {manager}):
        if name.startswith(_PULUMI):
            yield f"another Pulumi stack wrote it ({name})"
        elif name.startswith(_DEPLOYERS):
            yield f"{name} wrote it"
