"""Data files, of machines and of releases: read, checked against their model, and discovered in their folder."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from apis import yaml_text
from apis.yaml_errors import FileError

ROOT = Path(__file__).resolve().parent.parent
SUFFIX = ".yaml"
REMEDIES = {
    "missing": "; add it",
    "extra_forbidden": "; remove it or correct its name",
    "literal_error": "; write one of these",
    "enum": "; write one of these",
    "string_type": "; write text, a number in quotes",
    "string_pattern_mismatch": "; write it in that form",
    "bool_type": "; write true or false",
    "bool_parsing": "; write true or false",
    "int_type": "; write a whole number",
    "int_parsing": "; write a whole number",
    "tuple_type": "; write a list, e.g. [a, b]",
    "model_type": "; write its fields below it",
    "too_short": "; write one more",
    "too_long": "; leave some out",
}
"""Remedies by pydantic's name of an error; messages with a bound or a type are their own."""
_WORDS = (("a valid tuple", "a list"), ("Tuple should", "List should"), ("a valid dictionary", "a map, e.g. {a: b}"))
"""What pydantic calls by Python's names."""
_CLASS = re.compile(r" or instance of \w+")
"""The class that pydantic would take as well."""
M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")


class DataFileError(ValueError):
    """A data file is missing or wrong; the message names file, field, value and remedy."""


def shown(path: Path) -> str:
    """Return a path as messages have it: from the repository's root where it is in there."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def read(path: Path) -> dict[str, Any]:
    """Return the fields of a file; raise DataFileError where it cannot be read or holds something else."""
    try:
        content = yaml_text.read_file(path, shown(path))
    except OSError as error:
        raise DataFileError(f"{shown(path)}: cannot be read ({error.strerror}); correct the path") from None
    except FileError as error:
        raise DataFileError(str(error)) from None
    if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
        raise DataFileError(f"{shown(path)}: holds no fields; write `field: value` lines")
    return content


def checked(model: type[M], fields: Mapping[str, Any], path: Path) -> M:
    """Return the record that `fields` of a file make; raise DataFileError, which lists all that is wrong."""
    try:
        return model.model_validate(dict(fields))
    except ValidationError as errors:
        found = [_line(error) for error in causes(errors.errors(include_url=False))]
        raise DataFileError(f"{shown(path)}: {len(found)} wrong\n" + "\n".join(found)) from None


def causes(errors: Sequence[Any]) -> list[Any]:
    """Leave out that a list is too short where an error inside it is the cause."""
    places = [error["loc"] for error in errors]
    return [
        error
        for error in errors
        if error["type"] != "too_short"
        or not any(place[: len(error["loc"])] == error["loc"] != place for place in places)
    ]


def message(error: Any) -> str:
    """Return what an error says, in the words of YAML."""
    text: str = error["msg"].removeprefix("Value error, ")
    for python, yaml_s in _WORDS:
        text = text.replace(python, yaml_s)
    return _CLASS.sub("", text)


def _line(error: Any) -> str:
    place = ".".join(map(str, error["loc"]))
    text = message(error) + REMEDIES.get(error["type"], "")
    value = "" if error["type"] == "missing" or not place else f" (value: {error['input']!r})"
    return f"  {place}: {text}{value}" if place else f"  {text}"


class DataFiles(Mapping[str, T], Generic[T]):
    """The files of a folder by their name without the suffix; each is read when it is first requested.

    Reading all of them would be a part of every start, and a stack needs one or two.
    """

    def __init__(self, folder: Path, record: Callable[[Path], T], order: Callable[[str], Any] = str) -> None:
        """Find the files of `folder`, of which `record` makes their records; `order` sorts the names."""
        paths = {path.stem: path for path in folder.glob(f"*{SUFFIX}")}
        self._paths = {name: paths[name] for name in sorted(paths, key=order)}
        self._record = record
        self._known: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        """Return the record of a file; raise KeyError where there is none, DataFileError where it is wrong."""
        if name not in self._known:
            self._known[name] = self._record(self._paths[name])
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        """Return whether there is a file of this name, without reading it."""
        return name in self._paths

    def __iter__(self) -> Iterator[str]:
        """Yield the names in order, by default alphabetical."""
        return iter(self._paths)

    def __len__(self) -> int:
        """Return the number of files."""
        return len(self._paths)
