"""Settings with what they are based on: a file's own over those of its `base`, which may have a base, too.

A base is the file of a stack, or a file with settings alone. Its path begins at the project's folder and ends inside
it: so a commit is rendered with the base of that commit. It has no secrets: the engine decrypts only those of the
stack's own file.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from apis import yaml_text
from apis.yaml_errors import FileError
from hardware import field_errors
from stacks import merging
from stacks.base_settings import Based
from stacks.origins import Part, Place, parts
from stacks.platform import Settings
from stacks.settings_error import SettingsError, wrong

PROJECT = "hpc"
KEY = "platform"
SETTING = f"{PROJECT}:{KEY}"
"""The key of all settings below `config`."""
_FIELDS = Based.model_fields.keys()
_MODELS = (Settings,)
"""What merges by which key; a file of tenants has the same lists."""
_REMEDIES = {"base": "write the path of a file", "without": "write a list of paths, e.g. [gpu.gdrcopy]"}
_BEGINNING = re.compile(r"[\w.]+")
"""The setting that the message of a rule across settings begins with."""


@dataclass(frozen=True)
class Whole:
    """Settings as if they were in one file."""

    data: Any
    source: str
    """The stack's own file."""
    part: Part | None = None
    """The same with the file of each value; None where all is from `source`."""
    files: tuple[str, ...] = ()
    """The bases, from the nearest one to the farthest, by their paths below the project's folder."""

    def shown(self, place: Sequence[str | int]) -> str:
        """Return what is at a place as a message names it: by its path in its file, and by the file if it is a base."""
        file, there = self._at(place)
        path = ".".join(map(str, there))
        return path if file == self.source else f"{file}: {path}"

    def located(self, problem: str) -> str:
        """Return a message with the setting that it begins with as `shown` has it."""
        written, place = _beginning(problem)
        return self.shown(place) + problem.removeprefix(written)

    def about(self, problem: str) -> tuple[str, str]:
        """Return the file of the setting that the message of a rule begins with, and the message as of that file."""
        file, there = self._at(_beginning(problem)[1])
        return file, f"{SETTING}: {problem}" if there[:1] == (SETTING,) else problem

    def _at(self, place: Sequence[str | int]) -> tuple[str, Place]:
        return self.part.at(place) if self.part else (self.source, (SETTING, *place))


def whole(data: Any, source: str, root: Path) -> Whole:
    """Return settings of the file `source` over its bases below `root`; raise SettingsError for a wrong base."""
    if not isinstance(data, Mapping) or not _FIELDS & data.keys():
        return Whole(data, source)
    files: list[str] = []
    part = _with_base(parts(data, source, (SETTING,)), root, files)
    return Whole(part.plain, source, part, tuple(files))


def _with_base(own: Part, root: Path, files: list[str]) -> Part:
    """Return the settings of a file over those of its base; note in `files` which ones are read."""
    given, rest = _given(own)
    if given.base is None:
        if given.without:
            raise _wrong(own, "without", "there is no base to leave anything out of; name one, or remove this")
        return rest
    name = _name(given.base, own, root)
    if name in files:
        raise _wrong(own, "base", f"{' -> '.join([*files, name])}: a file cannot be its own base; leave one out")
    files.append(name)
    base = _with_base(_read(name, own, root), root, files)
    for index, path in enumerate(given.without):
        less = merging.left_out(base, path, _MODELS)
        if less is None:
            raise _wrong(own, f"without.{index}", f"{name} has no {path}; correct the path, or remove it")
        base = less
    return merging.merged(base, rest, _MODELS)


def _given(own: Part) -> tuple[Based, Part]:
    """Return what a file says of its base, and all else that it says."""
    if not isinstance(own.content, dict):
        return Based(), own
    said = {key: part.plain for key, part in own.content.items() if key in _FIELDS}
    try:
        given = Based.model_validate(said)
    except ValidationError as errors:
        first = errors.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"]))
        remedy = _REMEDIES[field.partition(".")[0]]
        raise _wrong(own, field, f"{field_errors.problem(first)} (value: {first['input']!r}); {remedy}") from None
    return given, replace(own, content={key: part for key, part in own.content.items() if key not in _FIELDS})


def _name(path: str, own: Part, root: Path) -> str:
    """Return the path of a base from `root`, in one form for each file."""
    try:
        return (root / path).resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        raise _wrong(
            own, "base", f"{path!r} is outside of the project's folder, where its commits do not have it; move it there"
        ) from None


def _read(name: str, own: Part, root: Path) -> Part:
    """Return the settings in a base."""
    try:
        content = yaml_text.read_file(root / name, name)
    except OSError as error:
        raise _wrong(own, "base", f"cannot read {name!r} ({error.strerror}); correct the path") from None
    except FileError as error:
        raise SettingsError(str(error)) from None
    place: Place = ()
    if isinstance(content, Mapping) and "config" in content:
        config, place = content["config"], (SETTING,)
        content = config.get(SETTING) if isinstance(config, Mapping) else None
    if not isinstance(content, Mapping):
        raise _wrong(own, "base", f"{name!r} has no settings; write them there, e.g. `protect: true`")
    found = parts(content, name, place)
    _refuse_secrets(found)
    return found


def _refuse_secrets(part: Part) -> None:
    if not isinstance(part.content, dict | list):
        return
    for inner in part.content.values() if isinstance(part.content, dict) else part.content:
        if isinstance(inner.content, dict) and set(inner.content) == {"secure"}:
            path = ".".join(map(str, inner.place))
            raise SettingsError(
                f"{part.file}: 1 wrong\n  {path}: an encrypted value in a base, which only the stack's own file may "
                "have; move it there"
            )
        _refuse_secrets(inner)


def _beginning(problem: str) -> tuple[str, Place]:
    found = _BEGINNING.match(problem)
    written = found[0] if found else ""
    return written, tuple(int(part) if part.isdecimal() else part for part in written.split(".") if part)


def _wrong(own: Part, field: str, problem: str) -> SettingsError:
    return wrong(own.file, [f"  {'.'.join(map(str, (*own.place, field)))}: {problem}"])
