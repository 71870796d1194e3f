"""Who else has a hand in an object: another Pulumi stack, an operator, a tool that deploys."""

from collections.abc import Iterator, Mapping
from typing import Any

from components.base.labels import MANAGED_BY, PART_OF
from core.apis import field_owners
from policies.manifests.values import read

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


def others(live: Mapping[str, Any], manager: str) -> Iterator[str]:
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
