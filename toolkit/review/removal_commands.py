"""Commands that remove what others have added to declared objects: the owner of the cluster decides on them."""

import json
import shlex
from dataclasses import replace
from typing import Any

from toolkit.review import live, paths
from toolkit.review.model import Change, Resource
from toolkit.review.paths import Path


def added(change: Change) -> tuple[Path, ...]:
    """Return the paths of a drifted object that others have added: entries of lists, keys of maps that are one value.

    None for an object that is gone.
    """
    if change.before is None or change.after is None:
        return ()
    return live.repaired(change.before, change.after.live).removed


def is_only_additions(change: Change) -> bool:
    """Whether an object has everything that is declared, and differs only by what others have added."""
    added_paths = added(change)
    if not added_paths or change.before is None or change.after is None:
        return False
    declared = live.as_live(replace(change.before, live=change.after.live))
    rest = live.as_live(replace(change.before, live=_without(change.after.live, added_paths)))
    return declared == change.after.inputs and rest == change.before.inputs


def patch_command(change: Change, kubectl: str) -> str:
    """Return the command that removes what others have added, and nothing else; `kubectl` is the client's command."""
    assert change.after is not None  # noqa: S101 - of what is gone nothing is added
    steps = [step for path in _last_first(added(change)) for step in _steps(change.after.live, path)]
    patch = shlex.quote(json.dumps(steps, separators=(",", ":")))
    return f"{_kubectl(change.after, kubectl, 'patch')} --type json -p {patch}"


def deletion_command(resource: Resource, kubectl: str) -> str:
    """Return the command that deletes an object."""
    return _kubectl(resource, kubectl, "delete")


def _kubectl(resource: Resource, kubectl: str, verb: str) -> str:
    group, _, version = resource.api_version.rpartition("/")
    kind = f"{resource.kind.lower()}.{version}.{group}" if group else resource.kind.lower()
    space = f" -n {shlex.quote(resource.namespace)}" if resource.namespace else ""
    return f"{kubectl}{space} {verb} {kind} {shlex.quote(resource.object_name)}"


def _steps(content: Any, path: Path) -> list[dict[str, Any]]:
    """Return the steps of a JSON patch that removes one path; an entry of a list only if it is still the same."""
    pointer = "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)
    value = paths.value(content, path)
    if isinstance(path[-1], int):
        return [{"op": "test", "path": pointer, "value": value}, {"op": "remove", "path": pointer}]
    empty: Any = False if value is True else [] if isinstance(value, list) else None
    if empty is not None:  # fields that a definition may require
        return [{"op": "replace", "path": pointer, "value": empty}]
    return [{"op": "remove", "path": pointer}]


def _last_first(paths: tuple[Path, ...]) -> list[Path]:
    """Sort paths so that removing one does not move another: the last entries of a list first."""
    return sorted(paths, key=lambda path: [(isinstance(step, int), step) for step in path], reverse=True)


def _without(content: Any, paths: tuple[Path, ...]) -> Any:
    for path in _last_first(paths):
        content = _removed(content, path)
    return content


def _removed(content: Any, path: Path) -> Any:
    step, rest = path[0], path[1:]
    if isinstance(content, list) and isinstance(step, int):
        return [*content[:step], *([_removed(content[step], rest)] if rest else []), *content[step + 1 :]]
    kept = {key: value for key, value in content.items() if key != step}
    return {**kept, step: _removed(content[step], rest)} if rest else kept
