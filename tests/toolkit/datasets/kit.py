"""A small catalogue of A2D2's form, and choices of it."""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from core.datasets import catalogue
from core.datasets.card import CARDS
from core.datasets.choice import Choice
from toolkit.datasets import selection
from toolkit.datasets.selection import Selection

A2D2 = CARDS["a2d2"]
AS_OF = "2026-11-25T12:00:00.000Z"
SOURCE = ("IBM COS", "a2d2")
Row = tuple[str, ...]


def a_choice(**changes: Any) -> Choice:
    """Return a choice of the front camera's frames."""
    fields: dict[str, Any] = {
        "name": "night-bikes",
        "card": "a2d2",
        "source": {"kind": "sqlite", "path": "data/a2d2.sqlite"},
        "cameras": ["front_center"],
        **changes,
    }
    return Choice.model_validate(fields)


def image(number: int, scene: int = 1, camera: str = "front_center") -> str:
    """Return the path of an image in its data source."""
    name, stamp = f"2018{scene:04d}_120000", f"2018{scene:04d}120000"
    return f"{name}/camera/cam_{camera}/{stamp}_camera_{camera.replace('_', '')}_{number:09d}.png"


def row(path: str, pixels: Mapping[str, int], source: Sequence[str] = SOURCE, size: int = 100) -> Row:
    """Return the row that a catalogue has of an image in answer to `query.frames`."""
    return (*source, "a2d2/", path, str(size), *(str(pixels.get(tag, 0)) for tag in A2D2.class_tags))


def files_of(rows: Sequence[Row], size: int = 10) -> list[Row]:
    """Return the rows of `query.FILES`: the images, their labels and their infos."""
    found = [each[:5] for each in rows]
    for each in rows:
        paths = A2D2.naming.companions(each[3])
        found += [(*each[:3], paths[what], str(size)) for what in ("label", "info")]
    return found


def selected(choice: Choice, rows: Sequence[Row]) -> Selection:
    """Return what is chosen of rows that have all their companions."""
    return selection.select(choice, A2D2, rows, files_of(rows), AS_OF)


def view(rows: Sequence[Row], camera: str = "front_center") -> sqlite3.Connection:
    """Return a base with the columns of the wide view, and a row of a camera for each of `rows`."""
    base = sqlite3.connect(":memory:")
    tags = A2D2.class_tags
    base.execute(
        f"create table metaocean_view ({', '.join(catalogue.FILE_COLUMNS)}, "
        f"{', '.join(f'{tag} integer' for tag in (*A2D2.camera_tags, *tags))})"
    )
    cameras = [int(tag in A2D2.cameras[camera]) for tag in A2D2.camera_tags]
    marks = ", ".join("?" * (len(catalogue.FILE_COLUMNS) + len(cameras) + len(tags)))
    values = [(*each[:5], *cameras, *map(int, each[5:])) for each in rows]
    base.executemany(f"insert into metaocean_view values ({marks})", values)  # noqa: S608 - names of a card
    return base


def asked(choice: Choice, base: sqlite3.Connection) -> set[str]:
    """Return the images that fit the query of a choice."""
    return {each[3] for each in base.execute(catalogue.frames(choice, A2D2))}
