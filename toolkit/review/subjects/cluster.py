"""The cluster: another one, or another way to it; and what has drifted there, with what repairs it."""

from collections.abc import Iterator, Mapping

from toolkit.review import removal_commands
from toolkit.review.indexed_review import IndexedReview
from toolkit.review.model import Change, Op
from toolkit.review.object_diff import difference
from toolkit.review.section import Line, Section, section
from toolkit.review.sentences import name, names, title

_HIDDEN = frozenset({"kubeconfig"})
_LONGEST = 4000
"""Characters of a command; it is of no use in part."""


def find(indexed: IndexedReview) -> Section | None:
    """Report what of the way to the cluster changes."""
    changes = [change for change in indexed.review.changed if change.resource.type.startswith("pulumi:providers:")]
    return section("The cluster", [line for change in changes if (line := _line(change)) is not None], vital=True)


def _line(change: Change) -> Line | None:
    if change.before is None or change.after is None:
        return None
    before, after = change.before.inputs, change.after.inputs
    keys = sorted(key for key in {*before, *after} if before.get(key) != after.get(key))
    shown = [f"{name(key)} {_value(after, key)} (was {_value(before, key)})" for key in keys if key not in _HIDDEN]
    hidden = [key for key in keys if key in _HIDDEN]
    parts = [*shown, *([f"another {names(hidden)}"] if hidden else [])]
    return Line(f"provider {name(change.resource.name)} changes: {', '.join(parts)}", alarm=True) if parts else None


def _value(inputs: Mapping[str, object], key: str) -> str:
    return name(inputs[key]) if key in inputs else "none"


def find_repairs(indexed: IndexedReview) -> Section | None:
    """Return what drifted and the update leaves; of drift itself, the commands for what others have added."""
    review = indexed.review
    if review.drift:
        return section("Added by others", [*_commands(review.changed, review.kubectl)])
    lines = [_repair(change) for change in review.repairs]
    if lines:
        command = f"./hpc up --stack {review.stack} --repair"
        lines += _commands(review.repairs, review.kubectl)
        lines.append(Line(f"The update leaves this; {name(command)} re-applies what is declared"))
    return section("Drift", lines)


def _repair(change: Change) -> Line:
    if change.op is Op.DELETE:
        return Line(f"{title(change.resource)} is gone")
    lines = tuple(name(line) for line in difference(change, 12))
    return Line(f"{title(change.resource)} differs from what is declared", lines)


def _commands(changes: tuple[Change, ...], kubectl: str) -> Iterator[Line]:
    for change in changes:
        if removal_commands.added(change):
            text = (
                f"{title(change.resource)} has additions that the program does not declare; a repair leaves them, "
                "and this removes them:"
            )
            yield Line(text, (name(removal_commands.patch_command(change, kubectl), _LONGEST),))
