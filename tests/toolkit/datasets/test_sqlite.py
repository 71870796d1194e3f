"""A catalogue in a SQLite file: written wholly or not at all, and read with a reader's rights."""

import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from core.datasets.card import CARDS
from core.datasets.catalogue import CatalogueError, as_of, file_name, without_isolation
from tests.support.catalogues import COS, TIME, catalogue_of, facts_of
from toolkit.datasets import indexing
from toolkit.datasets.frames import Frame, frames_of
from toolkit.datasets.sqlite_catalogue import SqliteCatalogue

CARD = CARDS["a2d2"]
IMAGE = "20181107_133445/camera/cam_rear_center/20181107133445_camera_rearcenter_000000001.png"


@pytest.fixture
def catalogue(tmp_path: Path) -> SqliteCatalogue:
    """Return a catalogue of one frame, of a car and the sky."""
    return catalogue_of(tmp_path / "one.db", CARD, {IMAGE: {"car": 7, "sky": 3}})


def test_every_file_has_a_record(catalogue: SqliteCatalogue) -> None:
    """Image, label and info have a record; tags are the image's, with 0 for what it does not show."""
    assert len(catalogue.ask("select fkey from metaocean")) == 3
    assert catalogue.ask("select value from t_car") == [("7",)]
    assert catalogue.ask("select typeof(value), value from t_bicycle") == [("text", "0")]
    assert catalogue.ask("select front, rear, center, car, bicycle from metaocean_view where rear=1") == [
        ("0", "1", "1", "7", "0")
    ]
    total = "+".join(f'"{tag}"' for tag in CARD.class_tags)
    assert catalogue.ask(f"select {total} from metaocean_view where filename = '{IMAGE}'") == [("10",)]  # noqa: S608
    assert catalogue.ask("select car from metaocean_view where filename like '%json'") == [("",)]


def test_records_name_size_and_times(catalogue: SqliteCatalogue) -> None:
    """A record has the file's size and change, and the time that the catalogue is of."""
    rows = catalogue.ask(f"select size, mtime, filetype from metaocean where filename='{IMAGE}'")  # noqa: S608
    assert rows == [("1000", "2020-09-13T12:26:40.000Z", "png")]
    assert as_of(catalogue) == "2020-09-25T20:27:37.000Z"


@pytest.mark.parametrize("platform", ["IBM COS", "NFS"])
def test_where_a_file_is(tmp_path: Path, platform: str) -> None:
    """An object's filename is its whole key, a file's its base name; both lead to the same name."""
    found = catalogue_of(tmp_path / "one.db", CARD, {IMAGE: {"car": 1}}, indexing.Origin(platform, "a2d2"))
    rows = found.ask(
        "select platform, path, filename from metaocean where filename like '%000000001.png' order by size"
    )
    assert file_name(rows[0][0], rows[0][1], rows[0][2]) == IMAGE
    assert (rows[0][2] == IMAGE) is (platform == "IBM COS")


def test_a_base_that_is_not_the_records() -> None:
    """The folder of a server is cut off where records begin with it, and refused where they do not."""
    assert file_name("NFS", "/export/a2d2/x/", "a.png", base="/export/a2d2") == "x/a.png"
    with pytest.raises(CatalogueError, match="not below '/other'; correct the base"):
        file_name("NFS", "/export/a2d2/x/", "a.png", base="/other")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("select 1 from a with ur;\n", "select 1 from a"),
        ("select 1 WITH  UR", "select 1"),
        ("select 1;", "select 1"),
        ("select 'with ur' from a", "select 'with ur' from a"),
    ],
)
def test_db2s_isolation_clause_is_cut(sql: str, expected: str) -> None:
    """`with ur` is cut at the end only, with the semicolon."""
    assert without_isolation(sql) == expected


def test_an_empty_catalogue_has_no_time(tmp_path: Path) -> None:
    """The time of a catalogue without records is an error that says how to fill it."""
    indexing.write(tmp_path / "none.db", CARD, folder="", origin=COS, counted=(), files={}, now=TIME)
    with pytest.raises(CatalogueError, match=r"no record; run \./hpc data index"):
        as_of(SqliteCatalogue(tmp_path / "none.db"))


@pytest.mark.parametrize(
    "sql",
    [
        "delete from metaocean",
        "update metaocean set size=9",
        "drop table t_car",
        "attach database '/tmp/other' as other",
        "pragma query_only=0",
        "create table a(b)",
    ],
)
def test_a_query_only_reads(catalogue: SqliteCatalogue, sql: str) -> None:
    """Statements that are not SELECT are refused."""
    with pytest.raises(CatalogueError, match="not authorized"):
        catalogue.ask(sql)
    assert catalogue.ask("select value from t_car") == [("7",)]


@pytest.mark.parametrize("sql", ["select nothing from metaocean", "select", "select 1; select 2", "select int('x')"])
def test_a_wrong_query_is_an_error(catalogue: SqliteCatalogue, sql: str) -> None:
    """What SQLite refuses is one message with the file and the remedy."""
    with pytest.raises(CatalogueError, match=r"(?s)one\.db: .*correct the query"):
        catalogue.ask(sql)


def test_files_that_are_no_catalogue(tmp_path: Path) -> None:
    """A file that is missing, no database, or another one is refused."""
    other = tmp_path / "other.db"
    with pytest.raises(CatalogueError, match=r"other\.db does not exist; name a catalogue"):
        SqliteCatalogue(other)
    other.write_text("no database, and long enough to be one" * 20)
    with pytest.raises(CatalogueError, match="not a database"):
        SqliteCatalogue(other)
    other.unlink()
    sqlite3.connect(other).execute("create table a(b)").connection.close()
    with pytest.raises(CatalogueError, match="no such table"):
        SqliteCatalogue(other).card()


def test_the_card_is_in_the_catalogue(catalogue: SqliteCatalogue) -> None:
    """What a catalogue was made with is read from it, so a user's own card need not be named again."""
    assert catalogue.card() == CARD
    assert catalogue.folder() == Path("/data")


def test_a_failure_leaves_the_older_catalogue(tmp_path: Path) -> None:
    """An error midway leaves the file as it was, and nothing half-written beside it."""
    path = tmp_path / "one.db"
    catalogue_of(path, CARD, {IMAGE: {"car": 7}})
    before = path.read_bytes()
    files = facts_of([IMAGE], CARD)

    def failing() -> Iterator[tuple[Frame, Mapping[str, int]]]:
        yield frames_of(files, CARD).frames[0], {"car": 1}
        raise RuntimeError("midway")

    with pytest.raises(RuntimeError, match="midway"):
        indexing.write(path, CARD, folder="", origin=COS, counted=failing(), files=files, now=TIME)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["one.db"]


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    """A catalogue below a file is refused with the path and the remedy."""
    (tmp_path / "file").write_text("")
    with pytest.raises(CatalogueError, match=r"file/one\.db: cannot be written .*name another file"):
        catalogue_of(tmp_path / "file" / "one.db", CARD, {IMAGE: {"car": 1}})


def test_names_with_signs_of_sql_and_urls(tmp_path: Path) -> None:
    """Files and folders may be called with quotes, blanks, newlines and signs of URLs."""
    path = tmp_path / "a 'b'?x=#1%20\n" / "c.db"
    assert catalogue_of(path, CARD, {f"it's\n{IMAGE[:0]}/{IMAGE}": {"car": 1}}).ask(
        "select count(*) from metaocean where filename like 'it''s%'"
    ) == [("3",)]
