"""A stack's state as one file: written whole, for its owner alone, with its secrets as they are encrypted."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.files import write_atomically
from toolkit.cli.shared.backends import older_states
from toolkit.cli.shared.backends.backend import CLUSTER_UID
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import STANDARD_OUTPUT, write_text
from toolkit.cli.shared.paths import own_files
from toolkit.cli.shared.stack import Stack

_OURS = "hpc"
"""Observer what the engine exports, which leaves unknown keys alone when it imports."""


@dataclass(frozen=True)
class Backup:
    """One file: the export, and what we noted with it."""

    document: dict[str, Any]
    cluster: str = ""
    """UID of the cluster that the state is about; empty where no one noted it."""

    @property
    def deployment(self) -> dict[str, Any]:
        """The state itself."""
        return dict(self.document["deployment"])


def folder(stack: Stack) -> Path:
    """Return where copies go that no one gave a place."""
    if stack.simulated:
        return stack.home / "backups"
    return own_files() / "backups"


def place(stack: Stack, what: str) -> Path:
    """Return a name for a copy that is not taken yet."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    file = folder(stack) / f"{stack.name}-{stamp}-{what}.json"
    return file if not file.exists() else file.with_stem(f"{file.stem}-{os.getpid()}")


def write(stack: str, exported: Mapping[str, Any], tags: Mapping[str, str], file: Path) -> int:
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


def read(file: Path) -> Backup:
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
