"""A stack as files for Argo CD: manifests with sync waves, its Application, and health checks (pure)."""

from collections.abc import Iterator, Mapping
from typing import Any

from core.apis import names
from toolkit.render.gitops.documents import annotated_manifest, argocd_page, dns_name, folder_of, text
from toolkit.render.gitops.health import by_kind, lua_script
from toolkit.render.gitops.waves import Member, Waves

MANAGER = "argocd"
NAMESPACE = "openshift-gitops"
"""Where OpenShift GitOps has its Argo CD."""
REPOSITORY = "https://git.example.com/platform.git"
"""What the Application names where the user has named none."""
_WAVE, _OPTIONS = "argocd.argoproj.io/sync-wave", "argocd.argoproj.io/sync-options"


def files(waves: Waves, stack: str, folder: str, repository: str | None) -> dict[str, str]:
    """Return the files' texts by name; `folder` is their folder in the repository."""
    written = {"README.md": argocd_page(waves, stack)}
    written["application.yaml"] = text(_application(waves, stack, folder, repository or REPOSITORY))
    written["health/argocd-cm.yaml"] = text(_config_map(waves))
    written["health/argocd.yaml"] = text(_custom_resource(waves))
    for number, members in enumerate(waves.members):
        for member in members:
            written[f"{folder_of(number)}/{member.file}"] = text(_manifest(member, number))
    return written


def _manifest(member: Member, number: int) -> dict[str, Any]:
    annotations = {_WAVE: str(number)}
    if options := [*_options(member)]:
        annotations[_OPTIONS] = ",".join(options)
    return annotated_manifest(member, MANAGER, annotations)


def _options(member: Member) -> Iterator[str]:
    if member.partial:
        yield from ("ServerSideApply=true", "Validate=false")
    if member.partial or member.kept:
        yield from ("Prune=false", "Delete=false")
    if member.job and not member.frozen:
        # kubectl's --force deletes and creates what cannot be changed; it knows no server-side apply.
        yield from ("ServerSideApply=false", "Force=true")


def _application(waves: Waves, stack: str, folder: str, repository: str) -> dict[str, Any]:
    frozen = [_ignored(member) for members in waves.members for member in members if member.frozen]
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"name": dns_name(f"hpc-{stack}"), "namespace": NAMESPACE},
        "spec": {
            "project": "default",
            "destination": {"server": "https://kubernetes.default.svc"},
            "source": {
                "repoURL": repository,
                "targetRevision": "HEAD",
                "path": f"{folder}/waves",
                "directory": {"recurse": True},
            },
            **({"ignoreDifferences": frozen} if frozen else {}),
            "syncPolicy": {
                "syncOptions": [
                    "ServerSideApply=true",
                    "RespectIgnoreDifferences=true",
                    "SkipDryRunOnMissingResource=true",
                    "PruneLast=true",
                ],
                "retry": {"limit": 20, "backoff": {"duration": "30s", "factor": 2, "maxDuration": "5m"}},
            },
        },
    }


def _ignored(member: Member) -> dict[str, Any]:
    """Return the fields of a job that stay as they are until it is deleted."""
    kind, namespace, name = member.identity
    group = member.manifest["apiVersion"].rpartition("/")[0]
    paths = ["/spec", f"/metadata/labels/{names.QUEUE_NAME.replace('/', '~1')}"]
    return {"group": group, "kind": kind, "namespace": namespace, "name": name, "jsonPointers": paths}


def _config_map(waves: Waves) -> dict[str, Any]:
    prefix = "resource.customizations.health."
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "argocd-cm", "namespace": "argocd"},
        "data": {
            prefix + (f"{health.group}_{health.kind}" if health.group else health.kind): lua_script(health)
            for health in by_kind(member for members in waves.members for member in members)
        },
    }


def _custom_resource(waves: Waves) -> Mapping[str, Any]:
    """Return the same for Argo CD's operator, which writes the ConfigMap."""
    checks = [
        {**({"group": health.group} if health.group else {}), "kind": health.kind, "check": lua_script(health)}
        for health in by_kind(member for members in waves.members for member in members)
    ]
    return {
        "apiVersion": "argoproj.io/v1beta1",
        "kind": "ArgoCD",
        "metadata": {"name": NAMESPACE, "namespace": NAMESPACE},
        "spec": {"resourceHealthChecks": checks},
    }
