"""From what the program registers at two commits to a review: what an update from one to the other would do.

The engine and its provider are not asked, so which updates become replacements is predicted by their rules.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from review import paths
from review.model import REDACTED, Change, Op, Resource

_ROOT = "pulumi:pulumi:Stack$"
Difference = Callable[[Resource, Resource], Mapping[str, bool]]
"""Given a resource before and after: the paths that differ, and whether each forces a new object."""


@dataclass(frozen=True)
class Rendered:
    """One resource as the program registers it, with what decides what becomes of it."""

    resource: Resource
    replace_on_changes: tuple[str, ...] = ()
    ignore_changes: tuple[str, ...] = ()
    trigger: Any = None
    aliases: tuple[str, ...] = ()


def read(content: Mapping[str, Any]) -> Rendered:
    """Return a resource of the form that a render of a commit writes; whatever is in it, this does not raise."""
    resource = Resource(
        urn=_urn(content.get("urn")),
        type=str(content.get("type") or ""),
        inputs=_hidden(content.get("inputs"), str(content.get("type") or "")),
        parent=_urn(content.get("parent")),
        protect=bool(content.get("protect")),
        retain_on_delete=bool(content.get("retain_on_delete")),
    )
    return Rendered(
        resource,
        _texts(content.get("replace_on_changes")),
        _texts(content.get("ignore_changes")),
        content.get("replacement_trigger"),
        _texts(content.get("aliases")),
    )


def compare(before: list[Rendered], after: list[Rendered], difference: Difference) -> tuple[Change, ...]:
    """Return what becomes of every resource, sorted by URN."""
    old = {each.resource.urn: each for each in before}
    changes = []
    for new in after:
        known = next((urn for urn in _names(new) if urn in old), None)
        changes.append(_change(old.pop(known), new, difference) if known else Change(Op.CREATE, None, new.resource))
    for gone in old.values():
        kept = gone.resource.retain_on_delete
        changes.append(Change(Op.FORGET if kept else Op.DELETE, gone.resource, None))
    return tuple(sorted(changes, key=lambda each: each.resource.urn))


def _change(old: Rendered, new: Rendered, difference: Difference) -> Change:
    before, after = old.resource, new.resource
    if old.trigger != new.trigger:
        return Change(Op.REPLACE, before, after)
    if before.inputs == after.inputs:
        return Change(Op.SAME, before, after)
    if not after.is_object:
        return Change(Op.UPDATE, before, after)
    ignored = [paths.read(path) for path in new.ignore_changes]
    found = {
        path: forced or _named(path, new.replace_on_changes)
        for path, forced in difference(before, after).items()
        if not any(_within(paths.read(path), each) for each in ignored)
    }
    if not found:
        return Change(Op.SAME, before, replace(after, inputs=before.inputs))
    forcing = tuple(sorted(path for path, forced in found.items() if forced))
    return Change(Op.REPLACE if forcing else Op.UPDATE, before, after, forcing)


def _named(path: str, wanted: tuple[str, ...]) -> bool:
    return any(each == "*" or _within(paths.read(path), paths.read(each)) for each in wanted)


def _within(path: paths.Path, above: paths.Path) -> bool:
    return len(above) <= len(path) and all(want in ("*", step) for want, step in zip(above, path, strict=False))


def _names(new: Rendered) -> list[str]:
    """Return the URNs by which a resource may be known: its own, and those under its former types."""
    urn, kind = new.resource.urn, new.resource.type
    head, _, name = urn.rpartition("::")
    return [urn, *(f"{head.removesuffix(kind)}{alias}::{name}" for alias in new.aliases if head.endswith(kind))]


def _urn(value: Any) -> str:
    """Return an URN as the engine has it, which leaves out the stack above."""
    return str(value or "").replace(_ROOT, "")


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(str(each) for each in value) if isinstance(value, list) else ()


def _hidden(value: Any, kind: str) -> dict[str, Any]:
    inputs = dict(value) if isinstance(value, Mapping) else {}
    if kind.endswith((":Secret", ":SecretPatch")):
        for key in ("data", "stringData"):
            if isinstance(inputs.get(key), Mapping):
                inputs[key] = dict.fromkeys(inputs[key], REDACTED)
            elif key in inputs:
                inputs[key] = REDACTED
    return inputs
