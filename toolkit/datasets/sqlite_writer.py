"""Writes a catalogue as one SQLite file: wholly, or not at all."""

import os
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from core.datasets.card import Card
from core.datasets.catalogue import COLUMNS, FILE_TABLE, WIDE_VIEW, CatalogueError, table_of

CARD_TABLE, TAGS_TABLE = "hpc_card", "hpc_tags"
"""One row with the card as JSON and the folder that was indexed; a row an image with a number for every tag."""


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
