"""Which frames a data set has, stated by labels and cameras without SQL, as settings state it; and its catalogue."""

import difflib
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, model_validator

from core import data_files, project
from core.datasets.card import CARDS, Card, read_card
from core.datasets.lock import Count, DataSetName
from core.model import Model
from core.wording import duplicates


class SqliteSource(Model):
    """A catalogue in one file, written by `./hpc data index`."""

    kind: Literal["sqlite"]
    path: str = Field(min_length=1, description="file, relative to the project's folder, e.g. data/frames.sqlite")


class DiscoverSource(Model):
    """IBM Spectrum Discover, now Data Cataloging of IBM Fusion; its account is in the user's environment."""

    kind: Literal["discover"]
    host: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9.-]+(:[0-9]+)?$")] = Field(
        description="host of its console, with a port where it is not 443"
    )
    ca: str | None = Field(
        default=None,
        description="file with its CA certificate, relative to the project's folder; None: one that the machine trusts",
    )


class ParquetSource(Model):
    """A catalogue in Parquet files with a row for every frame and a column for every tag."""

    kind: Literal["parquet"]
    path: str = Field(min_length=1, description="file, or folder with *.parquet, relative to the project's folder")


AnySource = Annotated[SqliteSource | ParquetSource | DiscoverSource, Field(discriminator="kind")]


_SHARES = 1e-9
"""By how much shares may differ from 1: three thirds do."""


def _not_empty(window: tuple[int, int | None]) -> tuple[int, int | None]:
    least, most = window
    if most is not None and least > most:
        raise ValueError(
            f"[{least}, {most}] is empty: no frame has at least {least} and at most {most} pixels; swap the two"
        )
    return window


Window = Annotated[tuple[Count, Count | None], AfterValidator(_not_empty)]
"""Pixels that a frame has of a class: at least the first and at most the second number; null: no upper limit."""


def _relative(folder: str) -> str:
    path = PurePosixPath(folder)
    if path.is_absolute() or ".." in path.parts or folder != folder.strip():
        raise ValueError("is not below the volume's root; write a path from there, e.g. lake/pictures")
    return folder.strip("/")


class Location(Model):
    """Where on the volume the files of a data source are."""

    folder: Annotated[str, AfterValidator(_relative)] = Field(
        default="", description="folder of the volume, from its root; empty: the root"
    )
    base: str = Field(
        default="",
        description="prefix of the catalogue's paths that the volume does not have, e.g. /export/lake of an NFS "
        "server; empty: none",
    )


def _with_folder(folder: Any) -> Any:
    return {"folder": folder} if isinstance(folder, str) else folder


AnyLocation = Annotated[Location, BeforeValidator(_with_folder, json_schema_input_type=str | Location)]
"""A location, or a text: its folder."""
SourceName = Annotated[str, StringConstraints(pattern=r"^[^/]+/[^/]+$")]
"""Platform and data source as the catalogue has them, e.g. `IBM COS/pictures`."""


class Split(Model):
    """How the frames are divided into parts that share no scene: neighbours in time are nearly the same image."""

    by: Literal["scene"] = Field(default="scene", description="what stays together")
    parts: dict[DataSetName, Annotated[float, Field(gt=0, lt=1)]] = Field(
        min_length=2,
        description="share of the frames, 0 to 1, by part, e.g. {train: 0.4, validation: 0.6}; whole scenes "
        "approximate it. The Redpaper's validation set is the larger one",
    )

    at_least: dict[DataSetName, dict[str, Annotated[int, Field(gt=0)]]] = Field(
        default={},
        description="minimum number of a part's frames with a class, e.g. {validation: {bicycle: 50}}; fewer are an "
        "error: a class in no validation frame is not evaluated",
    )

    @model_validator(mode="after")
    def _minimums_name_parts(self) -> Self:
        for part in self.at_least:
            if part not in self.parts:
                raise ValueError(f"at_least: {part!r} is none of parts: {', '.join(self.parts)}; correct it")
        return self

    @model_validator(mode="after")
    def _shares_add_up(self) -> Self:
        if abs((total := sum(self.parts.values())) - 1) > _SHARES:
            raise ValueError(f"parts add up to {total:g}; make them 1")
        return self


class Choice(Model):
    """What a data set is to have."""

    name: DataSetName = Field(description="name of the data set, its lock and its Jobs")
    card: str = Field(
        min_length=1,
        description="name of a card in core/datasets/cards, or your own card's file, relative to the project's folder, "
        "e.g. cards/ours.yaml: cameras, classes and file names",
    )
    source: AnySource = Field(description="catalogue that `./hpc data select` queries")
    cameras: tuple[str, ...] = Field(min_length=1, description="cameras of the card, e.g. [front_center]")
    pixels: dict[str, Window] = Field(
        default={},
        description="pixels of a class that every frame must have: [least, most], e.g. {car: [10000, 20000]}; [1, "
        "null]: any frame with the class",
    )
    at_least: dict[str, Annotated[int, Field(gt=0)]] = Field(
        default={},
        description="minimum number of frames with a class, by class; fewer are an error. `./hpc data confusion` "
        "proposes them",
    )
    most_frames: int | None = Field(
        default=None,
        gt=0,
        description="maximum number of frames, a reproducible random subset: those with classes of `at_least` come "
        "first. None: all that match",
    )
    scores: str | None = Field(
        default=None,
        min_length=1,
        description="CSV file, relative to the project's folder, with a score for each frame, e.g. a network's "
        "uncertainty: `most_frames` takes the highest, not a random subset. Lines are `<image>,<score>`, "
        "with the image's path on the volume",
    )
    split: Split | None = Field(default=None, description="None: one part")
    locations: dict[SourceName, AnyLocation] = Field(
        default={},
        description="where each source is on the volume, e.g. {S3/pictures: lake}; {}: one source, at the volume's "
        "root",
    )

    @model_validator(mode="after")
    def _fits_card(self) -> Self:
        card = card_of(self.card)
        minimums = self.split.at_least if self.split else {}
        for field, names, allowed in (
            ("cameras", self.cameras, card.cameras),
            ("pixels", self.pixels, card.class_tags),
            ("at_least", self.at_least, card.class_tags),
            *((f"split.at_least.{subset}", least, card.class_tags) for subset, least in minimums.items()),
        ):
            for name in names:
                if name not in allowed:
                    raise ValueError(f"{field}: {name!r} is none of card {self.card}; {_suggestion(name, allowed)}")
        if problems := [*_contradictions(self, card)]:
            raise ValueError("; ".join(problems))
        return self

    @property
    def content(self) -> dict[str, Any]:
        """What the result depends on, as JSON: without the place of the catalogue, and without defaults.

        So a setting that a later release adds does not make older locks stale.
        """
        return self.model_dump(mode="json", include={*Choice.model_fields} - {"name", "source"}, exclude_defaults=True)


def _contradictions(choice: Choice, card: Card) -> Iterator[str]:
    """Yield why no frame, or too few, can fit."""
    if repeated := duplicates(choice.cameras):
        yield f"cameras: {repeated[0]} is given twice; remove one"
    least = sum(window[0] for window in choice.pixels.values())
    if card.frame and least > card.frame.pixels:
        yield (
            f"pixels: the windows begin at {least} pixels together, and a frame of {card.name} has "
            f"{card.frame.pixels}: no frame fits; lower them"
        )
    if choice.scores and choice.most_frames is None:
        yield f"scores {choice.scores}, and most_frames is not given: all frames are taken; say how many"
    for name, frames in choice.at_least.items():
        if choice.pixels.get(name, (0, None))[1] == 0:
            yield f"at_least.{name} {frames}, and pixels.{name} allows no frame with it; change one of them"
        if choice.most_frames is not None and frames > choice.most_frames:
            yield f"at_least.{name} {frames} is more than most_frames {choice.most_frames}; change one of them"


def _suggestion(name: str, allowed: Collection[str]) -> str:
    close = difflib.get_close_matches(name.lower().replace(" ", "_"), allowed, 1)
    return f"did you mean {close[0]}?" if close else f"write one of {', '.join(allowed)}"


_card_of_file = cache(read_card)


def card_of(name: str) -> Card:
    """Return the card of a name, or of a file from the project's folder; raise ValueError where there is none."""
    if name.endswith(data_files.SUFFIX):
        return _card_of_file(project.FOLDER / name)
    if name not in CARDS:
        raise ValueError(f"card: {name!r} is not a card; write one of {', '.join(CARDS)}, or the file of your own")
    return CARDS[name]


def differing(locked: Mapping[str, Any], choice: Choice) -> tuple[str, ...]:
    """Return the settings of a choice that are other ones than those which a lock was selected with."""
    now = choice.content
    return tuple(field for field in sorted({*locked, *now}) if locked.get(field) != now.get(field))
