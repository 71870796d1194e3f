"""Stacks as tests want them, and their states, as the engine leaves them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolkit.cli.shared.backends.backend import Backend, of_folder
from toolkit.cli.shared.stack import Stack


def on_real_cluster(stack: Stack, **settings: Any) -> Stack:
    """Return a stack that is on a real cluster, which the offline provider may write, with other settings of it."""
    return with_cluster(stack, **{"simulated": False, "offline_provider": True, **settings})


def with_cluster(stack: Stack, **settings: Any) -> Stack:
    """Return a stack with other settings of its cluster."""
    cluster = stack.settings.cluster.model_copy(update=settings)
    return replace(stack, settings=stack.settings.model_copy(update={"cluster": cluster}))


def write_state(stack: Stack, name: str, resources: Sequence[Any]) -> Path:
    """Write the state of the stack `name` on the cluster of `stack`, and return its file."""
    backend = stack.backend
    assert backend is not None
    file = stack.home / "pulumi" / backend.key(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"checkpoint": {"latest": {"resources": resources}}}))
    return file


def stored(folder: Path, latest: Mapping[str, Any] | None, tags: Mapping[str, str] | None = None) -> Backend:
    """Return the backend in a folder, with a state of stack dev and its tags written into it."""
    return store(folder, "dev", latest, tags)


def store(folder: Path, stack: str, latest: Mapping[str, Any] | None, tags: Mapping[str, str] | None = None) -> Backend:
    """Write the state of a stack and its tags into a folder, and return the backend there."""
    backend = of_folder(folder)
    files = {"json": {"checkpoint": {"latest": latest}}, "pulumi-tags": {"version": 1, "tags": tags or {}}}
    for ending, content in files.items():
        backend.store.write(f".pulumi/stacks/hpc/{stack}.{ending}", json.dumps(content).encode())
    return backend
