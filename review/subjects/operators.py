"""Operators that come, go, or follow another channel or version."""

from typing import Any

from apis.kinds import SUBSCRIPTION
from policies.values import read
from review.model import Change, Op, Resource
from review.section import Line, Section, section
from review.words import name
from review.worlds import Worlds

_FIELDS = {
    "name": "package",
    "channel": "channel",
    "startingCSV": "first version",
    "source": "catalogue",
    "sourceNamespace": "namespace of the catalogue",
    "installPlanApproval": "approval of updates",
}


def find(worlds: Worlds) -> Section | None:
    """Say which operators change."""
    lines = [line for change in worlds.changed(SUBSCRIPTION) if (line := _line(change)) is not None]
    return section("Operators", lines)


def _line(change: Change) -> Line | None:
    package = _text(change.resource, "name") or change.resource.object_name
    who = f"{name(package)} in namespace {name(change.resource.namespace)}"
    if change.before is None and change.after:
        by_hand = ", updates wait for approval" if _text(change.after, "installPlanApproval") == "Manual" else ""
        return Line(f"{who} is installed from channel {name(_text(change.after, 'channel'))}{by_hand}")
    if change.op is Op.DELETE:
        return Line(f"{who} is no longer subscribed to; what OLM installed stays until its version is deleted")
    if change.before is None or change.after is None:
        return None
    moved = []
    for field, words in _FIELDS.items():
        was, will = _text(change.before, field), _text(change.after, field)
        if was != will:
            moved.append(f"{words} {_shown(will)} (was {_shown(was)})")
    again = ", and is subscribed to anew" if change.op is Op.REPLACE else ""
    return Line(f"{who}: {', '.join(moved)}{again}") if moved else None


def _text(resource: Resource, field: str) -> str:
    value: Any = read(resource.inputs, "spec", field)
    return "" if value is None else str(value)


def _shown(text: str) -> str:
    return name(text) if text else "none"
