"""What is stored of a stack's state: versions of the object, a checkpoint of each update, the copy beside it."""

import json
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from toolkit.cli.shared.backends.backend import Backend, unpacked
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.paths import PROJECT

VERSION, UPDATE, COPY = "version", "update", "copy"
_CHECKPOINT = re.compile(r"-(?P<stamp>\d{10,})\.checkpoint\.json(\.gz)?$")
_AT_ONCE = 8


@dataclass(frozen=True)
class Kept:
    """One state that can be had; `id` is what `--version` takes."""

    id: str
    kind: str
    key: str
    modified: float
    """Seconds since 1970."""
    size: int | None = None
    """Bytes as they are stored, packed or not."""
    latest: bool = False
    removed: bool = False
    """Whether this is the note that the state was removed."""


def kept(backend: Backend, stack: str) -> tuple[Kept, ...]:
    """Return all that is stored of a stack's state, newest first; versions only where the store retains them."""
    states = [
        Kept(
            version.id,
            VERSION,
            key,
            version.modified,
            version.size,
            version.latest and key == backend.key(stack),
            version.removed,
        )
        for key in backend.candidates(stack)
        for version in backend.store.versions(key)
        if version.id != "null" or not version.latest
    ]
    for key in backend.store.keys(f".pulumi/history/{PROJECT}/{stack}/"):
        if match := _CHECKPOINT.search(key):
            states.append(Kept(match["stamp"], UPDATE, key, int(match["stamp"]) / 10 ** (len(match["stamp"]) - 10)))
    for key in backend.candidates(stack):
        copy = f"{key}.bak"
        if (modified := backend.store.modified(copy)) is not None:
            states.append(Kept("copy" if copy.endswith(".json.bak") else "copy.gz", COPY, copy, modified))
    return tuple(sorted(states, key=lambda state: (state.latest, state.modified), reverse=True))


def read(backend: Backend, state: Kept) -> dict[str, Any] | None:
    """Return the deployment of one that is stored; None where it is gone, or cannot be read."""
    store = backend.store
    content = store.read_version(state.key, state.id) if state.kind == VERSION else store.read(state.key)
    return deployment(unpacked(content)) if content is not None else None


def read_all(backend: Backend, chosen: tuple[Kept, ...]) -> list[dict[str, Any] | None]:
    """Return the deployments of many, several at once: each is megabytes away."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(lambda state: None if state.removed else read(backend, state), chosen))


def find(backend: Backend, stack: str, version: str) -> Kept:
    """Return the one of an id; raise Problem when there is none, or it is the note of a removal."""
    for state in kept(backend, stack):
        if state.id == version and not state.removed:
            return state
    raise Problem(
        f"there is no version {version} of the state of stack {stack}",
        f"`./hpc state list --stack {stack}` shows them.",
    )


def deployment(content: bytes) -> dict[str, Any] | None:
    """Return the deployment in a checkpoint or in an export; None where there is none to be read."""
    try:
        document = json.loads(content)
    except ValueError:
        return None
    if not isinstance(document, Mapping):
        return None
    latest = document["deployment"] if "deployment" in document else (document.get("checkpoint") or {}).get("latest")
    return dict(latest) if isinstance(latest, Mapping) else None


def resources(content: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Return the resources of a deployment, as many as there are."""
    return list((content or {}).get("resources") or [])
