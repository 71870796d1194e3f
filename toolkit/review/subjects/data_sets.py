"""What jobs are trained on: data sets that are added, removed or selected again, and the classes in them."""

from collections.abc import Iterator

from pydantic import ValidationError

from core.datasets.lock import Lock
from toolkit.review import data_set_changes
from toolkit.review.indexed_review import IndexedReview
from toolkit.review.model import Resource
from toolkit.review.section import Line, Section, section
from toolkit.review.sentences import name

TYPE = "hpc:storage:DataSetLock"


def find(indexed: IndexedReview) -> Section | None:
    """Report which data sets change."""
    before, after = (
        {component.name: component for component in side.components.get(TYPE, ())}
        for side in (indexed.before, indexed.after)
    )
    lines = [line for key in sorted({*before, *after}) for line in _lines(before.get(key), after.get(key))]
    return section("Data sets", lines)


def _lines(before: Resource | None, after: Resource | None) -> Iterator[Line]:
    resource = after or before
    if resource is None or before == after:
        return
    old, new = (_lock(resource) for resource in (before, after))
    shown = new or old
    what = f"data set {name(shown.name if shown else resource.name)} of {name(resource.inputs.get('namespace'))}"
    if before is None:
        yield Line(f"{what} is new" + (f": {data_set_changes.counted(new)}" if new else ""))
    elif after is None:
        yield Line(f"{what} is removed: no job reads it any longer, and its files stay")
    elif old and new:
        yield from data_set_changes.lines(what, old, new)
    else:
        yield Line(f"{what} changes, and how cannot be said: one of its locks is of another version")


def _lock(resource: Resource | None) -> Lock | None:
    if resource is None:
        return None
    try:
        return Lock.model_validate(resource.inputs.get("lock"))
    except ValidationError:
        return None
