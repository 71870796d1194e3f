"""Paths of properties in the engine's spelling, `spec.containers[0].image`, `data["a.b"]`, and values at them."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

Path = tuple[str | int, ...]
_STEP = re.compile(r'\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.\[\]]+)')
_NEEDS_QUOTES = re.compile(r'[."\[\]]')


def read(text: str) -> Path:
    """Return the steps of a path."""
    return tuple(
        int(index) if index else (re.sub(r"\\(.)", r"\1", quoted) if quoted else name)
        for quoted, index, name in _STEP.findall(text)
    )


def show(path: Sequence[str | int]) -> str:
    """Return a path as the engine spells it."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _NEEDS_QUOTES.search(step):
            escaped = step.replace("\\", "\\\\").replace('"', '\\"')
            text += f'["{escaped}"]'
        else:
            text += f".{step}" if text else step
    return text


def value(content: Any, path: Path) -> Any:
    """Return the value at a path; None where there is none."""
    for step in path:
        if isinstance(step, int):
            content = content[step] if isinstance(content, list) and step < len(content) else None
        else:
            content = content.get(step) if isinstance(content, dict) else None
    return content


def put(content: Any, path: Path, new: Any) -> Any:
    """Return a copy of the content with a value at a path, as far as the path is there already."""
    if not path:
        return new
    step, rest = path[0], path[1:]
    if isinstance(step, int) and isinstance(content, list) and step < len(content):
        return [*content[:step], put(content[step], rest, new), *content[step + 1 :]]
    if isinstance(step, str) and isinstance(content, dict) and step in content:
        return {**content, step: put(content[step], rest, new)}
    return content


def differing(before: Any, after: Any, at: Path = ()) -> Iterator[Path]:
    """Yield the paths at which two contents differ; a list of another length as a whole."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in (*before, *(key for key in after if key not in before)):
            if key in before and key in after:
                yield from differing(before[key], after[key], (*at, key))
            else:
                yield (*at, key)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from differing(old, new, (*at, index))
    elif before != after:
        yield at
