"""What would change: the recorded live object against new inputs, as the official provider compares them (pure)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from toolkit.engine.prediction.inputs import AUTONAMED, ObjectType, annotation, name_of, namespace_of, with_metadata
from toolkit.engine.prediction.replacement_rules import replaces, rules
from toolkit.engine.prediction.typed_form import normalized
from toolkit.engine.prediction.values import MISSING, Path, Properties, Unknown, plain, prune, with_dashes

DEFAULT_NAMESPACE = "default"
_NEEDS_QUOTES = re.compile(r"[.\"\[\]]")

# An unknown value in the official provider's patches, so that one in the place of an object removes all that it held.
_UNKNOWN = {"Element": {"V": ""}}
Operation = Literal["add", "delete", "update"]


@dataclass(frozen=True)
class Change:
    """One difference: where, what happens there, the new value (MISSING if removed), if it forces a new object."""

    path: Path
    operation: Operation
    new: Any
    replaces: bool = False


@dataclass(frozen=True)
class Difference:
    """All changes of one object, and whether a replacement must delete the old object first (they share a name)."""

    changes: tuple[Change, ...]
    delete_first: bool

    @property
    def replaces(self) -> bool:
        """Whether the object must be replaced."""
        return any(_replaced(change) for change in self.changes)

    @property
    def replaced_paths(self) -> list[str]:
        """The paths whose change replaces the object."""
        return [text_of_path(change.path) for change in self.changes if _replaced(change)]


def _replaced(change: Change) -> bool:
    return change.replaces or (change.operation == "delete" and change.path == ("metadata",))


def difference(
    old_inputs: Properties,
    live: Properties,
    new_inputs: Properties,
    kind: ObjectType,
    *,
    namespaced: bool | None = None,
    mutable_kinds: frozenset[str] = frozenset(),
    ignored: tuple[Path, ...] = (),
) -> Difference:
    """Return the changes from the live object, as far as the old inputs had set it, to the new inputs.

    So a field that another owner set is not a change, and one of this manager that was changed out of band is, once a
    refresh has read it. `namespaced`: whether the kind has namespaces; the live object says so where it is not given.
    """
    if namespaced is None:
        namespaced = bool(namespace_of(live))
    new = normalized(with_dashes(plain(new_inputs)))
    old: Properties = prune(live, normalized(old_inputs))
    # Without a namespace of its own an object is in `default`, but for kinds without.
    old, new = (
        with_metadata(value, namespace=(namespace_of(value) or DEFAULT_NAMESPACE) if namespaced else MISSING)
        for value in (old, new)
    )
    for field in ("apiVersion", "kind"):
        old.setdefault(field, new.get(field))
    if name_of(new):
        old = with_metadata(old, name=name_of(live))
    paths = rules(kind, mutable_kinds=mutable_kinds, immutable=new.get("immutable") is True)
    all_changes = _Comparison(paths).changes(old, new)
    changes = tuple(change for change in all_changes if not any(_contains(path, change.path) for path in ignored))
    metadata = new.get("metadata")
    named = bool(name_of(new)) or (isinstance(metadata, dict) and isinstance(metadata.get("name"), Unknown))
    same = name_of(new) == name_of(live) and namespace_of(new) == namespace_of(live)
    stays = named and same and annotation(new, AUTONAMED) != "true"
    return Difference(changes, delete_first=stays and any(_replaced(change) for change in changes))


def merge_patch(old: Any, new: Any) -> dict[str, Any]:
    """Return the JSON merge patch from one object to another: nulls for what is gone."""
    patch: dict[str, Any] = {}
    for key, value in new.items():
        before = old.get(key, MISSING)
        if isinstance(before, dict) and isinstance(value, dict | Unknown):
            inner = merge_patch(before, _as_json(value))
            if inner:
                patch[key] = inner
        elif before is MISSING or not _equal(before, value):
            patch[key] = _as_json(value)
    return {**patch, **{key: None for key in old if key not in new}}


def _as_json(value: Any) -> Any:
    match value:
        case Unknown():
            return _UNKNOWN
        case dict():
            return {key: _as_json(item) for key, item in value.items()}
        case list():
            return [_as_json(item) for item in value]
        case _:
            return value


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_equal(value, right[key]) for key, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_equal, left, right))
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return bool(left == right)


@dataclass(frozen=True)
class _Comparison:
    """Turns a merge patch into changes path by path; `paths` are those whose change replaces."""

    paths: tuple[Path, ...]

    def changes(self, old: Properties, new: Properties) -> list[Change]:
        return list(self._object((), merge_patch(old, new), old, new, in_list=False))

    def _object(self, path: Path, patch: Any, old: Any, new: Any, *, in_list: bool) -> Iterator[Change]:
        new_fields = new if isinstance(new, dict) else {}
        for key, value in patch.items():
            yield from self._value(
                (*path, key), value, old.get(key, MISSING), new_fields.get(key, MISSING), in_list=in_list
            )
        if in_list:  # a patch replaces lists as a whole, and so does not say what is gone within
            for key, value in old.items():
                if key not in patch:
                    yield from self._value((*path, key), None, value, new_fields.get(key, MISSING), in_list=True)

    def _list(self, path: Path, patch: list[Any], old: list[Any], new: Any) -> Iterator[Change]:
        new_items = new if isinstance(new, list) else []
        for index in range(max(len(patch), len(old))):
            value, before, after = (
                patch[index] if index < len(patch) else None,
                old[index] if index < len(old) else MISSING,
                new_items[index] if index < len(new_items) else None,
            )
            yield from self._value((*path, index), value, before, after, in_list=True)

    def _value(self, path: Path, patch: Any, old: Any, new: Any, *, in_list: bool) -> Iterator[Change]:
        if new is MISSING and (patch is not None or old is MISSING):
            return
        if patch is None:
            operation: Operation = "delete"
        elif old is MISSING:
            operation = "add"
        elif isinstance(patch, dict) and isinstance(old, dict):
            yield from self._object(path, patch, old, new, in_list=in_list)
            return
        elif isinstance(patch, list) and isinstance(old, list):
            yield from self._list(path, patch, old, new)
            return
        elif _equal(patch, old):
            return
        else:
            operation = "update"
        yield Change(
            path,
            operation,
            MISSING if operation == "delete" else new,
            replaces=replaces(path, patch, self.paths),
        )


def _contains(prefix: Path, path: Path) -> bool:
    return len(prefix) <= len(path) and all(want in ("*", step) for want, step in zip(prefix, path, strict=False))


def text_of_path(path: Path) -> str:
    """Return a path in the engine's syntax: `spec.containers[0].image`, `metadata.labels["app.kubernetes.io/name"]`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _NEEDS_QUOTES.search(step):
            escaped = step.replace('"', '\\"')
            text += f'["{escaped}"]'
        else:
            text += f".{step}" if text else step
    return text


def path_of_text(text: str) -> Path:
    """Return the opposite of `text_of_path`. Raises ValueError."""
    steps: list[str | int] = []
    remaining = text
    while remaining:
        token = re.match(r'\["((?:[^"\\]|\\.)*)"\]|\[(\d+|\*)\]|\.?([^.\[\]]+)', remaining)
        if token is None:
            raise ValueError("missing closing bracket in array index" if "[" in remaining else f"invalid path {text!r}")
        quoted, index, name = token.groups()
        if quoted is not None:
            steps.append(quoted.replace('\\"', '"'))
        elif index is not None:
            steps.append(index if index == "*" else int(index))
        else:
            steps.append(name)
        remaining = remaining[token.end() :]
    return tuple(steps)
