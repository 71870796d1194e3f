"""The state of a stack, read through the engine, changed, and written back: only over the state that was read.

`pulumi stack import` (3.250) takes an older state over a newer one and says nothing. It takes the engine's lock, so
that an update that runs meanwhile is safe; one that came and went is found here, by a look before the import.
"""

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cli.backends.backend import Backend
from cli.engine import Engine
from cli.errors import Problem

Document = dict[str, Any]
"""What the engine exports: `version`, `deployment`. Secrets in it stay encrypted."""


@dataclass(frozen=True)
class Checkpoint:
    """A state as it was read, with what tells later whether it is still that one."""

    document: Document
    content: bytes | None
    """As the backend had it; None where only the engine can read it."""


def export(engine: Engine) -> Document:
    """Return what the engine exports of its stack, to look at; what is to be written back comes from `read`."""
    found: Document = json.loads(engine.call("stack", "export", "--stack", engine.stack))
    return found


def read(engine: Engine, backend: Backend | None) -> Checkpoint:
    """Return the state of the engine's stack; `backend` is None where it cannot be read here (Pulumi Cloud)."""
    content = _content(engine, backend)  # first: what changes in between is then found, and not overwritten
    return Checkpoint(export(engine), content)


def write(engine: Engine, backend: Backend | None, before: Checkpoint, document: Mapping[str, Any]) -> None:
    """Write a state through the engine: it takes its lock, checks the state and keeps the older one.

    Raises Problem when the state is not the one of `before` any more, or the engine does not take the new one.
    """
    now = export(engine) == before.document if backend is None else _content(engine, backend) == before.content
    if not now:
        raise Problem(
            f"the state of stack {engine.stack} was changed meanwhile, by somebody else; nothing was written",
            "Run this again: it then goes by the state of now.",
        )
    with tempfile.TemporaryDirectory(prefix="hpc-state-") as folder:
        file = Path(folder) / "state.json"
        file.write_text(json.dumps(document))
        engine.call("stack", "import", "--stack", engine.stack, "--file", str(file))


def edit(engine: Engine, backend: Backend | None, change: Callable[[Document], Mapping[str, Any] | None]) -> bool:
    """Read, change and write back the state; return whether anything was written.

    `change` gets a copy, and returns what is to be written; None for nothing. Raises as `write`.
    """
    before = read(engine, backend)
    wanted = change(json.loads(json.dumps(before.document)))
    if wanted is None or wanted == before.document:
        return False
    write(engine, backend, before, wanted)
    return True


def _content(engine: Engine, backend: Backend | None) -> bytes | None:
    return backend.read(engine.stack) if backend is not None else None
