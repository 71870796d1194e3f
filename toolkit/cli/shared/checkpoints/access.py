"""Read the state of a stack through the engine and write a changed one: only over the state that was read.

`pulumi stack import` (3.276) replaces a newer state by an older one without a warning. It takes the engine's lock, so
an update that runs meanwhile is safe; one that started and ended meanwhile is found here, by a comparison before.
"""

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.files import write_atomically
from toolkit.cli.shared.backends.backend import Backend
from toolkit.cli.shared.checkpoints import backups
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.errors import Problem

Document = dict[str, Any]
"""What the engine exports: `version`, `deployment`. Secrets in it stay encrypted."""


@dataclass(frozen=True)
class Checkpoint:
    """A state as it was read, with what shows later whether it has changed."""

    document: Document
    content: bytes | None
    """As the backend had it; None where only the engine can read it."""
    damaged: bool = False
    """Whether `content` cannot be read; `document` is then the newest state that can."""


def export(engine: Engine) -> Document:
    """Return what the engine exports of its stack, to read; what is to be written back comes from `read`."""
    document: Document = json.loads(engine.call("stack", "export", "--stack", engine.stack))
    return document


def read(engine: Engine, backend: Backend | None) -> Checkpoint:
    """Return the state of the engine's stack; `backend` is None where it cannot be read here (Pulumi Cloud).

    Raises Problem; for a damaged state, as of an update that was killed while it wrote it, with what restores it.
    """
    content = _content(engine, backend)  # first: what changes in between is then found, and not overwritten
    try:
        return Checkpoint(export(engine), content)
    except Problem:
        if backend is not None:
            backend.checkpoint(engine.stack)
        raise


def write(
    engine: Engine, backend: Backend | None, before: Checkpoint, document: Mapping[str, Any], backup: Path
) -> None:
    """Write a state through the engine, which takes its lock and checks it; the present one goes to `backup` first.

    Raises Problem when the state is not the one of `before` any more, or the engine refuses the new one.
    """
    now = export(engine) == before.document if backend is None else _content(engine, backend) == before.content
    if not now:
        raise Problem(
            f"the state of stack {engine.stack} was changed meanwhile by another command; nothing was written",
            "Run this again: it then works with the present state.",
        )
    _back_up(engine, backend, before, backup)
    with tempfile.TemporaryDirectory(prefix="hpc-state-") as folder:
        file = Path(folder) / "state.json"
        file.write_text(json.dumps(document))
        engine.call("stack", "import", "--stack", engine.stack, "--file", str(file))


def edit(
    engine: Engine, backend: Backend | None, backup: Path, change: Callable[[Document], Mapping[str, Any] | None]
) -> bool:
    """Read, change and write back the state; return whether anything was written.

    `change` gets a copy and returns what is to be written, or None. Raises as `write`.
    """
    before = read(engine, backend)
    changed = change(json.loads(json.dumps(before.document)))
    if changed is None or changed == before.document:
        return False
    write(engine, backend, before, changed, backup)
    return True


def _back_up(engine: Engine, backend: Backend | None, before: Checkpoint, file: Path) -> None:
    if before.damaged:
        write_atomically(file, before.content or b"")
    else:
        backups.write(engine.stack, before.document, backend.tags(engine.stack) if backend else {}, file)


def _content(engine: Engine, backend: Backend | None) -> bytes | None:
    return backend.read(engine.stack) if backend is not None else None
