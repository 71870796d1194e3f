"""`./hpc data select`: asks the catalogue for the frames of a data set, and writes its lock and lists."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from core.datasets import lock
from core.datasets.catalogue import FILES, as_of, frames
from core.datasets.choice import card_of
from core.datasets.lock import Lock
from core.errors import DataSetError
from core.files import write_atomically
from toolkit.cli.data import chosen, sources
from toolkit.cli.data.chosen import LIST, Name, Named, TenantOption
from toolkit.cli.data.stats import StaleOption
from toolkit.cli.shared.console import console, print_text
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import DEFAULT_STACK, StackOption
from toolkit.cli.shared.paths import ROOT
from toolkit.datasets import query_results, selection
from toolkit.datasets.selection import Selection
from toolkit.review import data_set_changes, terminal
from toolkit.review.section import section
from toolkit.review.sentences import name as marked

_MODE = 0o644
_SHOWN = 5
"""Classes that change most; `./hpc data diff` shows all."""


def command(
    name: Name, stack: StackOption = DEFAULT_STACK, tenant: TenantOption = None, *, allow_stale: StaleOption = False
) -> None:
    """Choose the frames of a data set, and lock them.

    Commit its lock, but not its list of files. The same catalogue and settings give the same bytes. Nothing is written
    if frames or labels are missing, minimum counts are not met, or the catalogue is older than its files.
    """
    data_set = chosen.find(name, stack, tenant)
    before = _earlier(data_set)
    chosen_frames = select(data_set, allow_stale=allow_stale)
    _write(data_set.lock_file, chosen_frames)
    made = chosen_frames.lock
    print_text(f"{data_set.settings.lock_file}: {data_set_changes.counted(made)}, as of {made.as_of.isoformat()}")
    for split, part in made.splits.items():
        print_text(f"- {split}: {data_set_changes.counted(part)}")
    if before is not None:
        lines = [
            replace(line, details=line.details[:_SHOWN])
            for line in data_set_changes.lines(f"data set {marked(name)}", before, made)
        ]
        changes = section("Since the lock before", lines)
        console.print(terminal.of_section(changes) if changes else "as before")


def select(data_set: Named, *, allow_stale: bool) -> Selection:
    """Return what the catalogue has of a data set."""
    catalogue = sources.open_source(data_set.settings.source, data_set.stack, allow_stale=allow_stale)
    card = card_of(data_set.settings.card)
    return selection.select(
        data_set.settings,
        card,
        catalogue.ask(frames(data_set.settings, card)),
        catalogue.ask(FILES),
        as_of(catalogue),
        scores=_scores(data_set.settings.scores),
    )


def _scores(file: str | None) -> Mapping[str, float] | None:
    if file is None:
        return None
    try:
        with (ROOT / file).open(encoding="utf-8-sig", newline="") as lines:
            return query_results.read_scores(lines, file)
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(
            f"scores: {file} cannot be read: {error}", "Correct the path, from the project's folder."
        ) from None


def _earlier(data_set: Named) -> Lock | None:
    """Return the lock that is replaced; None where there is none that can be read."""
    try:
        return lock.read(data_set.lock_file)
    except DataSetError:
        return None


def _write(lock_file: Path, chosen_frames: Selection) -> None:
    """Write lists and lock, each at once; the lock last, so that it never names a list that is not there."""
    try:
        for split, listed in chosen_frames.lists.items():
            write_atomically(chosen.list_file(lock_file, split), listed, mode=_MODE)
        for other in lock_file.parent.glob(f"{lock_file.name.removesuffix(chosen.LOCK)}.*{LIST}"):
            if other not in {chosen.list_file(lock_file, split) for split in chosen_frames.lists}:
                other.unlink()
        write_atomically(lock_file, lock.text(chosen_frames.lock), mode=_MODE)
    except OSError as error:
        raise Problem(
            f"cannot write {error.filename or lock_file}: {error.strerror}", "Correct the rights of its folder."
        ) from None
