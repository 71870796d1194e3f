"""The provider's own configuration (class `kubernetes.Provider` of the SDK), and which cluster it means."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from core.yaml import text as yaml_text
from toolkit.engine.prediction.values import Properties, Unknown, has_unknown, plain

_ENVIRONMENT = {
    "kubeconfig": "KUBECONFIG",
    "deleteUnreachable": "PULUMI_K8S_DELETE_UNREACHABLE",
    "skipUpdateUnreachable": "PULUMI_K8S_SKIP_UPDATE_UNREACHABLE",
    "enableConfigMapMutable": "PULUMI_K8S_ENABLE_CONFIGMAP_MUTABLE",
    "enableSecretMutable": "PULUMI_K8S_ENABLE_SECRET_MUTABLE",
    "enablePatchForce": "PULUMI_K8S_ENABLE_PATCH_FORCE",
}
_UNSUPPORTED = {"renderYamlToDirectory", "alwaysRender"}
_CLUSTER_SETTINGS = ("kubeconfig", "context", "cluster")


class BadSettingsError(Exception):
    """The provider's configuration cannot be used; the text names the setting and the remedy."""


@dataclass(frozen=True)
class ProviderSettings:
    """What Configure is given. `kubeconfig` is a path or the content of one; empty means the usual places."""

    kubeconfig: str = ""
    context: str = ""
    cluster: str = ""
    namespace: str = ""
    upsert_existing_objects: bool = False
    skip_update_unreachable: bool = False
    delete_unreachable: bool = False
    patch_force: bool = False
    mutable_kinds: frozenset[str] = frozenset()
    determined: bool = True


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
        upsert_existing_objects=_boolean(values, "upsertExistingObjects"),
        skip_update_unreachable=_boolean(values, "skipUpdateUnreachable"),
        delete_unreachable=_boolean(values, "deleteUnreachable"),
        patch_force=_boolean(values, "enablePatchForce"),
        mutable_kinds=frozenset(kind for kind, key in mutable.items() if _boolean(values, key)),
        determined=not has_unknown(arguments),
    )


def _boolean(values: Properties, key: str) -> bool:
    value = values.get(key)
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
        content = yaml_text.read(text)
    except yaml.YAMLError as error:
        raise BadSettingsError(f"kubeconfig {path or '(given as text)'} is not YAML: {error}") from error
    if not isinstance(content, dict):
        raise BadSettingsError(f"kubeconfig {path or '(given as text)'} is not a kubeconfig")
    return content, path


def active_cluster(arguments: Properties) -> Any:
    """Return the cluster entry that the arguments select, None where there is none. Raises BadSettingsError."""
    kubeconfig = arguments.get("kubeconfig")
    if not kubeconfig or isinstance(kubeconfig, Unknown):
        return None
    content, _ = kubeconfig_content(_text(kubeconfig))
    contexts = {item["name"]: item.get("context") or {} for item in content.get("contexts") or []}
    selected = contexts.get(arguments.get("context") or content.get("current-context", ""))
    if selected is None:
        return None
    clusters = {item["name"]: item.get("cluster") for item in content.get("clusters") or []}
    return clusters.get(arguments.get("cluster") or selected.get("cluster"))


def settings_difference(old: Properties, new: Properties) -> tuple[list[str], list[str]]:
    """Return which settings differ, and which of them mean another cluster, so that everything on it is recreated.

    With an unchanged clusterIdentifier nothing is; a changed one always means another cluster. Raises BadSettingsError.
    """
    changed = sorted(key for key in {*old, *new} if old.get(key) != new.get(key))
    before, after = old.get("clusterIdentifier"), new.get("clusterIdentifier")
    replaced = ["clusterIdentifier"] if before and after and before != after else []
    unknown = [key for key in _CLUSTER_SETTINGS if isinstance(new.get(key), Unknown)]
    if unknown:
        changed, replaced = unknown[:1], [*replaced, unknown[0]]
    else:
        clusters = active_cluster(old), active_cluster(new)
        if None not in clusters and clusters[0] != clusters[1]:
            replaced += [key for key in _CLUSTER_SETTINGS if key in changed]
    return changed, [] if after and before == after else replaced


def unusable_settings(values: Properties) -> list[tuple[str, str]]:
    """Return settings that cannot be used, or not together, each with the reason."""
    failures = [
        (name, f'strict mode requires Provider "{name}" argument')
        for name in ("kubeconfig", "context")
        if str(values.get("strictMode")).lower() == "true" and not values.get(name)
    ]
    rendering = bool(values.get("renderYamlToDirectory"))
    failures += [
        (name, f'"{name}" arg is not compatible with "renderYamlToDirectory" arg')
        for name in ("cluster", "context", "kubeconfig")
        if rendering and values.get(name)
    ]
    if _boolean(values, "alwaysRender") and not rendering:
        failures.append(("alwaysRender", '"alwaysRender" requires "renderYamlToDirectory" to be set'))
    return failures
