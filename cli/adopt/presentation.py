"""What was found, as tables and as a comment; values of secrets are nowhere."""

import json
import shlex
from collections.abc import Collection, Iterator
from typing import Any

from apis.pulumi_values import REDACTED
from cli.adopt.candidates import Candidate, State, is_gone
from cli.shared.console import print_text
from cli.shared.tables import show_rows
from review.model import Change, Op, Resource, Review
from simulator.plugins.provider.diff import Change as PropertyChange
from simulator.plugins.provider.diff import text_of_path
from simulator.plugins.provider.shapes import prune

_COLOURS = {State.EQUAL: "green", State.DIFFERS: "yellow", State.REPLACED: "red", State.REFUSED: "red"}
_LONGEST = 60
_REPLACED = "Change the settings to match the cluster; or, if the object may go, delete it: the next update creates it."
_OWNER = "hpc-adopted"
"""Field manager of what no program declares and no update may remove."""


def tables(found: Collection[Candidate], kubectl: str) -> None:
    """Print what was found, the fields that differ, and what to do about objects that are left out."""
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
            print_text(f"warning: {each.declared.label}: {warning}")
    replaced = [each.declared.label for each in found if each.state is State.REPLACED]
    if replaced:
        print_text(f"{State.REPLACED}, and left out: {', '.join(replaced)}\n{_REPLACED}")
    for each in found:
        if each.ownership:
            text = (
                f"{each.declared.label} can be adopted once the field has an owner of its own. This command gives it "
                f"one and changes no value; then run ./hpc adopt again:\n{ownership(each, kubectl)}"
            )
            print_text(text)


def ownership(found: Candidate, kubectl: str) -> str:
    """Return the command that gives fields a second owner."""
    body = shlex.quote(json.dumps(found.ownership, separators=(",", ":")))
    return f"echo {body} | {kubectl} apply --server-side --field-manager {_OWNER} -f -"


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
        yield text_of_path(change.path), REDACTED if hidden and shown else shown, REDACTED if hidden and new else new


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
    """Return what adopting and the update after it mean, for a comment."""
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
