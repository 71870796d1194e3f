"""A patch of a pod template put over it, as Kubernetes merges them: lists of named entries by entry."""

from collections.abc import Mapping
from typing import Any

from policies.values import Tree, is_mapping, read

_KEYS: Mapping[str, str] = {
    **dict.fromkeys(("containers", "initContainers", "ephemeralContainers", "volumes", "env"), "name"),
    **dict.fromkeys(("resourceClaims", "imagePullSecrets"), "name"),
    "volumeMounts": "mountPath",
    "volumeDevices": "devicePath",
    "ports": "containerPort",
    "hostAliases": "ip",
    "topologySpreadConstraints": "topologyKey",
}
"""What names the entries of a list; other lists are replaced."""


def merged(base: Tree, patch: Tree, field: str = "") -> Tree:
    """Return a tree with a patch of it; `field` is the name of the field that both are in. Neither is changed."""
    if is_mapping(base) and is_mapping(patch):
        result: dict[str, Any] = dict(base)
        for key, value in patch.items():
            if value is None:
                result.pop(key, None)
            else:
                result[key] = merged(base.get(key), value, key)
        return result
    if isinstance(base, list) and isinstance(patch, list) and field in _KEYS:
        return _by_name(base, patch, _KEYS[field])
    return patch


def _by_name(base: list[Tree], patch: list[Tree], key: str) -> list[Tree]:
    result = list(base)
    places = {name: index for index, entry in enumerate(base) if isinstance(name := read(entry, key), str | int)}
    for entry in patch:
        name = read(entry, key)
        index = places.get(name) if isinstance(name, str | int) else None
        if index is None:
            result.append(entry)
        else:
            result[index] = merged(result[index], entry)
    return result
