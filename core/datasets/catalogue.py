"""What every catalogue of frames answers, its tables and columns, and the questions that a choice asks it, as SQL.

Tables are those of Spectrum Discover. Queries are of the wide view, which has a column for every tag, joined in
advance: the same frames fit the printed query, which joins the tables of its tags.
Names are the card's, values numbers.
"""

import re
from collections.abc import Iterator
from typing import Protocol

from core.datasets.card import Card
from core.datasets.choice import Choice
from core.errors import UserError

FILE_TABLE, WIDE_VIEW = "metaocean", "metaocean_view"
OBJECT_PLATFORMS = frozenset({"IBM COS", "S3"})
"""Platforms whose records have the whole key of an object as their filename; others have the folder in `path`."""
AS_OF = f"select max(inserttime) from {FILE_TABLE}"  # noqa: S608 - a constant
_ISOLATION = re.compile(r"\s+with\s+(?:ur|cs|rs|rr)\s*$", re.IGNORECASE)


class CatalogueError(UserError):
    """A catalogue cannot be read, or refuses a query; the message names it, the query's fault and the remedy."""


class Catalogue(Protocol):
    """A source of metadata: a SQLite file, Parquet files, or Spectrum Discover."""

    def ask(self, sql: str) -> list[tuple[str, ...]]:
        """Return the rows that a SELECT finds, all values as text, NULL as an empty one.

        A number without decimals is written without a point. Rows have no order that the query does not ask for.
        Raises CatalogueError.
        """


def as_of(catalogue: Catalogue) -> str:
    """Return the time of a catalogue's youngest record, e.g. 2020-09-25T20:27:37.000Z.

    Raises CatalogueError where it has no record.
    """
    rows = catalogue.ask(AS_OF)
    if not rows or not rows[0][0]:
        raise CatalogueError("the catalogue has no record; run ./hpc data index, or scan the data source")
    return rows[0][0]


def file_name(platform: str, path: str, filename: str, base: str = "") -> str:
    """Return the name of a record's file below its data source's folder.

    Object stores have the whole key as `filename`. Others have its folder in `path`, below `base`, with which
    the records of an NFS server or an archive begin. Raises CatalogueError where it does not.
    """
    if platform in OBJECT_PLATFORMS:
        return filename
    if not path.startswith(base):
        raise CatalogueError(f"{path + filename!r} is not below {base!r}; correct the base of this data source")
    return path.removeprefix(base).lstrip("/") + filename


def without_isolation(sql: str) -> str:
    """Return a query without its last semicolon and Db2's isolation clause (`with ur`), which other engines lack."""
    return _ISOLATION.sub("", sql.strip().removesuffix(";").rstrip())


COLUMNS = {
    **dict.fromkeys(("path", "filename", "filetype", "datasource", "owner", "group", "revision", "site"), "TEXT"),
    **dict.fromkeys(("platform", "cluster", "inode", "permissions", "fileset"), "TEXT"),
    **dict.fromkeys(("uid", "gid", "size", "sizeconsumed"), "INTEGER"),
    **dict.fromkeys(("recordversion", "state", "migloc", "mtime", "atime", "ctime", "tier"), "TEXT"),
    **dict.fromkeys(("collection", "temperature", "duplicate", "nodename", "filespace", "mgmtclass"), "TEXT"),
    **dict.fromkeys(("operation", "ingesttype", "inserttime"), "TEXT"),
}
"""Columns of `metaocean` beside its key `fkey`, with their types in SQLite; times are 2020-09-25T20:27:37.000Z."""


def table_of(tag: str) -> str:
    """Return the table of a tag."""
    return f"t_{tag}"


FILE_COLUMNS = ("platform", "datasource", "path", "filename", "size")
FILES = f"select {', '.join(FILE_COLUMNS)} from {FILE_TABLE}"  # noqa: S608 - constants
"""All files with their bytes: companions of images are found in it by their names."""


def frames(choice: Choice, card: Card) -> str:
    """Return the query for the images that fit, with FILE_COLUMNS and then the pixels of each class of the card.

    A choice has only names that its card has, and a card only names that SQL takes.
    """
    conditions = "\n  and ".join([_cameras(choice, card), *_windows(choice)])
    return f"select {', '.join((*FILE_COLUMNS, *card.class_tags))}\nfrom {WIDE_VIEW}\nwhere {conditions}"


def domain(choice: Choice, card: Card) -> str:
    """Return the query for the pixels of each class in all frames of the cameras of a choice: its operating domain."""
    sums = ", ".join(f"sum({tag})" for tag in card.class_tags)
    return f"select {sums} from {WIDE_VIEW} where {_cameras(choice, card)}"  # noqa: S608


def _cameras(choice: Choice, card: Card) -> str:
    conditions = [" and ".join(f"{tag}=1" for tag in card.cameras[name]) for name in choice.cameras]
    return conditions[0] if len(conditions) == 1 else f"({' or '.join(f'({condition})' for condition in conditions)})"


def _windows(choice: Choice) -> Iterator[str]:
    for name, (least, most) in choice.pixels.items():
        yield f"{name}>={least:d}"
        if most is not None:
            yield f"{name}<={most:d}"
