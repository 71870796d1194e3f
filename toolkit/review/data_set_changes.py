"""What a change of a data set means: which classes gain and lose frames, in sentences for a reviewer."""

import json
from collections.abc import Iterator

from core.datasets.lock import Chosen, Lock
from core.wording import plural
from toolkit.datasets import comparison
from toolkit.datasets.comparison import CountChange, Difference
from toolkit.review.section import Line
from toolkit.review.sentences import name, names

_GB = 10**9
_SHOWN = 40
"""Classes of a card, nearly all of which a reviewer sees."""


def size(number: int) -> str:
    """Return bytes as people read them; those of small sets in full."""
    return f"{number / _GB:,.1f} GB" if number >= _GB else plural(number, "byte")


def counted(chosen: Chosen) -> str:
    """Return how much was chosen."""
    return f"{plural(chosen.frames, 'frame')}, {plural(chosen.files, 'file')}, {size(chosen.bytes)}"


def lines(what: str, before: Lock, after: Lock) -> Iterator[Line]:
    """Yield what changes from one lock of a data set, which is called `what`, to another; nothing for equal ones."""
    if before == after:
        return
    for split, difference in comparison.differences(before, after):
        yield from _lines(f"{what}, split {name(split)}" if split else what, difference)
    added, removed = set(after.splits) - set(before.splits), set(before.splits) - set(after.splits)
    if added or removed:
        split_changes = [
            *(f"{name(split)} is new" for split in sorted(added)),
            *(f"{name(split)} is gone" for split in sorted(removed)),
        ]
        yield Line(f"{what}: splits change: {', '.join(split_changes)}", alarm=bool(removed))
    if others := sorted(
        field for field in {*before.choice, *after.choice} if before.choice.get(field) != after.choice.get(field)
    ):
        values = ((field, _value(after.choice.get(field)), _value(before.choice.get(field))) for field in others)
        details = tuple(f"{field}: {value} (was {former})" for field, value, former in values)
        yield Line(f"{what} is chosen by other {names(others)}", details)
    if before.as_of != after.as_of:
        yield Line(f"{what} is of the catalogue of {after.as_of.isoformat()} (was {before.as_of.isoformat()})")


def _value(value: object) -> str:
    return "not set" if value is None else name(json.dumps(value, ensure_ascii=False))


def _lines(what: str, difference: Difference) -> Iterator[Line]:
    if difference.same_files:
        return
    details = tuple(_class(class_name, count) for class_name, count in {**difference.lost, **difference.gained}.items())
    parts = ((difference.lost, "fewer"), (difference.gained, "more"))
    summary = [f"{words} of {plural(len(part), 'class', 'classes')}" for part, words in parts if part]
    classes = f"; {' and '.join(summary)}" if summary else "; as many of each class"
    yield Line(f"{what} has {_size_change(difference)}{classes}", details)
    if vanished := difference.vanished:
        yield Line(f"{what} has no frame any more with {names(vanished, _SHOWN)}", alarm=True)


def _size_change(difference: Difference) -> str:
    if difference.frames.by or difference.bytes.by:
        frames, volume = difference.frames, difference.bytes
        return (
            f"{plural(frames.after, 'frame')} (was {frames.before:,}), {size(volume.after)} (was {size(volume.before)})"
        )
    return f"other files, as many as before ({plural(difference.frames.after, 'frame')})"


def _class(class_name: str, count: CountChange) -> str:
    part = f", {count.factor - 1:+.0%}" if count.before and count.after else ""
    return f"{name(class_name)}: {count.after:,} (was {count.before:,}{part})"
