"""YAML text to plain trees, with limits: nothing in a text can recurse, multiply or take long.

The parser's events are put together here without recursion. The composer of PyYAML calls itself for each level of
nesting and raises, or ends the process, on deep input; its trees by way of nodes also take twice the time.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from core.yaml import errors as yaml_errors
from core.yaml.text import resolve
from policies.manifests.values import Tree

DEEPEST = 128
"""Levels of nesting. The deepest schema of a CustomResourceDefinition has some 40; rules may recurse."""
_TAG = "tag:yaml.org,2002:"
_RESOLVED = frozenset(_TAG + name for name in ("int", "float", "bool", "null", "timestamp"))
_TAGS = _RESOLVED | {_TAG + name for name in ("str", "map", "seq")}
_KEY_WITHOUT_COLON = "while scanning a simple key"
"""An error that the parser reports one or more lines below its place."""
_CACHED = 100_000
"""Plain scalars whose values are remembered; manifests repeat themselves."""


class NotReadable(Exception):
    """A text, or the rest of it, cannot be read; `offset` is where, in characters.

    `begin` is where what cannot be read begins, when that is known to be further above.
    """

    def __init__(self, message: str, offset: int, begin: int | None = None) -> None:
        super().__init__(message)
        self.offset = offset
        self.begin = offset if begin is None else begin


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault that makes part of a document ineffective; `offset` is where, in characters."""

    message: str
    offset: int


@dataclass(frozen=True, slots=True)
class Document:
    """One document: its content, where it begins in its text, and its faults."""

    tree: Tree
    offset: int
    faults: tuple[Fault, ...]


@dataclass
class Aliases:
    """How many nodes aliases may still add: in proportion to the text, so that time and memory are, too."""

    left: int

    @classmethod
    def of(cls, text: str) -> "Aliases":
        """Return the allowance of a text."""
        return cls(10_000 + 10 * len(text))


@dataclass(slots=True)
class _Frame:
    """A mapping or sequence that is not complete yet."""

    content: Any
    key: Any
    anchor: str | None
    nodes: int
    height: int = 1
    merged: list[Any] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Anchored:
    value: Tree
    nodes: int
    height: int


_ITEM, _KEY, _MERGE, _NEW = object(), object(), object(), object()
"""What a frame waits for: an item, a key, the value of `<<`; and: not in the cache."""


def documents(text: str, aliases: Aliases, plain: dict[str, Any]) -> Iterator[Document]:
    """Yield the documents of a text; raise NotReadable where it ends to be readable. `plain` caches scalars."""
    parser = yaml.CSafeLoader(text)
    try:
        while (event := parser.get_event()) is not None:
            if type(event) is DocumentStartEvent:
                yield _Builder(parser.get_event, aliases, plain).build()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        key = error.context_mark if error.context == _KEY_WITHOUT_COLON else None
        raise NotReadable(
            f"is not YAML: {yaml_errors.reason(error, text)}", mark.index if mark else 0, key.index if key else None
        ) from None
    finally:
        parser.dispose()


class _Builder:
    def __init__(self, next_event: Any, aliases: Aliases, plain: dict[str, Any]) -> None:
        self._next = next_event
        self._aliases = aliases
        self._plain = plain
        self._anchors: dict[str, _Anchored | None] = {}  # None: still open
        self._faults: list[Fault] = []
        self._added = 0  # nodes that came by aliases

    def build(self) -> Document:  # noqa: PLR0912, PLR0915 - one loop without calls: it runs 100 times a manifest
        """Read events up to the document's end."""
        following, plain, faults = self._next, self._plain, self._faults
        waiting: list[_Frame] = []
        frame = _Frame([], _ITEM, None, 0)
        root, start, nodes = frame.content, -1, 0
        while True:
            event = following()
            kind = type(event)
            nodes += 1
            if kind is ScalarEvent:
                value: Any = event.value
                if event.implicit[0]:
                    resolved = plain.get(value, _NEW)
                    if resolved is _NEW:
                        resolved = self._resolved(value, event)
                    elif resolved.__class__ is float:
                        resolved = self._finite(resolved, value, event)
                    value = resolved
                elif event.tag is not None:
                    value = self._tagged(event)
                if event.anchor is not None:
                    self._anchors[event.anchor] = _Anchored(value, 1, 0)
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                self._open(event, frame, len(waiting))
                waiting.append(frame)
                frame = (
                    _Frame({}, _KEY, event.anchor, nodes)
                    if kind is MappingStartEvent
                    else _Frame([], _ITEM, event.anchor, nodes)
                )
                if start < 0:
                    start = event.start_mark.index
                continue
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                closed, frame = frame, waiting.pop()
                value = closed.content
                if closed.merged:
                    _merge(closed)
                if closed.anchor is not None:
                    size = nodes + self._added - closed.nodes
                    self._anchors[closed.anchor] = _Anchored(value, size, closed.height)
                if frame.height <= closed.height:
                    frame.height = closed.height + 1
            elif kind is AliasEvent:
                value = self._alias(event, frame, len(waiting))
            elif kind is DocumentEndEvent:
                return Document(root[0], max(start, 0), tuple(faults))
            else:  # pragma: no cover - the parser ends a document before the stream
                raise NotReadable("ends within a document", 0)
            key = frame.key
            if key is _ITEM:
                frame.content.append(value)
            elif key is _KEY:
                if value.__class__ is not str:
                    value = self._key(value, event)
                if value == "<<" and kind is ScalarEvent and event.implicit[0]:
                    value = _MERGE
                elif value in frame.content:
                    faults.append(Fault(f"the key {_short(value)} is a duplicate", event.start_mark.index))
                frame.key = value
            else:
                if key is _MERGE:
                    self._note_merge(value, frame, event)
                else:
                    frame.content[key] = value
                frame.key = _KEY

    def _open(self, event: Any, parent: _Frame, depth: int) -> None:
        if parent.key is _KEY:
            raise NotReadable("has a mapping or a list as a key", event.start_mark.index)
        if depth >= DEEPEST:
            raise NotReadable(f"is nested deeper than {DEEPEST} levels", event.start_mark.index)
        if event.tag is not None and event.tag not in _TAGS:
            self._unknown_tag(event)
        if event.anchor is not None:
            self._anchors[event.anchor] = None

    def _resolved(self, text: str, event: Any) -> Any:
        value = resolve(text)
        if len(self._plain) < _CACHED and len(text) <= DEEPEST:
            self._plain[text] = value
        return self._finite(value, text, event)

    def _finite(self, value: Any, text: str, event: Any) -> Any:
        if value.__class__ is float and not math.isfinite(value):
            self._faults.append(Fault(f"{text} is not a number that JSON has", event.start_mark.index))
            return text
        return value

    def _tagged(self, event: Any) -> Any:
        if event.tag not in _TAGS:
            self._unknown_tag(event)
        return self._resolved(event.value, event) if event.tag in _RESOLVED else event.value

    def _unknown_tag(self, event: Any) -> None:
        self._faults.append(
            Fault(f"the tag {_short(event.tag)} means nothing in a manifest; leave it out", event.start_mark.index)
        )

    def _alias(self, event: Any, parent: _Frame, depth: int) -> Any:
        offset = event.start_mark.index
        if event.anchor not in self._anchors:
            raise NotReadable(f"has an alias *{_short(event.anchor)} without its anchor before it", offset)
        anchored = self._anchors[event.anchor]
        if anchored is None:
            raise NotReadable(f"has an alias *{_short(event.anchor)} inside its own anchor", offset)
        if parent.key is _KEY and isinstance(anchored.value, dict | list):
            raise NotReadable("has a mapping or a list as a key", offset)
        if depth + anchored.height > DEEPEST:
            raise NotReadable(f"is nested deeper than {DEEPEST} levels by its aliases", offset)
        self._aliases.left -= anchored.nodes
        if self._aliases.left < 0:
            raise NotReadable("grows too large by its aliases", offset)
        self._added += anchored.nodes
        parent.height = max(parent.height, anchored.height + 1)
        return anchored.value

    def _key(self, value: Any, event: Any) -> str:
        if value is None:
            self._faults.append(Fault("a key is empty", event.start_mark.index))
            return ""
        return str(value).lower() if isinstance(value, bool) else str(value)

    def _note_merge(self, value: Any, frame: _Frame, event: Any) -> None:
        entries = value if isinstance(value, list) else [value]
        if all(isinstance(entry, dict) for entry in entries):
            frame.merged += entries
        else:
            self._faults.append(Fault("<< merges something that is not a mapping", event.start_mark.index))


def _merge(frame: _Frame) -> None:
    """Put what `<<` brings beneath the mapping's own keys; of several mappings the first counts."""
    own_keys = dict(frame.content)
    for entry in reversed(frame.merged):
        frame.content.update(entry)
    frame.content.update(own_keys)


def _short(text: str) -> str:
    return text if len(text) <= DEEPEST else f"{text[:DEEPEST]}..."
