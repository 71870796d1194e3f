"""Settings with what they are based on: a file's own over those of its `base`, which may have a base, too.

A base is the file of a stack, or a file with settings alone. Its path begins at the project's folder, or at the
product's for one of its bases, and ends inside it: so a commit is rendered with the base of that commit. It has no
secrets: the engine decrypts only those of the stack's own file.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from core import field_errors, project
from core.yaml import places
from core.yaml import text as yaml_text
from core.yaml.errors import FileError
from stacks.loading import merging
from stacks.settings.origins import Part, Place, SettingsError, parts, wrong
from stacks.settings.platform import Settings
from stacks.settings.stack import Based

PROJECT = "hpc"
KEY = "platform"
SETTING = f"{PROJECT}:{KEY}"
"""The key of all settings below `config`."""
_FIELDS = Based.model_fields.keys()
_MODELS = (Settings,)
"""What merges by which key; a file of tenants has the same lists."""
_REMEDIES = {"base": "write the path of a file", "without": "write a list of paths, e.g. [gpu.gdrcopy]"}


@dataclass(frozen=True)
class Whole:
    """Settings as if they were in one file."""

    data: Any
    own: Any
    """What the stack's own file says."""
    source: str
    """The stack's own file, by its path below the project's folder."""
    root: Path
    """The project's folder."""
    part: Part | None = None
    """The same with the file of each value; None where all is from `source`."""
    files: tuple[str, ...] = ()
    """The bases, from the nearest one to the farthest, by their paths below the project's folder."""

    def where(self, place: Sequence[str | int], *, of_key: bool = False) -> str:
        """Return where a message says that a place is: FILE:LINE:COLUMN, with its end.

        Where there is no such position, the file if it is a base, and nothing of the stack's own.
        """
        file, origin = self._at(place)
        return (
            _position_prefix(self.root, file, origin, self.source, of_key=of_key)
            if self._is_source(file, origin)
            else ""
        )

    def shown(self, place: Sequence[str | int], *, of_key: bool = False) -> str:
        """Return how the message of a place begins: with its position, and its path in its file."""
        _, origin = self._at(place)
        path = _path(origin)
        return self.where(place, of_key=of_key) + (f"{path}: " if path else "")

    def _is_source(self, file: str, origin: Place) -> bool:
        """Say whether a file is where a setting is from: the engine may have the stack's own from somewhere else."""
        if file != self.source:
            return True
        try:
            text = content(self.root / file)
        except (OSError, FileError):
            return False
        key = origin[1] if len(origin) > 1 else None
        pair = [side.get(key) if isinstance(side, Mapping) else side for side in (text, self.own)]
        return text is not None and pair[0] == pair[1]

    def _at(self, place: Sequence[str | int]) -> tuple[str, Place]:
        return self.part.at(place) if self.part else (self.source, (SETTING, *place))


def content(path: Path) -> Any:
    """Return what a stack's file holds under the key of all settings; None where it has none.

    Raises FileError where it is no YAML, and OSError.
    """
    whole_file = yaml_text.read_file(path, path.name)
    config = whole_file.get("config") if isinstance(whole_file, Mapping) else None
    return config.get(SETTING) if isinstance(config, Mapping) else None


def whole(data: Any, source: str, root: Path) -> Whole:
    """Return settings of the file `source` over its bases below `root`; raise SettingsError for a wrong base."""
    if not isinstance(data, Mapping) or not _FIELDS & data.keys():
        return Whole(data, data, source, root)
    files: list[str] = []
    part = _with_base(parts(data, source, (SETTING,)), root, files)
    return Whole(part.plain, data, source, root, part, tuple(files))


def _position_prefix(root: Path, file: str, origin: Place, own: str, *, of_key: bool = False) -> str:
    place = ("config", *origin) if origin[:1] == (SETTING,) else origin
    position = places.located(file, root / file, place, of_key=of_key)
    return "" if position == own else f"{position}: "


def _path(origin: Place) -> str:
    return places.path(origin[1:] if origin[:1] == (SETTING,) else origin)


def _with_base(own: Part, root: Path, files: list[str]) -> Part:
    """Return the settings of a file over those of its base; note in `files` which ones are read."""
    derivation, rest = _derivation(own, root)
    if derivation.base is None:
        if derivation.without:
            problem = "there is no base to leave anything out of; name one, or remove this"
            raise _wrong(own, ("without",), problem, root)
        return rest
    name = _name(derivation.base, own, root)
    if name in files:
        problem = f"{' -> '.join([*files, name])}: a file cannot be its own base; leave one out"
        raise _wrong(own, ("base",), problem, root)
    files.append(name)
    base = _with_base(_read(name, own, root), root, files)
    for index, path in enumerate(derivation.without):
        less = merging.left_out(base, path, _MODELS)
        if less is None:
            problem = f"{name} has no {path}; correct the path, or remove it"
            raise _wrong(own, ("without", index), problem, root)
        base = less
    return merging.merged(base, rest, _MODELS)


def _derivation(own: Part, root: Path) -> tuple[Based, Part]:
    """Return what a file says of its base, and all else that it says."""
    if not isinstance(own.content, dict):
        return Based(), own
    fields = {key: part.plain for key, part in own.content.items() if key in _FIELDS}
    try:
        derivation = Based.model_validate(fields)
    except ValidationError as errors:
        first = errors.errors(include_url=False)[0]
        problem = f"{field_errors.problem(first)} (value: {first['input']!r}); {_REMEDIES[str(first['loc'][0])]}"
        raise _wrong(own, first["loc"], problem, root) from None
    return derivation, replace(own, content={key: part for key, part in own.content.items() if key not in _FIELDS})


def _name(path: str, own: Part, root: Path) -> str:
    """Return the path of a base from `root`, in one form for each file."""
    try:
        return file_of(path, root).resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        problem = f"{path!r} is outside of the project's folder, where its commits do not have it; move it there"
        raise _wrong(own, ("base",), problem, root) from None


def file_of(path: str, root: Path) -> Path:
    """Return the file that settings name: one of the project, else of the product in it."""
    return next((file for file in (root / path, project.product_in(root) / path) if file.is_file()), root / path)


def _read(name: str, own: Part, root: Path) -> Part:
    """Return the settings in a base."""
    try:
        document = yaml_text.read_file(root / name, name)
    except OSError as error:
        raise _wrong(own, ("base",), f"cannot read {name!r} ({error.strerror}); correct the path", root) from None
    except FileError as error:
        raise SettingsError(str(error)) from None
    place: Place = ()
    if isinstance(document, Mapping) and "config" in document:
        config, place = document["config"], (SETTING,)
        document = config.get(SETTING) if isinstance(config, Mapping) else None
    if not isinstance(document, Mapping):
        raise _wrong(own, ("base",), f"{name!r} has no settings; write them there, e.g. `protect: true`", root)
    part = parts(document, name, place)
    _refuse_secrets(part, root)
    return part


def _refuse_secrets(part: Part, root: Path) -> None:
    if not isinstance(part.content, dict | list):
        return
    for inner in part.content.values() if isinstance(part.content, dict) else part.content:
        if isinstance(inner.content, dict) and set(inner.content) == {"secure"}:
            problem = "an encrypted value in a base, which only the stack's own file may have; move it there"
            raise _wrong(inner, (), problem, root)
        _refuse_secrets(inner, root)


def _wrong(own: Part, place: Place, problem: str, root: Path) -> SettingsError:
    origin = (*own.place, *place)
    return wrong(own.file, [f"  {_position_prefix(root, own.file, origin, own.file)}{_path(origin)}: {problem}"])
