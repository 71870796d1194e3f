"""A request for a change, and its outcome: what is refused at once, and what fails as a job."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from toolkit.simulator.scale_management.cache import Home
from toolkit.simulator.scale_management.state import Fileset, FileSystem, State


class RefusedError(Exception):
    """A request that becomes no job; the text is the status object's."""

    def __init__(self, text: str, status: HTTPStatus = HTTPStatus.BAD_REQUEST) -> None:
        super().__init__(text)
        self.status = status


class FailedError(Exception):
    """A job that fails; the text is a line of its stderr, with the code that clients look for where one is known."""


def invalid(parameter: str) -> RefusedError:
    """Return the refusal of a value."""
    return RefusedError(f"Invalid value in '{parameter}'")


@dataclass(frozen=True)
class Done:
    """A job that succeeds: the state after it, and what it ran and printed."""

    state: State
    commands: tuple[str, ...] = ()
    stdout: tuple[str, ...] = ()


@dataclass(frozen=True)
class Call:
    """A request: the state before it, names from its path, body and query."""

    state: State
    home: Home
    now: str
    names: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict, repr=False)
    query: Mapping[str, str] = field(default_factory=dict)

    @property
    def file_system(self) -> FileSystem:
        """The file system of the path."""
        named = self.state.file_systems.get(self.names["fs"])
        if named is None:
            raise invalid("filesystemName")
        return named

    @property
    def fileset(self) -> Fileset:
        """The fileset of the path."""
        named = self.file_system.filesets.get(self.names["fileset"])
        if named is None:
            raise invalid("filesetName")
        return named

    def text(self, key: str, otherwise: str = "") -> str:
        """Return a value of the body that is a text or a number: clients send numbers as either."""
        value = self.body.get(key, otherwise)
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise invalid(key)
        return str(value)

    def number(self, key: str, otherwise: int) -> int:
        """Return a value of the body that is a whole number, as a number or as a text."""
        text = self.text(key, str(otherwise))
        if not text.isdigit():
            raise invalid(key)
        return int(text)

    def flag(self, key: str, *, otherwise: bool) -> bool:
        """Return a value of the body that is true or false, also as yes or no."""
        value = str(self.body.get(key, otherwise)).lower()
        if value not in ("true", "false", "yes", "no"):
            raise invalid(key)
        return value in ("true", "yes")

    def with_fileset(self, fileset: Fileset) -> State:
        """Return the state with a new or changed fileset of the path's file system."""
        return self.state.with_file_system(self.file_system.with_fileset(fileset))
