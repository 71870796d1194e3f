"""Whether an update repeats the last one, so that a preview before it has nothing to find."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from core.files import digest, write_atomically
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.shared.stack import Stack

_RESULTS = "out"
"""The folder that commands of `make` write to."""
_FILE = "last-update"


class Repetition:
    """What an update of a stack is made from, beside what the last successful one on its simulated cluster was.

    A preview is there to stop what is wrong before anything changes; what has passed unchanged is not wrong. On a real
    cluster every update has one: what is read outside the repository is not compared here.
    """

    def __init__(self, stack: Stack, engine: Engine, policies: Mapping[str, Any]) -> None:
        self._file = stack.home / _FILE if stack.simulated else None
        self._mark = digest(*_ingredients(engine, policies)) if stack.simulated else ""

    def begin(self) -> tuple[str, ...]:
        """Return the arguments that omit the preview, if any; the record is gone until the update has succeeded."""
        if self._file is None or not self._file.is_file():
            return ()
        recorded = self._file.read_text()
        self._file.unlink()
        return ("--skip-preview",) if recorded == self._mark else ()

    def succeed(self) -> None:
        """Record the update."""
        if self._file is not None:
            write_atomically(self._file, self._mark)


def _ingredients(engine: Engine, policies: Mapping[str, Any]) -> Iterator[bytes]:
    yield json.dumps(policies, sort_keys=True).encode()
    for name, value in sorted(engine.environment.items()):
        if name.startswith(("HPC_", "PULUMI_")) or name == "PATH":
            yield f"{name}={value}".encode()
    for path in (engine.program, *_files(ROOT)):
        facts = path.stat()
        yield f"{path}\0{facts.st_size}\0{facts.st_mtime_ns}".encode()


def _files(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(
            name for name in folders if name[0] not in "._" and not (name == _RESULTS and Path(folder) == root)
        )
        yield from (path for name in sorted(files) if (path := Path(folder, name)).is_file())
