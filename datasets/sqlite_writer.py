"""Writes a catalogue as one SQLite file: wholly, or not at all."""

import os
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from datasets.card import Card
from datasets.catalogue import COLUMNS, FILE_TABLE, WIDE_VIEW, CatalogueError, table_of

CARD_TABLE = "hpc_card"
"""One row: the card as JSON and the folder that was indexed."""


class Writer:
    """Adds records to a catalogue that `written` will put in its place."""

    def __init__(self, database: sqlite3.Connection, card: Card) -> None:
        self._database = database
        self._tags = card.tags
        self._values = [f"INSERT INTO {table_of(tag)} VALUES (?, ?)" for tag in card.tags]  # noqa: S608 - checked names

    def add(self, fkey: str, record: Mapping[str, str | int]) -> None:
        """Add a file: values by the names of `COLUMNS`; those that are left out are NULL."""
        names = ", ".join(f'"{name}"' for name in record)
        marks = ", ".join("?" * (1 + len(record)))
        self._database.execute(
            f"INSERT INTO {FILE_TABLE} (fkey, {names}) VALUES ({marks})",  # noqa: S608 - names of columns
            (fkey, *record.values()),
        )

    def tag(self, fkey: str, values: Mapping[str, int]) -> None:
        """Give a file its tags, as texts; those of the card that are left out are 0."""
        for tag, statement in zip(self._tags, self._values, strict=True):
            self._database.execute(statement, (fkey, str(values.get(tag, 0))))


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
            # Nobody reads the file before it is whole, so it needs no journal.
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
    for tag in card.tags:
        database.execute(
            f"CREATE TABLE {table_of(tag)} (fkey TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        )
    # Subqueries and no joins: SQLite joins 64 tables at most, and evaluates only the columns that a query names.
    wide = "".join(
        f', (SELECT CAST(value AS INTEGER) FROM {table_of(tag)} WHERE fkey = {FILE_TABLE}.fkey) AS "{tag}"'  # noqa: S608
        for tag in card.tags
    )
    database.execute(f"CREATE VIEW {WIDE_VIEW} AS SELECT {FILE_TABLE}.*{wide} FROM {FILE_TABLE}")  # noqa: S608
