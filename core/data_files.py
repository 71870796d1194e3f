"""Data files, of machines and of releases: read, checked against their model, and discovered in their folder."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from core import field_errors, project
from core.yaml import places
from core.yaml import text as yaml_text
from core.yaml.errors import FileError

ROOT = project.PRODUCT
SUFFIX = ".yaml"
M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")


class DataFileError(ValueError):
    """A data file is missing or wrong; the message names file, field, value and remedy."""


def display_path(path: Path) -> str:
    """Return a path as messages have it: from the project's folder where it is in there."""
    return str(path.relative_to(project.FOLDER)) if path.is_relative_to(project.FOLDER) else str(path)


def read(path: Path) -> dict[str, Any]:
    """Return the fields of a file; raise DataFileError where it cannot be read or holds something else."""
    try:
        content = yaml_text.read_file(path, display_path(path))
    except OSError as error:
        raise DataFileError(f"{display_path(path)}: cannot be read ({error.strerror}); correct the path") from None
    except FileError as error:
        raise DataFileError(str(error)) from None
    if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
        raise DataFileError(f"{display_path(path)}: holds no fields; write `field: value` lines")
    return content


def validate(model: type[M], fields: Mapping[str, Any], path: Path) -> M:
    """Return the record that `fields` of a file make; raise DataFileError, which lists all that is wrong."""
    try:
        return model.model_validate(dict(fields))
    except ValidationError as errors:
        problems = [_line(error, path) for error in causes(errors.errors(include_url=False))]
        raise DataFileError(f"{display_path(path)}: {len(problems)} wrong\n" + "\n".join(problems)) from None


def causes(errors: Sequence[Any]) -> list[Any]:
    """Leave out that a list is too short where an error inside it is the cause."""
    places = [error["loc"] for error in errors]
    return [
        error
        for error in errors
        if error["type"] != "too_short"
        or not any(place[: len(error["loc"])] == error["loc"] != place for place in places)
    ]


def _line(error: Any, file: Path) -> str:
    place = error["loc"]
    location = places.located(display_path(file), file, place, of_key=error["type"] == "extra_forbidden")
    field = f"  {location}: {places.path(place)}" if location != display_path(file) else f"  {places.path(place)}"
    if not place or error["type"] == "missing":
        return f"  {field_errors.sentence(error, field.strip())}"
    return f"{field}: {field_errors.problem(error)} (value: {error['input']!r}){field_errors.remedy(error)}"


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
