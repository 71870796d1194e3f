"""Reads a catalogue from Parquet files with a row for every frame, by DuckDB."""

import re
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb

from core.datasets.catalogue import COLUMNS, FILE_TABLE, WIDE_VIEW, CatalogueError, table_of, without_isolation
from toolkit.datasets.indexing import timestamp

_TAG = re.compile(r"[a-z_][a-z0-9_]*")
_INT = re.compile(r"""('(?:[^']|'')*'|"(?:[^"]|"")*")|\bint\s*\(""", re.IGNORECASE)
"""A text or a quoted name, which stays; or Db2's int(, which is a type to DuckDB and no function."""


class ParquetCatalogue:
    """Parquet files of one table, which answer `ask` of `catalogue.Catalogue`.

    A row is a file of the data set, at least its image, with the columns of `metaocean_view`: `filename`, those of
    `COLUMNS` that there are, and any other as a tag. Without `inserttime` the catalogue is of its youngest file's time.
    """

    def __init__(self, path: Path) -> None:
        """Read a file, or all *.parquet of a folder; raise CatalogueError where there is none, or they do not fit."""
        self._path = path
        files = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
        if not files or not all(file.is_file() for file in files):
            raise CatalogueError(f"{path}: has no Parquet file; name a file, or a folder with *.parquet")
        self._database = duckdb.connect(":memory:")
        self._run("CREATE MACRO hpc_int(x) AS CAST(trim(CAST(x AS VARCHAR), chr(13) || ' ') AS DOUBLE)")
        self._run(
            "CREATE TABLE hpc_rows AS SELECT * FROM read_parquet(?, union_by_name = true)",
            [[str(file) for file in files]],
        )
        # Everything is in memory now, so that a query reaches no file, and changes none.
        self._run("SET enable_external_access = false")
        self._run("SET lock_configuration = true")
        self._create_views(timestamp(max(file.stat().st_mtime_ns for file in files)))

    def ask(self, sql: str) -> list[tuple[str, ...]]:
        """Return the rows that a SELECT finds, as text; raise CatalogueError for a query that DuckDB refuses."""
        renamed = _INT.sub(lambda match: match[1] or "hpc_int(", without_isolation(sql))
        return [tuple(map(_text, row)) for row in self._run(renamed)]

    def _create_views(self, time: str) -> None:
        names = [name for name, *_ in self._run("DESCRIBE hpc_rows")]
        tags = [name for name in names if name != "fkey" and name not in COLUMNS]
        if "filename" not in names:
            raise CatalogueError(f"{self._path}: has no column filename; add the names of the images")
        if wrong := [name for name in tags if not _TAG.fullmatch(name)]:
            raise CatalogueError(
                f"{self._path}: {wrong[0]!r} is not a tag; name columns of classes by small letters and _"
            )
        missing = {"fkey": "CAST(row_number() OVER () AS VARCHAR)", "inserttime": f"'{time}'"}
        columns = ", ".join(
            f'"{name}"' if name in names else f'{missing.get(name, "NULL")} AS "{name}"' for name in ("fkey", *COLUMNS)
        )
        wide = "".join(f', "{tag}"' for tag in tags)
        self._run(f"CREATE TABLE {WIDE_VIEW} AS SELECT {columns}{wide} FROM hpc_rows")  # noqa: S608 - checked names
        self._run("DROP TABLE hpc_rows")
        own = ", ".join(f'"{name}"' for name in ("fkey", *COLUMNS))
        self._run(f"CREATE VIEW {FILE_TABLE} AS SELECT {own} FROM {WIDE_VIEW}")  # noqa: S608 - constants
        for tag in tags:
            text = f'SELECT fkey, CAST("{tag}" AS VARCHAR) AS value FROM {WIDE_VIEW}'  # noqa: S608 - a checked name
            self._run(f'CREATE VIEW {table_of(tag)} AS {text} WHERE "{tag}" IS NOT NULL')

    def _run(self, sql: str, values: Any = None) -> list[Any]:
        try:
            return list(self._database.execute(sql, values).fetchall())
        except duckdb.Error as error:
            reason = str(error).strip().splitlines()[0]
            raise CatalogueError(f"{self._path}: {reason}; correct the query, or the files") from None


def _text(value: Any) -> str:
    if isinstance(value, float | Decimal) and value == int(value):
        return str(int(value))
    if isinstance(value, datetime):
        return timestamp(int(value.timestamp() * 1_000) * 10**6)
    return "" if value is None else str(value)
