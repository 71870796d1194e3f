"""The preview of an update: whether it needs one, and which fields that it removes are named before it starts."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from core.files import digest, write_atomically
from toolkit.cli.diff import engine_reviews, live_objects, presentation
from toolkit.cli.shared.cluster_client import Cluster
from toolkit.cli.shared.console import print_warning
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.shared.stack import Stack
from toolkit.review.sentences import bare

_RESULTS = "out"
"""The folder that commands of `make` write to."""
SKIPPED = ("--skip-preview",)


class Repetition:
    """What an update of a stack is made from, beside what the last successful one on its simulated cluster was.

    A preview is there to stop what is wrong before anything changes; what has passed unchanged is not wrong. On a real
    cluster every update has one: what is read outside the repository is not compared here.
    """

    def __init__(self, stack: Stack, engine: Engine, policies: Mapping[str, Any]) -> None:
        self._file = stack.home / "last-update" if stack.simulated else None
        self._mark = digest(*_ingredients(engine, policies)) if stack.simulated else ""

    def begin(self) -> tuple[str, ...]:
        """Return the arguments that omit the preview, if any; the record is gone until the update has succeeded."""
        if self._file is None or not self._file.is_file():
            return ()
        recorded = self._file.read_text()
        self._file.unlink()
        return SKIPPED if recorded == self._mark else ()

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


def show_removed_fields(
    stack: Stack, running: Engine, policies: Mapping[str, Any], cluster: Cluster
) -> tuple[tuple[str, ...], int]:
    """Print which fields of users an update removes; return the engine's arguments, and the number of its operations.

    The engine has its own preview where a state has no resources yet, of which none can lose a field, and where an
    update is refused, since it prints why.
    """
    if engine_reviews.is_empty(stack):
        return (), 0
    review = engine_reviews.preview(stack, running, policies)
    if presentation.refused(review):
        return (), 0
    for sentence in live_objects.removed_field_cautions(review, cluster.find, cluster.dry_run):
        print_warning(bare(sentence))
    return SKIPPED, len(review.changed)
