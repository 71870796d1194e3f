"""What a release does not support: every message names the setting and the release."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from stacks.releases import RELEASES, Release, either
from stacks.settings.platform import Settings


def problems(settings: Settings) -> Iterator[str]:
    """Yield every setting that the release does not support, or requires."""
    release = settings.version
    for path, choices in release.choices.items():
        for place, value in _values(settings, path.split(".")):
            if value is not None and value not in choices:
                yield (
                    f"{place}: OpenShift {release.name} does not support {value}; use {either(choices)}"
                    f"{_other_releases(release, path, value)}"
                )
    for path, reason in release.lacks.items():
        for place, value in _set_values(settings, path):
            if value:
                other = _other_releases(release, path)
                yield (
                    f"{place}: OpenShift {release.name} does not support {reason}{_value_text(value)}; "
                    f"leave it out{other}"
                )
    for path, reason in release.needs.items():
        for place, value in _values(settings, path.split(".")):
            if value is None:
                yield f"{place} is missing, and OpenShift {release.name} needs it: {reason}"


def _value_text(value: Any) -> str:
    """Return a value as errors of single fields show it, nothing for one of several parts."""
    return f" (value: {value!r})" if isinstance(value, str | int | float) else ""


def _other_releases(release: Release, path: str, value: str | None = None) -> str:
    names = [
        other.name
        for other in RELEASES.values()
        if other is not release
        and not any(path == lacked or path.startswith(f"{lacked}.") for lacked in other.lacks)
        and (value is None or value in other.choices.get(path, (value,)))
    ]
    return f", or use release {either(names)}" if names else ""


def _set_values(settings: Settings, path: str) -> Iterator[tuple[str, Any]]:
    """Yield place and value of a path; of nodes once and by name: ranges are expanded, and have other places."""
    field = path.removeprefix("nodes.*.")
    names = [node.name for node in settings.nodes if getattr(node, field, None)] if field != path else []
    if names:
        yield f"nodes: {field} of {names[0]}{f' and {len(names) - 1} more' if names[1:] else ''}", True
    elif field == path:
        yield from _values(settings, path.split("."))


def _values(part: Any, path: list[str], place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield place and value of a path; nothing where a part of the path is missing or has no such field."""
    if not path:
        yield place, part
    elif path[0] == "*" and isinstance(part, Iterable) and not isinstance(part, Mapping):
        for index, item in enumerate(part):
            yield from _values(item, path[1:], f"{place}[{index}]")
    elif isinstance(part, BaseModel) and path[0] in type(part).model_fields:
        yield from _values(getattr(part, path[0]), path[1:], f"{place}.{path[0]}".lstrip("."))
