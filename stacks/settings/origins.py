"""Settings as data, with the file that each value is from and its place there; the error of wrong ones."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pulumi

from core.errors import UserError
from core.yaml.places import path

Place = tuple[str | int, ...]
"""Where something stands: keys of maps and positions in lists, from the outside in."""


@dataclass(frozen=True)
class Part:
    """A value with where it was written; a map or a list that several files make up has the last file's place."""

    content: Any
    """A map or a list of parts, or a single value."""
    file: str
    place: Place

    @property
    def plain(self) -> Any:
        """The value as data."""
        if isinstance(self.content, dict):
            return {key: part.plain for key, part in self.content.items()}
        return [part.plain for part in self.content] if isinstance(self.content, list) else self.content

    @property
    def leaves(self) -> Iterator[tuple[Place, "Part"]]:
        """Each single value, and each empty map or list, by its place in these settings."""
        yield from _leaves(self, ())

    def at(self, place: Sequence[str | int]) -> tuple[str, Place]:
        """Return file and place there of what is at `place` in these settings, or would be if it were there."""
        part = self
        for depth, step in enumerate(place):
            inner = part.content
            has_step = (
                step in inner if isinstance(inner, dict) else isinstance(inner, list) and step in range(len(inner))
            )
            if not has_step:
                return part.file, (*part.place, *place[depth:])
            part = inner[step]
        return part.file, part.place


@dataclass(frozen=True)
class Places:
    """How messages name places of settings; the same settings from other files are equal."""

    shown: Callable[[Sequence[str | int]], str] = field(default=lambda place: f"{path(place)}: ", compare=False)


def parts(data: Any, file: str, place: Place) -> Part:
    """Return the data of a file with its places; `place` is where in the file it is."""
    if isinstance(data, Mapping):
        return Part({key: parts(value, file, (*place, key)) for key, value in data.items()}, file, place)
    if isinstance(data, list | tuple):
        return Part([parts(value, file, (*place, index)) for index, value in enumerate(data)], file, place)
    return Part(data, file, place)


def _leaves(part: Part, place: Place) -> Iterator[tuple[Place, Part]]:
    inner = part.content
    entries = inner.items() if isinstance(inner, dict) else enumerate(inner) if isinstance(inner, list) else ()
    if not entries or not inner:
        yield place, part
        return
    for key, value in entries:
        yield from _leaves(value, (*place, key))


class SettingsError(pulumi.RunError, UserError):
    """The settings of a stack are wrong; the message names every field, its value and the remedy."""


def wrong(source: str, problems: Sequence[str]) -> SettingsError:
    """Return the error of a file with all that is wrong in it, a line for each."""
    return SettingsError(f"{source}: {len(problems)} wrong\n" + "\n".join(problems))
