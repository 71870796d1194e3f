"""Db2's SQL, as far as the catalogue's readers use it, on a SQLite file that is only read."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WIDE_VIEW = "metaocean_view"
_TAG_TABLE = "t_"
_ISOLATION = re.compile(r"\s+with\s+(?:ur|cs|rs|rr)\s*;?\s*$", re.IGNORECASE)
_READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}


class QueryError(Exception):
    """The database refuses a query, or is not there; the message is the database's."""


@dataclass(frozen=True)
class Answer:
    """Columns of a SELECT, in lower case, and its rows."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


@dataclass(frozen=True)
class Database:
    """A catalogue that is scanned again by replacing its file: each query opens it."""

    path: Path

    def select(self, sql: str) -> Answer:
        """Return what a SELECT finds; raise QueryError for anything else, and where SQLite refuses it."""
        try:
            with self._open() as database:
                cursor = database.execute(_ISOLATION.sub("", sql))
                if cursor.description is None:
                    raise QueryError("only SELECT is allowed")
                return Answer(tuple(column[0].lower() for column in cursor.description), cursor.fetchall())
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise QueryError(str(error)) from None

    def tags(self) -> tuple[str, ...]:
        """Return the tags that have a table of their own, those of type Characteristics; none without a catalogue."""
        try:
            with self._open(_allow) as database:
                tables = database.execute(
                    "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
                ).fetchall()
        except (QueryError, sqlite3.Error):
            return ()
        return tuple(name.removeprefix(_TAG_TABLE) for (name,) in tables if name.startswith(_TAG_TABLE))

    @contextmanager
    def _open(self, authorizer: Any = None) -> Iterator[sqlite3.Connection]:
        if not self.path.is_file():
            raise QueryError("nothing has been scanned yet")
        with closing(sqlite3.connect(f"{self.path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            database.create_function("int", 1, _integer, deterministic=True)
            database.set_authorizer(authorizer or _read_only)
            yield database


def _integer(value: str | float | None) -> float | None:
    # The Redpaper prints shares with eleven decimals of sums of INT(value): a DOUBLE, as Db2's AVG makes of them.
    return None if value is None else float(int(value))


def _read_only(action: int, *_: str | None) -> int:
    return sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY


def _allow(*_: object) -> int:
    return sqlite3.SQLITE_OK
