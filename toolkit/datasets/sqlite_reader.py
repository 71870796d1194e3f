"""Reads a catalogue that is one SQLite file, with the rights of a reader."""

import sqlite3
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from core.datasets.card import Card
from core.datasets.catalogue import CatalogueError, without_isolation
from toolkit.datasets.sqlite_writer import CARD_TABLE

_READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}


class SqliteCatalogue:
    """A catalogue in a SQLite file, which answers `ask` of `catalogue.Catalogue`."""

    def __init__(self, path: Path) -> None:
        """Open the file; raise CatalogueError where it is not an SQLite file."""
        self._path = path
        if not path.is_file():
            raise CatalogueError(f"{path} does not exist; name a catalogue that ./hpc data index has written")
        self._database = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        self._database.create_function("int", 1, _number, deterministic=True)
        self._database.set_authorizer(_allow)
        self._run("SELECT count(*) FROM sqlite_master")

    def ask(self, sql: str) -> list[tuple[str, ...]]:
        """Return the rows that a SELECT finds, as text; raise CatalogueError for a query that SQLite refuses."""
        return [tuple(map(_text, row)) for row in self._run(without_isolation(sql))]

    def card(self) -> Card:
        """Return the card that the catalogue was made with; raise CatalogueError where it has none."""
        return self._made_of()[0]

    def folder(self) -> Path:
        """Return the folder that was indexed, a path of the machine that did it; raise CatalogueError without one."""
        return self._made_of()[1]

    def _made_of(self) -> tuple[Card, Path]:
        try:
            ((text, folder),) = self._run(f"SELECT card, folder FROM {CARD_TABLE}")  # noqa: S608 - a constant
            return Card.model_validate_json(text), Path(folder)
        except (ValueError, ValidationError):
            raise CatalogueError(
                f"{self._path}: has no card that this release understands; run ./hpc data index again"
            ) from None

    def _run(self, sql: str) -> list[Any]:
        try:
            return self._database.execute(sql).fetchall()
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise CatalogueError(
                f"{self._path}: {error}; correct the query, or write the catalogue again with ./hpc data index"
            ) from None

    def close(self) -> None:
        """Close the file."""
        self._database.close()


def _allow(action: int, *_: str | None) -> int:
    return sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY


def _number(value: str | int | float | None) -> float | None:
    """Return Db2's INT(value), with decimals: the share that the Redpaper prints is not cut to whole percents."""
    return None if value is None else float(int(value))


def _text(value: str | int | float | bytes | None) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)
