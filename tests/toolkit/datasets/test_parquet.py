"""A catalogue in Parquet files."""

from pathlib import Path
from typing import Any

import pytest

from core.datasets.catalogue import CatalogueError, as_of
from tests.support.catalogues import generated_catalogue
from tests.support.printed_queries import BICYCLES, PRINTED_WINDOW, SHARE, WINDOW, printed
from toolkit.datasets import generated
from toolkit.datasets.shares import shares
from toolkit.datasets.sqlite_catalogue import SqliteCatalogue

duckdb: Any = pytest.importorskip("duckdb", reason="make venv installs it")
from toolkit.datasets.parquet_reader import ParquetCatalogue  # noqa: E402 - needs DuckDB


def saved(path: Path, select: str) -> Path:
    """Write what a SELECT finds as a Parquet file, and return it."""
    path.parent.mkdir(exist_ok=True)
    duckdb.connect().execute(f"COPY ({select}) TO '{path}' (FORMAT parquet)")
    return path


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[SqliteCatalogue, ParquetCatalogue]:
    """Return one catalogue as a SQLite file, and as two Parquet files in a folder."""
    folder = tmp_path_factory.mktemp("catalogue")
    sqlite = generated_catalogue(folder / "a2d2.db", generated.LEAST)
    tags = generated.card().tags
    columns = ("fkey", "platform", "datasource", "path", "filename", "size", "inserttime", *tags)
    names = ", ".join(f'"{name}"' for name in columns)
    rows = sqlite.ask(f"select {names} from metaocean_view")  # noqa: S608 - the card's
    types = ", ".join(f'"{name}" {"INT" if name in tags else "VARCHAR"}' for name in columns)
    frames = duckdb.connect()
    frames.execute(f"CREATE TABLE a ({types})")
    marks = ", ".join("?" * len(columns))
    frames.executemany(f"INSERT INTO a VALUES ({marks})", [[value or None for value in row] for row in rows])  # noqa: S608
    (folder / "parts").mkdir()
    for part in (0, 1):
        half = f"SELECT * FROM a WHERE hash(fkey) % 2 = {part}"  # noqa: S608 - a number
        frames.execute(f"COPY ({half}) TO '{folder}/parts/{part}.parquet'")
    return sqlite, ParquetCatalogue(folder / "parts")


def test_the_printed_queries(both: tuple[SqliteCatalogue, ParquetCatalogue]) -> None:
    """The three printed queries run as they are, and find what they find in SQLite."""
    sqlite, parquet = both
    assert set(parquet.ask(WINDOW)) == printed(PRINTED_WINDOW)
    assert set(parquet.ask(BICYCLES)) == set(sqlite.ask(BICYCLES))
    assert float(parquet.ask(SHARE)[0][0]) == pytest.approx(float(sqlite.ask(SHARE)[0][0]))
    assert shares(parquet, generated.card()) == shares(sqlite, generated.card())
    assert as_of(parquet) == as_of(sqlite)
    wide = "select filename, car from metaocean_view where car>=40000 and front=1 order by filename"
    assert parquet.ask(wide) == sqlite.ask(wide)


def test_a_file_with_few_columns(tmp_path: Path) -> None:
    """Names and classes suffice; the rest is empty, and the time is that of the file. Texts are left alone."""
    found = ParquetCatalogue(saved(tmp_path / "a.parquet", "select 'it''s int(1)' as filename, 7 as car, '0\r' as sky"))
    assert found.ask("select platform, filename, car, int(t_car.value) from metaocean_view, t_car") == [
        ("", "it's int(1)", "7", "7")
    ]
    assert found.ask("select 'int(' || filename from metaocean where filename = 'it''s int(1)' with ur") == [
        ("int(it's int(1)",)
    ]
    assert found.ask("select INT (value) from t_sky") == [("0",)]
    assert as_of(found).endswith("Z")


@pytest.mark.parametrize(
    "sql",
    [
        "select nothing from metaocean",
        "select * from read_csv('/etc/passwd')",
        "copy (select 1) to 'x'",
        "select int('a')",
    ],
)
def test_a_wrong_query_is_an_error(tmp_path: Path, sql: str) -> None:
    """What DuckDB refuses is one message with the file and the remedy; a query reaches no file."""
    found = ParquetCatalogue(saved(tmp_path / "a.parquet", "select 'a' as filename"))
    with pytest.raises(CatalogueError, match=r"a\.parquet: .*; correct the query"):
        found.ask(sql)


@pytest.mark.parametrize(
    ("select", "part"),
    [("select 1 as car", "no column filename; add"), ("select 'a' as filename, 1 as \"a b\"", "'a b' is not a tag")],
)
def test_files_that_do_not_fit(tmp_path: Path, select: str, part: str) -> None:
    """A table without names, or with columns that are not tags, is refused."""
    with pytest.raises(CatalogueError, match=part):
        ParquetCatalogue(saved(tmp_path / "a.parquet", select))


def test_files_that_are_no_parquet(tmp_path: Path) -> None:
    """A folder without files, a file that is missing and one of another kind are refused."""
    for path in (tmp_path, tmp_path / "gone.parquet"):
        with pytest.raises(CatalogueError, match="has no Parquet file; name a file"):
            ParquetCatalogue(path)
    (tmp_path / "a.parquet").write_text("text")
    with pytest.raises(CatalogueError, match=r"a\.parquet"):
        ParquetCatalogue(tmp_path / "a.parquet")
