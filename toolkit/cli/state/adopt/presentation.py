"""What was found, as tables and as a comment; values of secrets are nowhere."""

from collections.abc import Collection, Iterator
from typing import Any

from core.pulumi_values import REDACTED
from toolkit.cli.shared.console import print_text, show_rows, styled
from toolkit.cli.state.adopt.candidates import Candidate, State, is_gone
from toolkit.engine.prediction.diff import Change as PropertyChange
from toolkit.engine.prediction.diff import text_of_path
from toolkit.engine.prediction.values import Path, prune
from toolkit.review.model import Change, Op, Resource, Review

_COLOURS = {State.EQUAL: "green", State.DIFFERS: "yellow", State.REPLACED: "red", State.REFUSED: "red"}
_LONGEST = 60
_REPLACED = "Change the settings to match the cluster; or, if the object may go, delete it: the next update creates it."


def tables(candidates: Collection[Candidate]) -> None:
    """Print what was found, the fields that differ, and what to do about objects that are left out."""
    show_rows(
        "On the cluster, and not in the state",
        ("object", "state", "why"),
        (
            (candidate.declared.label, styled(candidate.state, _COLOURS[candidate.state]), candidate.why)
            for candidate in candidates
        ),
    )
    show_rows(
        "Fields that differ",
        ("object", "field", "on the cluster", "declared", "then"),
        ((candidate.declared.label, *row) for candidate in candidates for row in fields(candidate)),
    )
    for candidate in candidates:
        for warning in candidate.warnings:
            print_text(f"warning: {candidate.declared.label}: {warning}")
    replaced = [candidate.declared.label for candidate in candidates if candidate.state is State.REPLACED]
    if replaced:
        print_text(f"{State.REPLACED}, and left out: {', '.join(replaced)}\n{_REPLACED}")


def fields(candidate: Candidate) -> Iterator[tuple[str, str, str, str]]:
    """Yield field, value on the cluster, declared value, and what happens: kept, or changed by the next update."""
    secret = candidate.declared.kind == "Secret"
    left = {change.path for change in candidate.changes}
    for change in candidate.differences:
        new = "" if is_gone(change) else _shown(change.new)
        old = candidate.before(change.path)
        shown = "" if old is None else _shown(old)
        hidden = secret and change.path[:1] in (("data",), ("stringData",))
        shown, new = (REDACTED if hidden and text else text for text in (shown, new))
        yield text_of_path(change.path), shown, new, _then(candidate, change, left)


def _then(candidate: Candidate, change: PropertyChange, left: Collection[Path]) -> str:
    if not candidate.adoptable:
        return ""
    if change.path not in left:
        return "kept"
    return "removed" if is_gone(change) else "changed"


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def review(stack: str, candidates: Collection[Candidate], facts: Any) -> Review:
    """Return what adopting and the update after it mean, for a comment."""
    changes = [
        Change(
            Op.ADOPT,
            _resource(candidate, prune(candidate.live, candidate.written)),
            _resource(candidate, candidate.desired),
        )
        for candidate in candidates
        if candidate.adoptable
    ]
    warnings = [f"{candidate.declared.label}: {text}" for candidate in candidates for text in candidate.warnings]
    warnings += [
        f"{candidate.declared.label} keeps {', '.join(kept)}, which the program declares otherwise or not at all"
        for candidate in candidates
        if (kept := [row[0] for row in fields(candidate) if row[-1] == "kept"])
    ]
    warnings += [
        f"{candidate.declared.label} {candidate.state}: {candidate.why}; it is left out"
        for candidate in candidates
        if not candidate.adoptable
    ]
    return Review(
        stack,
        tuple(sorted(changes, key=lambda change: change.resource.urn)),
        warnings=tuple(sorted(warnings)),
        adoption=True,
        facts=facts,
    )


def _resource(candidate: Candidate, inputs: Any) -> Resource:
    item = candidate.declared.item
    shown = dict(inputs)
    if candidate.declared.kind == "Secret":
        shown = {key: value for key, value in shown.items() if key not in ("data", "stringData")}
    return Resource(candidate.declared.urn, item.type, shown, protect=item.protect, retain_on_delete=True)
