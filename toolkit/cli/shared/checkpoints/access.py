"""Read the state of a stack through the engine, back it up, and write a changed one: only over the one that was read.

`pulumi stack import` (3.276) replaces a newer state by an older one without a warning. It takes the engine's lock, so
an update that runs meanwhile is safe; one that started and ended meanwhile is found here, by a comparison before.
"""

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.files import write_atomically
from toolkit.cli.shared.backends import older_states
from toolkit.cli.shared.backends.backend import CLUSTER_UID, Backend
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import STANDARD_OUTPUT, write_text
from toolkit.cli.shared.paths import own_files
from toolkit.cli.shared.stack import Stack

Document = dict[str, Any]
"""What the engine exports: `version`, `deployment`. Secrets in it stay encrypted."""
_OURS = "hpc"
"""Key of our notes beside what the engine exports; it leaves unknown keys alone when it imports."""


@dataclass(frozen=True)
class Backup:
    """One file, for its owner alone: the export, with its secrets as they are encrypted, and what we noted with it."""

    document: dict[str, Any]
    cluster: str = ""
    """UID of the cluster that the state is about; empty where no one noted it."""

    @property
    def deployment(self) -> dict[str, Any]:
        """The state itself."""
        return dict(self.document["deployment"])


def _backup_folder(stack: Stack) -> Path:
    if stack.simulated:
        return stack.home / "backups"
    return own_files() / "backups"


def backup_place(stack: Stack, what: str) -> Path:
    """Return a name for a copy that is not taken yet."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    file = _backup_folder(stack) / f"{stack.name}-{stamp}-{what}.json"
    return file if not file.exists() else file.with_stem(f"{file.stem}-{os.getpid()}")


def write_backup(stack: str, exported: Mapping[str, Any], tags: Mapping[str, str], file: Path) -> int:
    """Write an export of a stack to a new file and read it back, or print it; return how many resources it has.

    Raises Problem when the file is there already, or holds something else afterwards.
    """
    if file != STANDARD_OUTPUT and file.exists():
        raise Problem(f"{file} exists already", "Use another name, or remove it.")
    noted = {
        "stack": stack,
        "cluster": tags.get(CLUSTER_UID, ""),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    document = {**exported, _OURS: noted}
    content = json.dumps(document, separators=(",", ":"))
    if file == STANDARD_OUTPUT:
        write_text(file, content + "\n")
        return len(older_states.resources(exported.get("deployment")))
    write_atomically(file, content)
    if json.loads(file.read_bytes()) != document:
        raise Problem(f"{file} does not hold what was written to it", "Check the disk, and write it elsewhere.")
    return len(older_states.resources(exported.get("deployment")))


def read_backup(file: Path) -> Backup:
    """Return a backup, or a plain export of the engine; raise Problem for anything else."""
    try:
        document = json.loads(file.read_bytes())
    except FileNotFoundError:
        raise Problem(f"there is no file {file}") from None
    except (ValueError, OSError) as error:
        raise Problem(f"{file} cannot be read: {error}", "It was not written to its end, or is not a backup.") from None
    if not isinstance(document, dict) or not isinstance(document.get("deployment"), dict):
        raise Problem(f"{file} is not a backup of a state", "`./hpc state backup` and `pulumi stack export` write one.")
    noted = document.pop(_OURS, None)
    return Backup(document, str(noted.get("cluster") or "") if isinstance(noted, dict) else "")


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
        write_backup(engine.stack, before.document, backend.tags(engine.stack) if backend else {}, file)


def _content(engine: Engine, backend: Backend | None) -> bytes | None:
    return backend.read(engine.stack) if backend is not None else None
