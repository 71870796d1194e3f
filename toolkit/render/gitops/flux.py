"""A stack as files for Flux: manifests, and a Kustomization for each wave, which depends on the one before (pure)."""

from typing import Any

from core.apis import kinds
from toolkit.render.gitops.documents import annotated_manifest, dns_name, flux_page, folder_of, text
from toolkit.render.gitops.health import KindHealth, by_kind, cel_expression, cel_failure, flux_checks
from toolkit.render.gitops.waves import Member, Waves

MANAGER = "flux"
NAMESPACE = SOURCE = "flux-system"
"""Where `flux bootstrap` puts its objects, and what it calls the GitRepository."""
_TOOLKIT = "kustomize.toolkit.fluxcd.io"
_SHORTEST = 300  # seconds for a wave that the program gives no time


def files(waves: Waves, stack: str, folder: str, source: str | None) -> dict[str, str]:
    """Return the files' texts by name; `folder` is their folder in the repository."""
    written = {"README.md": flux_page(waves, stack)}
    listed = [f"kustomizations/wave-{number:02}.yaml" for number in range(len(waves.members))]
    index = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": listed}
    written["kustomization.yaml"] = text(index)
    for number, members in enumerate(waves.members):
        written[listed[number]] = text(_kustomization(members, number, stack, folder, source or SOURCE))
        for member in members:
            written[f"{folder_of(number)}/{member.file}"] = text(
                annotated_manifest(member, MANAGER, _annotations(member))
            )
    return written


def _annotations(member: Member) -> dict[str, str]:
    annotations: dict[str, str] = {}
    if member.partial:
        annotations[f"{_TOOLKIT}/ssa"] = "Merge"
    if member.partial or member.kept:
        annotations[f"{_TOOLKIT}/prune"] = "disabled"
    if member.job:
        annotations |= {f"{_TOOLKIT}/ssa": "IfNotPresent"} if member.frozen else {f"{_TOOLKIT}/force": "enabled"}
    return annotations


def _name(stack: str, number: int) -> str:
    return dns_name(f"hpc-{stack}-{number:02}")


def _kustomization(members: tuple[Member, ...], number: int, stack: str, folder: str, source: str) -> dict[str, Any]:
    checked = [member for member in members if flux_checks(member)]
    rules = [_rule(health) for health in by_kind(checked) if health.kind != kinds.JOB.kind]
    seconds = max([_SHORTEST, *(member.timeout for member in checked)])
    return {
        "apiVersion": f"{_TOOLKIT}/v1",
        "kind": "Kustomization",
        "metadata": {"name": _name(stack, number), "namespace": NAMESPACE},
        "spec": {
            "interval": "10m",
            "retryInterval": "1m",
            "timeout": f"{seconds}s",
            "path": f"./{folder}/{folder_of(number)}",
            "prune": True,
            "sourceRef": {"kind": "GitRepository", "name": source},
            **({"dependsOn": [{"name": _name(stack, number - 1)}]} if number else {}),
            **({"healthChecks": [_reference(member) for member in checked]} if checked else {}),
            **({"healthCheckExprs": rules} if rules else {}),
        },
    }


def _reference(member: Member) -> dict[str, str]:
    kind, namespace, name = member.identity
    place = {"namespace": namespace} if namespace else {}
    return {"apiVersion": member.manifest["apiVersion"], "kind": kind, "name": name, **place}


def _rule(health: KindHealth) -> dict[str, str]:
    failed = cel_failure(health)
    return {
        "apiVersion": health.api_version,
        "kind": health.kind,
        "current": cel_expression(health),
        **({"failed": failed} if failed else {}),
    }
