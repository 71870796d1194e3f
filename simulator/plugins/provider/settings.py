"""The provider's own configuration (class `kubernetes.Provider` of the SDK), and which cluster it means."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from simulator.plugins.provider.values import Properties, Unknown, any_value, has_unknown, plain

_ENVIRONMENT = {
    "kubeconfig": "KUBECONFIG",
    "deleteUnreachable": "PULUMI_K8S_DELETE_UNREACHABLE",
    "skipUpdateUnreachable": "PULUMI_K8S_SKIP_UPDATE_UNREACHABLE",
    "enableConfigMapMutable": "PULUMI_K8S_ENABLE_CONFIGMAP_MUTABLE",
    "enableSecretMutable": "PULUMI_K8S_ENABLE_SECRET_MUTABLE",
    "enablePatchForce": "PULUMI_K8S_ENABLE_PATCH_FORCE",
    "clusterIdentifier": "PULUMI_K8S_CLUSTER_IDENTIFIER",
}
_UNSUPPORTED = {"renderYamlToDirectory", "alwaysRender"}


class BadSettingsError(Exception):
    """The provider's configuration cannot be used; the text names the setting and the remedy."""


@dataclass(frozen=True)
class ProviderSettings:
    """What Configure is given. `kubeconfig` is a path or the content of one; empty means the usual places."""

    kubeconfig: str = ""
    context: str = ""
    cluster: str = ""
    namespace: str = ""
    cluster_identifier: str = ""
    upsert_existing_objects: bool = False
    skip_update_unreachable: bool = False
    delete_unreachable: bool = False
    patch_force: bool = False
    mutable_kinds: frozenset[str] = frozenset()
    server_side_apply: bool = True
    known: bool = True


def settings_of(arguments: Properties) -> ProviderSettings:
    """Return the settings in the arguments of Configure (booleans may come as text), completed from the environment.

    Raises BadSettingsError for what only the official provider can do.
    """
    values = {key: os.environ[name] for key, name in _ENVIRONMENT.items() if os.environ.get(name)}
    values |= {key: value for key, value in plain(arguments).items() if value not in (None, "")}
    for key in _UNSUPPORTED & set(values):
        raise BadSettingsError(
            f"{key} is not supported by the offline Kubernetes provider; use ./hpc render, or the official provider"
        )
    mutable = {"ConfigMap": "enableConfigMapMutable", "Secret": "enableSecretMutable"}
    return ProviderSettings(
        kubeconfig=_text(values.get("kubeconfig", "")),
        context=_text(values.get("context", "")),
        cluster=_text(values.get("cluster", "")),
        namespace=_text(values.get("namespace", "")),
        cluster_identifier=_text(values.get("clusterIdentifier", "")),
        upsert_existing_objects=_truth(values, "upsertExistingObjects"),
        skip_update_unreachable=_truth(values, "skipUpdateUnreachable"),
        delete_unreachable=_truth(values, "deleteUnreachable"),
        patch_force=_truth(values, "enablePatchForce"),
        mutable_kinds=frozenset(kind for kind, key in mutable.items() if _truth(values, key)),
        server_side_apply=_truth(values, "enableServerSideApply", default=True),
        known=not has_unknown(arguments),
    )


def _truth(values: Properties, key: str, *, default: bool = False) -> bool:
    value = values.get(key, default)
    return value is True or str(value).lower() == "true"


def _text(value: Any) -> str:
    if isinstance(value, Unknown):
        return ""
    return json.dumps(value) if isinstance(value, dict) else str(value)


def kubeconfig_content(kubeconfig: str) -> tuple[dict[str, Any], Path | None]:
    """Return the content of a kubeconfig given as text, path, or not at all, and the file it came from.

    An empty dict means that there is none (the client may then be inside a cluster). Raises BadSettingsError.
    """
    text, path = kubeconfig, None
    if "\n" not in kubeconfig and not kubeconfig.lstrip().startswith("{"):
        path = Path(kubeconfig.split(os.pathsep, 1)[0] if kubeconfig else "~/.kube/config").expanduser()
        if not path.exists():
            if kubeconfig:
                raise BadSettingsError(f"kubeconfig {str(path)!r} does not exist")
            return {}, None
        text = path.read_text()
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise BadSettingsError(f"kubeconfig {path or '(given as text)'} is not YAML: {error}") from error
    if not isinstance(content, dict):
        raise BadSettingsError(f"kubeconfig {path or '(given as text)'} is not a kubeconfig")
    return content, path


def active_cluster(arguments: Properties) -> Any:
    """Return the cluster entry that the arguments select; used to tell whether another cluster is meant."""
    if any_value(arguments, lambda value: isinstance(value, Unknown)):
        return None
    settings = settings_of(arguments)
    try:
        content, _ = kubeconfig_content(settings.kubeconfig)
    except BadSettingsError:
        return None
    context = settings.context or content.get("current-context", "")
    contexts = {item["name"]: item.get("context") or {} for item in content.get("contexts") or []}
    cluster = settings.cluster or contexts.get(context, {}).get("cluster")
    clusters = {item["name"]: item.get("cluster") for item in content.get("clusters") or []}
    return clusters.get(cluster)


def means_another_cluster(old: Properties, new: Properties) -> bool:
    """Whether new provider arguments mean another cluster, so that everything on it must be made anew.

    With a clusterIdentifier on both sides only that counts; without, the cluster entry of the kubeconfig.
    """
    before, after = plain(old).get("clusterIdentifier"), plain(new).get("clusterIdentifier")
    if before and after:
        return bool(before != after)
    clusters = active_cluster(old), active_cluster(new)
    return None not in clusters and clusters[0] != clusters[1]
