"""The copy of a stack's settings that the engine reads where it must not, or cannot, use the file itself.

The copy names the cluster, and takes what the engine writes: the salt of a passphrase, and secrets.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from core.files import write_atomically
from core.yaml import text as yaml_text
from stacks.loading.settings import KEY, PROJECT

SALT = "encryptionsalt"
KEY_MARKS = (SALT, "encryptedkey")
"""What changes with the key of the secrets."""
PROVIDER = "secretsprovider"
ENGINE_KEYS = (PROVIDER, *KEY_MARKS)
"""What the engine writes beside `config`, about how the secrets in it are encrypted."""
_SECURE = "secure"
_HEADER = "# A copy that ./hpc writes from {file}. Change that file; only secrets are stored here.\n"


def sealed(content: Any) -> bool:
    """Whether a settings file has secrets, or may: the engine has written into it how they are encrypted."""
    return isinstance(content, Mapping) and any(key in content for key in ENGINE_KEYS)


def read(file: Path) -> dict[str, Any]:
    """Return a settings file's content; nothing when it is not there, or was not written to its end."""
    try:
        content = yaml_text.read(file.read_text())
    except (FileNotFoundError, yaml.YAMLError, UnicodeDecodeError):
        return {}
    return content if isinstance(content, dict) else {}


def passed(file: Path) -> int:
    """Return how many bytes a program gets its configuration in: one variable of its environment, JSON within JSON."""
    config = read(file).get("config") or {}
    texts = {
        key: value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
        for key, value in config.items()
    }
    return len(f"PULUMI_CONFIG={json.dumps(texts, separators=(',', ':'))}")


def renew(file: Path, copy: Path, cluster: Mapping[str, str]) -> None:
    """Make `copy` follow `file`, with `cluster` over the settings' own; write only what has changed.

    A file without keys of encryption can have no secrets: the copy's, and their salt, are retained. Where the file
    has such keys, its secrets replace those of the copy.
    """
    before = read(copy)
    renewed = merged(read(file), {} if sealed(read(file)) else before)
    renewed["config"][f"{PROJECT}:{KEY}"].setdefault("cluster", {}).update(cluster)
    if renewed != before:
        write_atomically(copy, _HEADER.format(file=file.name) + yaml.safe_dump(renewed, sort_keys=False))


def merged(content: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Return a file's content with the secrets of an earlier copy, and how they are encrypted."""
    kept = {key: before[key] for key in ENGINE_KEYS if key in before}
    return {**content, "config": _over(content.get("config") or {}, _secrets(before.get("config")) or {}), **kept}


def _secrets(value: Any) -> Any:
    """Return the part of a configuration's value that is secret; None when nothing is."""
    if not isinstance(value, Mapping) or set(value) == {_SECURE}:
        return value if isinstance(value, Mapping) else None
    secrets = {key: secret for key, item in value.items() if (secret := _secrets(item)) is not None}
    return secrets or None


def _over(content: Any, secrets: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(content)
    for key, secret in secrets.items():
        own = result.get(key)
        if own is None:
            result[key] = secret
        elif isinstance(own, Mapping) and set(secret) != {_SECURE}:
            result[key] = _over(own, secret)
    return result
