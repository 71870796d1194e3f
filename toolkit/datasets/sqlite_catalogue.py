"""A catalogue as one SQLite file: written wholly or not at all, and read with the rights of a reader."""

import os
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from core.datasets.card import Card
from core.datasets.catalogue import COLUMNS, FILE_TABLE, WIDE_VIEW, CatalogueError, table_of, without_isolation

CARD_TABLE, TAGS_TABLE = "hpc_card", "hpc_tags"
"""One row with the card as JSON and the folder that was indexed; a row an image with a number for every tag."""
_READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}


class Writer:
    """Adds records to a catalogue that `written` will put in its place."""

    def __init__(self, database: sqlite3.Connection, card: Card) -> None:
        self._database = database
        self._tags = card.tags
        self._values = f"INSERT INTO {TAGS_TABLE} VALUES ({', '.join('?' * (1 + len(card.tags)))})"  # noqa: S608

    def add(self, fkey: str, record: Mapping[str, str | int]) -> None:
        """Add a file: values by the names of `COLUMNS`; those that are left out are NULL."""
        names = ", ".join(f'"{name}"' for name in record)
        marks = ", ".join("?" * (1 + len(record)))
        self._database.execute(
            f"INSERT INTO {FILE_TABLE} (fkey, {names}) VALUES ({marks})",  # noqa: S608 - names of columns
            (fkey, *record.values()),
        )

    def tag(self, fkey: str, values: Mapping[str, int]) -> None:
        """Give a file its tags; those of the card that are left out are 0."""
        self._database.execute(self._values, (fkey, *(values.get(tag, 0) for tag in self._tags)))


@contextmanager
def written(path: Path, card: Card, folder: str) -> Iterator[Writer]:
    """Yield what adds records; at the end the file at `path` is replaced at once, and left as it is after an error.

    Raises CatalogueError where `path` cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        os.close(handle)
    except OSError as error:
        raise CatalogueError(f"{path}: cannot be written ({error.strerror}); name another file with -o") from None
    partial = Path(name)
    try:
        database = sqlite3.connect(partial, isolation_level=None)
        try:
            # The file is read only when it is whole, so it needs no journal.
            database.execute("PRAGMA journal_mode = OFF")
            database.execute("PRAGMA synchronous = OFF")
            database.execute("BEGIN")
            _create(database, card)
            database.execute(f"INSERT INTO {CARD_TABLE} VALUES (?, ?)", (card.model_dump_json(), folder))  # noqa: S608
            yield Writer(database, card)
            database.execute("COMMIT")
        finally:
            database.close()
        with partial.open("rb") as whole:
            os.fsync(whole.fileno())
        partial.chmod(0o644)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _create(database: sqlite3.Connection, card: Card) -> None:
    columns = ", ".join(f'"{name}" {kind}' for name, kind in COLUMNS.items())
    database.execute(f"CREATE TABLE {FILE_TABLE} (fkey TEXT PRIMARY KEY, {columns}) WITHOUT ROWID")
    database.execute(f"CREATE TABLE {CARD_TABLE} (card TEXT NOT NULL, folder TEXT NOT NULL)")
    # The paper's tables are views of one that is joined in advance: 27 MB, and not 67, for A2D2's 41,277 frames.
    numbers = ", ".join(f'"{tag}" INTEGER NOT NULL' for tag in card.tags)
    database.execute(f"CREATE TABLE {TAGS_TABLE} (fkey TEXT PRIMARY KEY, {numbers}) WITHOUT ROWID")
    for tag in card.tags:
        text = f'SELECT fkey, CAST("{tag}" AS TEXT) AS value FROM {TAGS_TABLE}'  # noqa: S608 - a checked name
        database.execute(f"CREATE VIEW {table_of(tag)} AS {text}")
    wide = "".join(f', {TAGS_TABLE}."{tag}"' for tag in card.tags)
    database.execute(
        f"CREATE VIEW {WIDE_VIEW} AS SELECT {FILE_TABLE}.*{wide} "  # noqa: S608 - checked names
        f"FROM {FILE_TABLE} LEFT JOIN {TAGS_TABLE} ON {TAGS_TABLE}.fkey = {FILE_TABLE}.fkey"
    )


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
