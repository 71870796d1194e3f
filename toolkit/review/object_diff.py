"""What differs in the declared fields of one object, as the lines of a YAML-like diff: only what changes, and where."""

import difflib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.pulumi_values import REDACTED
from toolkit.review import paths
from toolkit.review.model import CHANGED, Change, Resource
from toolkit.review.scalars import LONGEST, content, empty, lines, scalar
from toolkit.review.sentences import shortened, visible

_ABSENT = object()
_KEYS = ("name", "key", "id", "path")
"""Fields by which entries of a list are the same entry, before and after."""
_ALIGNED = 200
"""Entries of a list that are compared by what they are; longer ones are compared by place, which is fast."""
_DEEPEST = 40
_SECRETS = {"Secret": ("data", "stringData"), "kubernetes": ("kubeconfig",)}
"""Fields that are never shown, by the kind or provider that has them."""
_COUNTED = re.compile(r": \([\d,]+ lines(?: added, [\d,]+ removed)?\)")
_FIRST = ("metadata", "name", "namespace")


def difference(change: Change, most: int = 80, texts: int | None = None) -> list[str]:
    """Return at most `most` lines, each with its sign: what is added, changed or removed.

    A text of several lines, such as a dashboard, has at most `texts` of them; a longer one is counted.
    """
    before, after = (_declared(resource) if resource else _ABSENT for resource in (change.before, change.after))
    forced = frozenset(paths.read(text) for text in change.replaced_for)
    texts_shown: list[str] = []
    for line in _Differ(forced, texts).compare(before, after):
        if len(texts_shown) == most:
            texts_shown.append("… more lines differ")
            break
        texts_shown.append(line.text)
    return texts_shown


def is_counted(line: str) -> bool:
    """Whether a line of a difference replaces a text that was too long."""
    return _COUNTED.search(line) is not None


@dataclass(frozen=True)
class _Line:
    sign: str
    depth: int
    words: str

    @property
    def text(self) -> str:
        return f"{self.sign} {'  ' * self.depth}{self.words}".rstrip()


class _Differ:
    def __init__(self, forced: frozenset[paths.Path], texts: int | None) -> None:
        self._forced, self._texts = forced, texts

    def compare(self, before: Any, after: Any) -> Iterator[_Line]:
        """Yield the lines for a whole object."""
        if before is _ABSENT or after is _ABSENT:
            sign, tree = ("+", after) if before is _ABSENT else ("-", before)
            for key, value in _items({} if tree is _ABSENT else tree):
                yield from self._whole(sign, key, value, 0, ())
        else:
            yield from self._mapping(before, after, 0, ())

    def _mapping(
        self, before: Mapping[str, Any], after: Mapping[str, Any], depth: int, at: paths.Path
    ) -> Iterator[_Line]:
        for key in sorted({*before, *after}, key=_order):
            yield from self._entry(key, before.get(key, _ABSENT), after.get(key, _ABSENT), depth, (*at, key))

    def _entry(self, key: Any, before: Any, after: Any, depth: int, at: paths.Path) -> Iterator[_Line]:
        if before is _ABSENT or after is _ABSENT:
            sign, value = ("+", after) if before is _ABSENT else ("-", before)
            yield from self._whole(sign, key, value, depth, at)
            return
        if _same(before, after):
            return
        head = f"{_key(key)}:"
        if depth < _DEEPEST and _both_are(before, after, Mapping):
            yield from self._under(head, self._mapping(before, after, depth + 1, at), depth, at)
        elif depth < _DEEPEST and _both_are(before, after, list):
            yield from self._under(head, self._list(before, after, depth + 1, at), depth, at)
        elif (old := lines(before)) and (new := lines(after)):
            yield from self._text(head, list(_texts(old, new, depth + 1)), depth, at)
        else:
            old, new = _from_difference(before, after)
            yield from self._whole("-", key, old, depth, ())
            yield from self._whole("+", key, new, depth, at)

    def _under(self, head: str, below: Iterator[_Line], depth: int, at: paths.Path) -> Iterator[_Line]:
        yield _Line(" ", depth, head + self._mark(at))
        yield from below

    def _text(self, head: str, lines: list[_Line], depth: int, at: paths.Path) -> Iterator[_Line]:
        if self._texts is None or len(lines) <= self._texts:
            yield from self._under(f"{head} |", iter(lines), depth, at)
            return
        added, removed = (sum(line.sign == sign for line in lines) for sign in "+-")
        yield _Line("~", depth, f"{head} ({added:,} lines added, {removed:,} removed){self._mark(at)}")

    def _list(self, before: list[Any], after: list[Any], depth: int, at: paths.Path) -> Iterator[_Line]:
        if identity := _identity(before, after):
            yield from self._keyed(before, after, identity, depth, at)
        elif max(len(before), len(after)) > _ALIGNED:
            for index in range(max(len(before), len(after))):
                old, new = (side[index] if index < len(side) else _ABSENT for side in (before, after))
                yield from self._item(old, new, depth, (*at, index))
        else:
            yield from self._aligned(before, after, depth, at)

    def _keyed(self, before: list[Any], after: list[Any], identity: str, depth: int, at: paths.Path) -> Iterator[_Line]:
        old = {entry[identity]: entry for entry in before}
        places = {entry[identity]: index for index, entry in enumerate(after)}
        for key in [*old, *(key for key in places if key not in old)]:
            index = places.get(key, 0)
            new = after[index] if key in places else _ABSENT
            yield from self._item(old.get(key, _ABSENT), new, depth, (*at, index), identity)

    def _aligned(self, before: list[Any], after: list[Any], depth: int, at: paths.Path) -> Iterator[_Line]:
        old_texts, new_texts = (
            [json.dumps(entry, sort_keys=True, default=str) for entry in side] for side in (before, after)
        )
        for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old_texts, new_texts, autojunk=False).get_opcodes():
            if tag == "equal":
                continue
            for index in range(max(i2 - i1, j2 - j1)):
                old = before[i1 + index] if i1 + index < i2 else _ABSENT
                new = after[j1 + index] if j1 + index < j2 else _ABSENT
                yield from self._item(old, new, depth, (*at, j1 + index))

    def _item(self, before: Any, after: Any, depth: int, at: paths.Path, identity: str = "") -> Iterator[_Line]:
        if before is not _ABSENT and after is not _ABSENT:
            if _same(before, after):
                return
            if depth < _DEEPEST and _both_are(before, after, Mapping):
                name = f" {identity}: {scalar(before[identity])}" if identity else ""
                yield _Line(" ", depth, f"-{name}{self._mark(at)}")
                yield from self._mapping(before, after, depth + 1, at)
                return
        for sign, value in (("-", before), ("+", after)):
            if value is not _ABSENT:
                yield from _listed(self._tree(sign, value, depth, at))

    def _whole(self, sign: str, key: Any, value: Any, depth: int, at: paths.Path) -> Iterator[_Line]:
        value = content(value)
        mark = self._mark(at)
        if isinstance(value, Mapping | list) and value and depth < _DEEPEST:
            yield _Line(sign, depth, f"{_key(key)}:{mark}")
            yield from self._tree(sign, value, depth + 1, ())
        elif (text := lines(value)) and self._texts is not None and len(text) > self._texts:
            yield _Line(sign, depth, f"{_key(key)}: ({len(text) - (not text[-1]):,} lines){mark}")
        elif text:
            yield _Line(sign, depth, f"{_key(key)}: |{mark}")
            yield from (_Line(sign, depth + 1, line) for line in text)
        else:
            yield _Line(sign, depth, f"{_key(key)}: {_summary(value)}{mark}")

    def _tree(self, sign: str, value: Any, depth: int, at: paths.Path) -> Iterator[_Line]:
        if depth >= _DEEPEST or not isinstance(value, Mapping | list) or not value:
            yield _Line(sign, depth, f"{_summary(value)}{self._mark(at)}")
        elif isinstance(value, Mapping):
            for key, item in _items(value):
                yield from self._whole(sign, key, item, depth, (*at, key) if at else ())
        else:
            for item in value:
                yield from _listed(self._tree(sign, item, depth, ()))

    def _mark(self, at: paths.Path) -> str:
        return "  # forces replacement" if at and at in self._forced else ""


def _listed(lines: Iterable[_Line]) -> Iterator[_Line]:
    """Put the dash of a list before an entry's first line, and the others below it."""
    for index, line in enumerate(lines):
        yield _Line(line.sign, line.depth + (index > 0), f"- {line.words}" if index == 0 else line.words)


def _texts(before: list[str], after: list[str], depth: int) -> Iterator[_Line]:
    for line in list(difflib.unified_diff(before, after, lineterm="", n=2))[2:]:
        if line.startswith("@@"):
            yield _Line(" ", depth, "…")
        else:
            yield _Line(line[0], depth, line[1:])


def _from_difference(before: Any, after: Any) -> tuple[Any, Any]:
    """Return two long texts from where they begin to differ, so that shortening does not hide that."""
    if not (isinstance(before, str) and isinstance(after, str)) or max(len(before), len(after)) <= LONGEST:
        return before, after
    if scalar(before).startswith("(") or scalar(after).startswith("("):
        return before, after
    pairs: Callable[[], Iterator[tuple[str, str]]] = lambda: zip(before, after, strict=False)  # noqa: E731
    start = next((index for index, (old, new) in enumerate(pairs()) if old != new), min(len(before), len(after)))
    start = max(0, start - LONGEST // 4)
    lead = "…" if start else ""
    return tuple(
        lead + text[start : start + LONGEST] + ("…" if len(text) > start + LONGEST else "") for text in (before, after)
    )  # type: ignore[return-value]


def _declared(resource: Resource) -> Mapping[str, Any]:
    """Return what is declared, without the fields that only identify the object, and without secrets."""
    shown = {key: value for key, value in resource.inputs.items() if key not in ("apiVersion", "kind")}
    for key in _SECRETS.get(resource.kind, ()):
        if key in shown:
            value = shown[key]
            shown[key] = (
                {key: _hidden(text) for key, text in value.items()} if isinstance(value, Mapping) else _hidden(value)
            )
    return shown


def _hidden(value: Any) -> Any:
    return value if value == CHANGED else REDACTED


def _items(tree: Any) -> Iterable[tuple[Any, Any]]:
    return [(key, tree[key]) for key in sorted(tree, key=_order)] if isinstance(tree, Mapping) else ()


def _order(key: Any) -> tuple[int, str]:
    """Sort keys: renders and events have them in any order."""
    return _FIRST.index(key) if key in _FIRST else len(_FIRST), str(key)


def _key(key: Any) -> str:
    return shortened(visible(str(key)), LONGEST)


def _summary(value: Any) -> str:
    return empty(value) or (scalar(value) if not isinstance(value, Mapping | list) else "(deeper than is shown)")


def _both_are(before: Any, after: Any, kind: type) -> bool:
    return isinstance(before, kind) and isinstance(after, kind)


def _same(before: Any, after: Any) -> bool:
    return type(before) is type(after) and bool(before == after)


def _identity(before: list[Any], after: list[Any]) -> str:
    """Return the field that identifies the entries of both lists; empty where none does."""
    for key in _KEYS:
        if all(
            all(isinstance(entry, Mapping) and isinstance(entry.get(key), str) for entry in side)
            and len({entry[key] for entry in side}) == len(side)
            for side in (before, after)
        ):
            return key
    return ""
