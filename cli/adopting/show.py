"""What was found, as tables and as a comment; values of secrets are nowhere."""

from collections.abc import Collection, Iterator
from typing import Any

from cli.adopting.candidates import Candidate, State, is_gone
from cli.console import console
from cli.tables import show_rows
from review.model import Change, Op, Resource, Review
from simulator.plugins.provider.diff import Change as PropertyChange
from simulator.plugins.provider.diff import text_of_path
from simulator.plugins.provider.shapes import prune

_COLOURS = {State.EQUAL: "green", State.DIFFERS: "yellow", State.REPLACED: "red", State.REFUSED: "red"}
_LONGEST = 60
_HIDDEN = "[secret]"
_REMEDIES = {
    State.REPLACED: "Make the settings agree with what is there; or, if it can go, delete it by hand: the next update "
    "makes it anew.",
    State.REFUSED: "",
}


def tables(found: Collection[Candidate]) -> None:
    """Print what was found, and the fields that differ."""
    show_rows(
        "On the cluster, and not in the state",
        ("object", "state", "why"),
        ((each.declared.label, f"[{_COLOURS[each.state]}]{each.state}[/]", each.why) for each in found),
    )
    show_rows(
        "Fields that differ",
        ("object", "field", "on the cluster", "declared"),
        ((each.declared.label, *row) for each in found for row in _fields(each)),
    )
    for each in found:
        for warning in each.warnings:
            console.print(f"warning: {each.declared.label}: {warning}", markup=False)
    for state, remedy in _REMEDIES.items():
        names = [each.declared.label for each in found if each.state is state]
        if names and remedy:
            console.print(f"{state}, and left out: {', '.join(names)}\n{remedy}", markup=False)


def _fields(found: Candidate) -> Iterator[tuple[str, str, str]]:
    """Yield field, value on the cluster, and declared value; our own labels, which everything gets, in one row."""
    secret = found.declared.kind == "Secret"
    if any(_is_label(change) for change in found.changes):
        yield "metadata.labels", "", "labels of the stack"
    for change in found.changes:
        if _is_label(change):
            continue
        new = "" if is_gone(change) else _shown(change.new)
        old = found.before(change.path)
        shown = "" if old is None else _shown(old)
        hidden = secret and change.path[:1] in (("data",), ("stringData",))
        yield text_of_path(change.path), _HIDDEN if hidden and shown else shown, _HIDDEN if hidden and new else new


def _is_label(change: PropertyChange) -> bool:
    if change.path[:2] != ("metadata", "labels") or is_gone(change):
        return False
    keys = change.new if len(change.path) == 2 else change.path[2:]  # noqa: PLR2004
    return all(str(key).startswith("app.kubernetes.io/") for key in keys)


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def review(stack: str, found: Collection[Candidate], facts: Any) -> Review:
    """Return what taking over and the update after it mean, for a comment."""
    changes = [
        Change(Op.ADOPT, _resource(each, prune(each.live, each.written)), _resource(each, each.wanted))
        for each in found
        if each.adoptable
    ]
    warnings = [f"{each.declared.label}: {text}" for each in found for text in each.warnings]
    warnings += [
        f"{each.declared.label} {each.state}: {each.why}; it is left out" for each in found if not each.adoptable
    ]
    return Review(
        stack,
        tuple(sorted(changes, key=lambda change: change.resource.urn)),
        warnings=tuple(sorted(warnings)),
        adoption=True,
        facts=facts,
    )


def _resource(found: Candidate, inputs: Any) -> Resource:
    item = found.declared.item
    shown = dict(inputs)
    if found.declared.kind == "Secret":
        shown = {key: value for key, value in shown.items() if key not in ("data", "stringData")}
    return Resource(found.declared.urn, item.type, shown, protect=item.protect, retain_on_delete=True)
