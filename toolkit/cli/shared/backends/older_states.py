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
    found = [
        Kept(one.id, VERSION, key, one.modified, one.size, one.latest and key == backend.key(stack), one.removed)
        for key in backend.candidates(stack)
        for one in backend.store.versions(key)
        if one.id != "null" or not one.latest
    ]
    for key in backend.store.keys(f".pulumi/history/{PROJECT}/{stack}/"):
        if match := _CHECKPOINT.search(key):
            found.append(Kept(match["stamp"], UPDATE, key, int(match["stamp"]) / 10 ** (len(match["stamp"]) - 10)))
    for key in backend.candidates(stack):
        copy = f"{key}.bak"
        if (modified := backend.store.modified(copy)) is not None:
            found.append(Kept("copy" if copy.endswith(".json.bak") else "copy.gz", COPY, copy, modified))
    return tuple(sorted(found, key=lambda one: (one.latest, one.modified), reverse=True))


def read(backend: Backend, one: Kept) -> dict[str, Any] | None:
    """Return the deployment of one that is stored; None where it is gone, or cannot be read."""
    store = backend.store
    content = store.read_version(one.key, one.id) if one.kind == VERSION else store.read(one.key)
    return deployment(unpacked(content)) if content is not None else None


def read_all(backend: Backend, chosen: tuple[Kept, ...]) -> list[dict[str, Any] | None]:
    """Return the deployments of many, several at once: each is megabytes away."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(lambda one: None if one.removed else read(backend, one), chosen))


def find(backend: Backend, stack: str, wanted: str) -> Kept:
    """Return the one of an id; raise Problem when there is none, or it is the note of a removal."""
    for one in kept(backend, stack):
        if one.id == wanted and not one.removed:
            return one
    raise Problem(
        f"there is no version {wanted} of the state of stack {stack}",
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
    found = document["deployment"] if "deployment" in document else (document.get("checkpoint") or {}).get("latest")
    return dict(found) if isinstance(found, Mapping) else None


def resources(found: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Return the resources of a deployment, as many as there are."""
    return list((found or {}).get("resources") or [])
