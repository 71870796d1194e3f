"""The place of a field in its text. Only documents with findings are read a second time, so no marks are stored."""

from collections.abc import Collection
from typing import Any

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from core.yaml.text import resolve
from policies.manifests.values import Path


def offsets(text: str, document: int, paths: Collection[Path]) -> dict[Path, int]:
    """Return the place of each path in the document of that number: of a field its key, of a list's entry its begin.

    An absent field has the place of the deepest part that leads to it.
    """
    starts = _find(text, document, {path[:length] for path in paths for length in range(len(path) + 1)})
    return {path: next((starts[path[:n]] for n in range(len(path), -1, -1) if path[:n] in starts), 0) for path in paths}


def _find(text: str, document: int, paths: set[Path]) -> dict[Path, int]:
    parser = yaml.CSafeLoader(text)
    try:
        while (event := parser.get_event()) is not None:
            if type(event) is DocumentStartEvent:
                if document == 0:
                    return _walk(parser.get_event, paths)
                document -= 1
    except yaml.YAMLError:  # the rest of a text that cannot be read
        pass
    finally:
        parser.dispose()
    return {}


def _walk(following: Any, paths: set[Path]) -> dict[Path, int]:
    starts: dict[Path, int] = {}
    waiting: list[tuple[Path | None, int]] = []
    path: Path | None = None  # of the collection; None for one without wanted paths, and around the document
    index = -1  # of the next entry of a list; -1 in a mapping
    key: Path | None = None  # path of the value that comes next, when its key was read
    expects_key = False
    while len(starts) < len(paths):
        event = following()
        kind = type(event)
        if kind in (MappingEndEvent, SequenceEndEvent):
            path, index = waiting.pop()
            if not waiting:
                return starts
            key, expects_key = None, index < 0
            continue
        here: Path | None
        if not waiting:
            here = ()
            starts[here] = event.start_mark.index
        elif index >= 0:
            here = _below(path, index, paths)
            index += 1
            if here is not None:
                starts[here] = event.start_mark.index
        elif expects_key:
            key = _below(path, _name(event), paths)
            expects_key = False
            if key is not None:
                starts[key] = event.start_mark.index
            continue
        else:
            here, expects_key = key, True
        if kind in (MappingStartEvent, SequenceStartEvent):
            waiting.append((path, index))
            path, index, expects_key = here, 0 if kind is SequenceStartEvent else -1, kind is MappingStartEvent
        elif not waiting or kind not in (ScalarEvent, AliasEvent):
            break
    return starts


def _below(path: Path | None, step: str | int, paths: set[Path]) -> Path | None:
    if path is None or (*path, step) not in paths:
        return None
    return (*path, step)


def _name(event: Any) -> str:
    text: str = getattr(event, "value", "")  # an alias has none
    value = resolve(text) if event.__class__ is ScalarEvent and event.implicit[0] else text
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)
