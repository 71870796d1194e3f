"""From what the program registers at two commits to a review: what an update from one to the other would do.

The engine and its provider do not take part, so which updates become replacements is predicted by their rules.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from policies.manifests.values import mapping
from toolkit.review import paths
from toolkit.review.event_properties import without_secrets
from toolkit.review.model import Change, Op, Resource, Review

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
        inputs=without_secrets(dict(mapping(content, "inputs")), str(content.get("type") or "")),
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
    old = {rendered.resource.urn: rendered for rendered in before}
    changes = []
    for new in after:
        urn = next((former for former in _names(new) if former in old), None)
        changes.append(_change(old.pop(urn), new, difference) if urn else Change(Op.CREATE, None, new.resource))
    for removed in old.values():
        kept = removed.resource.retain_on_delete
        changes.append(Change(Op.FORGET if kept else Op.DELETE, removed.resource, None))
    return tuple(sorted(changes, key=lambda change: change.resource.urn))


def _change(old: Rendered, new: Rendered, difference: Difference) -> Change:
    before, after = old.resource, new.resource
    if old.trigger != new.trigger:
        return Change(Op.REPLACE, before, after)
    if before.inputs == after.inputs:
        return Change(Op.SAME, before, after)
    if not after.is_object:
        return Change(Op.UPDATE, before, after)
    kept = _kept(before, new)
    # The provider compares an API server's form, `"1"` of `1`: of what no one changed, that is not a reason.
    forced_by_path = {
        path: forced or _named(path, new.replace_on_changes)
        for path, forced in difference(before, after).items()
        if not _named(path, new.ignore_changes) and _differs(before, after, paths.read(path))
    }
    if not forced_by_path:
        return Change(Op.SAME, before, replace(after, inputs=before.inputs), kept=kept)
    forcing = tuple(sorted(path for path, forced in forced_by_path.items() if forced))
    return Change(Op.REPLACE if forcing else Op.UPDATE, before, after, forcing, () if forcing else kept)


def with_kept(review: Review, program: Iterable[Rendered]) -> Review:
    """Return the review of a preview with what each object keeps although `program` declares it otherwise.

    The engine's events do not have it: where a property is ignored, the engine replaces the new value by the old one.
    """
    declared = {rendered.resource.urn: rendered for rendered in program}

    def with_paths(change: Change) -> Change:
        rendered = declared.get(change.resource.urn)
        if rendered is None or change.before is None or change.op not in (Op.SAME, Op.UPDATE):
            return change
        return replace(change, kept=_kept(change.before, rendered))

    return replace(review, changes=tuple(map(with_paths, review.changes)))


def _kept(before: Resource, new: Rendered) -> tuple[str, ...]:
    """Return the paths under `ignore_changes` at which a render differs from what was declared before."""
    if not new.ignore_changes:
        return ()
    differing = map(paths.show, paths.differing(before.inputs, new.resource.inputs))
    return tuple(sorted(path for path in differing if _named(path, new.ignore_changes)))


def _differs(before: Resource, after: Resource, path: paths.Path) -> bool:
    """Whether a value differs as it is declared; a path that neither side has is the provider's own spelling."""
    old, new = (paths.value(resource.inputs, path) for resource in (before, after))
    return bool(old is None or old != new)


def _named(path: str, patterns: tuple[str, ...]) -> bool:
    return any(pattern == "*" or _within(paths.read(path), paths.read(pattern)) for pattern in patterns)


def _within(path: paths.Path, above: paths.Path) -> bool:
    return len(above) <= len(path) and all(pattern in ("*", step) for pattern, step in zip(above, path, strict=False))


def _names(new: Rendered) -> list[str]:
    """Return the URNs that a resource may have in the state: its own, and those under its former types."""
    urn, kind = new.resource.urn, new.resource.type
    head, _, name = urn.rpartition("::")
    return [urn, *(f"{head.removesuffix(kind)}{alias}::{name}" for alias in new.aliases if head.endswith(kind))]


def _urn(value: Any) -> str:
    """Return an URN as the engine has it, which leaves out the stack above."""
    return str(value or "").replace("pulumi:pulumi:Stack$", "")


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list | tuple) else ()
