"""Another cluster, or another way to it: the provider of the stack changes."""

from collections.abc import Mapping

from toolkit.review.indexed_review import IndexedReview
from toolkit.review.model import Change
from toolkit.review.section import Line, Section, section
from toolkit.review.sentences import name, names

_PROVIDER = "pulumi:providers:"
_HIDDEN = frozenset({"kubeconfig"})


def find(indexed: IndexedReview) -> Section | None:
    """Report what of the way to the cluster changes."""
    changes = [change for change in indexed.review.changed if change.resource.type.startswith(_PROVIDER)]
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
