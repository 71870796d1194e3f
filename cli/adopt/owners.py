"""Who else has a hand in an object: another Pulumi stack, an operator, a tool that deploys."""

from collections.abc import Iterator, Mapping
from typing import Any

from cli.shared.recorded_inputs import read_entries
from components.labels import MANAGED_BY, PART_OF
from policies.values import read

_PART = "app.kubernetes.io/part-of"
_MARKS = {
    "meta.helm.sh/release-name": "Helm release",
    "argocd.argoproj.io/tracking-id": "Argo CD application",
    "kustomize.toolkit.fluxcd.io/name": "Flux kustomization",
    "helm.toolkit.fluxcd.io/name": "Flux release",
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
    annotations = read(live, "metadata", "annotations") or {}
    by = labels.get(MANAGED_BY)
    if by and not (by == "pulumi" and labels.get(_PART) == PART_OF):
        yield f"its label names {by} as its manager"
    for key, what in _MARKS.items():
        if (value := {**labels, **annotations}.get(key)) is not None:
            yield f"{what} {value} has it"
    yield from _managers(live, manager)


def _managers(live: Mapping[str, Any], manager: str) -> Iterator[str]:
    names = {str(entry.get("manager") or "") for entry in read_entries(live) if not entry.get("subresource")}
    for name in sorted(names - {manager}):
        if name.startswith(_PULUMI):
            yield f"another Pulumi stack wrote it ({name})"
        elif name.startswith(_DEPLOYERS):
            yield f"{name} wrote it"
