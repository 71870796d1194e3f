"""What was found, as tables and as a comment; values of secrets are nowhere."""

from collections.abc import Collection, Iterator
from typing import Any

from core.pulumi_values import REDACTED
from toolkit.cli.shared.console import print_text, styled
from toolkit.cli.shared.tables import show_rows
from toolkit.cli.state.adopt.candidates import Candidate, State, is_gone
from toolkit.engine.prediction.diff import Change as PropertyChange
from toolkit.engine.prediction.diff import text_of_path
from toolkit.engine.prediction.shapes import Path, prune
from toolkit.review.model import Change, Op, Resource, Review

_COLOURS = {State.EQUAL: "green", State.DIFFERS: "yellow", State.REPLACED: "red", State.REFUSED: "red"}
_LONGEST = 60
_REPLACED = "Change the settings to match the cluster; or, if the object may go, delete it: the next update creates it."


def tables(found: Collection[Candidate]) -> None:
    """Print what was found, the fields that differ, and what to do about objects that are left out."""
    show_rows(
        "On the cluster, and not in the state",
        ("object", "state", "why"),
        ((each.declared.label, styled(each.state, _COLOURS[each.state]), each.why) for each in found),
    )
    show_rows(
        "Fields that differ",
        ("object", "field", "on the cluster", "declared", "then"),
        ((each.declared.label, *row) for each in found for row in fields(each)),
    )
    for each in found:
        for warning in each.warnings:
            print_text(f"warning: {each.declared.label}: {warning}")
    replaced = [each.declared.label for each in found if each.state is State.REPLACED]
    if replaced:
        print_text(f"{State.REPLACED}, and left out: {', '.join(replaced)}\n{_REPLACED}")


def fields(found: Candidate) -> Iterator[tuple[str, str, str, str]]:
    """Yield field, value on the cluster, declared value, and what happens: kept, or changed by the next update."""
    secret = found.declared.kind == "Secret"
    left = {change.path for change in found.changes}
    for change in found.differences:
        new = "" if is_gone(change) else _shown(change.new)
        old = found.before(change.path)
        shown = "" if old is None else _shown(old)
        hidden = secret and change.path[:1] in (("data",), ("stringData",))
        shown, new = (REDACTED if hidden and text else text for text in (shown, new))
        yield text_of_path(change.path), shown, new, _then(found, change, left)


def _then(found: Candidate, change: PropertyChange, left: Collection[Path]) -> str:
    if not found.adoptable:
        return ""
    if change.path not in left:
        return "kept"
    return "removed" if is_gone(change) else "changed"


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def review(stack: str, found: Collection[Candidate], facts: Any) -> Review:
    """Return what adopting and the update after it mean, for a comment."""
    changes = [
        Change(Op.ADOPT, _resource(each, prune(each.live, each.written)), _resource(each, each.desired))
        for each in found
        if each.adoptable
    ]
    warnings = [f"{each.declared.label}: {text}" for each in found for text in each.warnings]
    warnings += [
        f"{each.declared.label} keeps {', '.join(kept)}, which the program declares otherwise or not at all"
        for each in found
        if (kept := [row[0] for row in fields(each) if row[-1] == "kept"])
    ]
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
