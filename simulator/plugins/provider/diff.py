"""What would change: the recorded live object against new inputs (pure)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from simulator.plugins.provider.inputs import AUTONAMED, ObjectType, annotation, manifest, name_of, namespace_of
from simulator.plugins.provider.replacing import replaces, rules
from simulator.plugins.provider.shapes import Path, is_nothing, prune, same
from simulator.plugins.provider.values import MISSING, Properties, Unknown

DEFAULT_NAMESPACE = "default"
_NEEDS_QUOTES = re.compile(r"[.\"\[\]]")

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
        return any(change.replaces for change in self.changes)


def difference(
    old_inputs: Properties,
    live: Properties,
    new_inputs: Properties,
    kind: ObjectType,
    *,
    mutable_kinds: frozenset[str] = frozenset(),
    ignored: tuple[Path, ...] = (),
) -> Difference:
    """Return the changes from the live object, as far as the old inputs had asked for it, to the new inputs.

    So a field that another owner set is no change, and one of ours that somebody changed by hand is.
    """
    old, new = manifest(old_inputs), _in_namespace(manifest(new_inputs), live)
    base = prune(live, old)
    base.setdefault("metadata", {})
    named = new.get("metadata", {})
    for field in ("name", "namespace"):
        if isinstance(named, dict) and field in named and field in live.get("metadata", {}):
            base["metadata"] = {**base["metadata"], field: live["metadata"][field]}
    for field in ("apiVersion", "kind"):
        base.setdefault(field, old.get(field, new.get(field)))
    paths = rules(kind, mutable_kinds=mutable_kinds, immutable=live.get("immutable") is True)
    found = tuple(
        replace(change, path=_as_written(change.path, new_inputs), replaces=replaces(change.path, change.new, paths))
        for change in _changes(base, new, live, (), builtin=kind.builtin)
    )
    changes = tuple(change for change in found if not any(_contains(path, change.path) for path in ignored))
    same_name = name_of(new) == name_of(live) and namespace_of(new) == namespace_of(live)
    autonamed = annotation(new, AUTONAMED) == "true"
    needs_new = any(change.replaces for change in changes)
    return Difference(changes, delete_first=needs_new and same_name and not autonamed)


def _in_namespace(new: Properties, live: Properties) -> Properties:
    """Return the new object in the namespace it would get (the live one tells whether the kind has namespaces)."""
    metadata = new.get("metadata")
    if not isinstance(metadata, dict):
        return new
    if namespace_of(live):
        metadata = {**metadata, "namespace": metadata.get("namespace") or DEFAULT_NAMESPACE}
    else:
        metadata = {key: value for key, value in metadata.items() if key != "namespace"}
    return {**new, "metadata": metadata}


def _changes(old: Any, new: Any, live: Any, path: Path, *, builtin: bool) -> Iterator[Change]:
    if isinstance(new, Unknown):
        yield Change(path, "add" if old is MISSING else "update", new)
    elif new is MISSING:
        yield Change(path, "delete", MISSING)
    elif old is MISSING:
        # The server leaves out empty optional fields of what it knows, which is every kind's metadata: asking for them
        # changes nothing.
        known = builtin or path[:1] == ("metadata",)
        if not (known and live is MISSING and is_nothing(new)):
            yield Change(path, "add", new)
    elif isinstance(old, dict) and isinstance(new, dict):
        for key in (*new, *(key for key in old if key not in new)):
            rest = live.get(key, MISSING) if isinstance(live, dict) else MISSING
            yield from _changes(old.get(key, MISSING), new.get(key, MISSING), rest, (*path, key), builtin=builtin)
    elif isinstance(old, list) and isinstance(new, list):
        for index in range(max(len(old), len(new))):
            before, after, rest = (_item(values, index) for values in (old, new, live))
            yield from _changes(before, after, rest, (*path, index), builtin=builtin)
    elif not same(old, new, path, builtin=builtin):
        yield Change(path, "update", new)


def _item(values: Any, index: int) -> Any:
    return values[index] if isinstance(values, list) and index < len(values) else MISSING


def _as_written(path: Path, inputs: Properties) -> Path:
    """Return the path as the program wrote it: keys of a Secret's data may come from stringData."""
    texts = inputs.get("stringData")
    texts = getattr(texts, "value", texts)
    if path[:1] == ("data",) and isinstance(texts, dict) and (len(path) == 1 or path[1] in texts):
        return ("stringData", *path[1:])
    return path


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
    """Return the opposite of `text_of_path`."""
    steps: list[str | int] = []
    for quoted, index, name in re.findall(r'\["((?:[^"\\]|\\.)*)"\]|\[(\d+|\*)\]|([^.\[\]]+)', text):
        if quoted:
            steps.append(quoted.replace('\\"', '"'))
        elif index:
            steps.append(index if index == "*" else int(index))
        else:
            steps.append(name)
    return tuple(steps)
