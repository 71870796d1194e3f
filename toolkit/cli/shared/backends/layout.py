"""How a backend arranges its states: by project, or as Pulumi did before it had projects there, which it now refuses.

What Pulumi 3.276.0 does, tried on a folder and a bucket: `.pulumi/meta.yaml` has the number of the layout, of which 1
has the states in `.pulumi/stacks/PROJECT/STACK.json`. 0, or no such file beside `.pulumi/stacks/STACK.json`, is the
legacy layout: every command fails, `pulumi state upgrade` too. Beside version 1 it warns of such files and ignores
them, and `pulumi state upgrade` moves them. It writes the file into an empty backend.
"""

import re
from dataclasses import dataclass

import yaml

from core.yaml import text as yaml_text
from toolkit.cli.shared.backends.store import Store

META = ".pulumi/meta.yaml"
_STACKS = ".pulumi/stacks/"
_LEGACY = re.compile(r"(?P<stack>[A-Za-z0-9_.-]{1,100})\.(?:json|ya?ml)(?:\.gz|\.zst)?")
LAST_WITH_LEGACY = "3.274.1"
"""The last version of Pulumi that reads the legacy layout and upgrades it, as the engine's own message has it."""
CURRENT = 1


@dataclass(frozen=True)
class Layout:
    """The layout of a backend."""

    version: int | None
    """Of META; None where there is no such file, or it has no number."""
    legacy: tuple[str, ...]
    """Stacks of the legacy layout, sorted; copies that the engine made of them are none."""
    damaged: bool = False
    """Whether there is a META without a number."""

    @property
    def refused(self) -> bool:
        """Whether the engine fails on the backend, whatever it is to do."""
        if self.version is None:
            return self.damaged or bool(self.legacy)
        return self.version != CURRENT

    @property
    def is_legacy(self) -> bool:
        """Whether the backend as a whole has the legacy layout."""
        return self.version == 0 or (self.version is None and not self.damaged and bool(self.legacy))


def of(store: Store) -> Layout:
    """Return the layout of a backend; raise Problem where a bucket cannot be reached."""
    content = store.read(META)
    keys = (key.removeprefix(_STACKS) for key in store.keys(_STACKS))
    stacks = {match["stack"] for key in keys if "/" not in key and (match := _LEGACY.fullmatch(key))}
    version = None if content is None else _version(content)
    return Layout(version, tuple(sorted(stacks)), damaged=content is not None and version is None)


def _version(content: bytes) -> int | None:
    try:
        document = yaml_text.read(content.decode())
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError):
        return None
    version = document.get("version") if isinstance(document, dict) else None
    return version if isinstance(version, int) and not isinstance(version, bool) else None
