"""The card of a data set: cameras, classes and their colours, licence; data in `cards/`.

Names of its files are templates with fields, read and written both ways.
"""

import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, NamedTuple, Self

from pydantic import Field, StringConstraints, model_validator

from core.data_files import ROOT, DataFileError, DataFiles, display_path, read, validate
from core.model import Model

IMAGE, LABEL = "image", "label"


_FIELD = re.compile(r"\{(\w+)\}")


class Frame(NamedTuple):
    """What the name of an image says; numbers of frames are not the same moment in several cameras."""

    scene: str
    camera: str
    fields: Mapping[str, str]


class Naming(Model):
    """How the files of a data set are called, by templates such as `{scene}/camera/{number}.png`."""

    fields: Mapping[str, str] = Field(description="regular expression of each field, without groups")
    files: Mapping[str, str] = Field(
        description="path below the data set's folder of an image, its label and its other companions, with / and "
        "fields in braces; folders above it are allowed"
    )
    scene: str = Field(description="template of the scene: images that are near in time, and never split")
    camera: str = Field(description="template of the camera's name, as in `cameras`")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if IMAGE not in self.files:
            raise ValueError(f"files: {IMAGE} is missing; add the path of an image")
        for name, text in self.fields.items():
            try:
                if re.compile(text).groups:
                    raise ValueError(f"fields.{name}: has a group; write (?:...) for (...)")
            except re.error as error:
                raise ValueError(f"fields.{name}: is not a regular expression ({error}); correct it") from None
        of_image = set(_FIELD.findall(self.files[IMAGE]))
        if unknown := sorted(of_image - self.fields.keys()):
            raise ValueError(f"files.{IMAGE}: {unknown[0]} is not a field; add it to fields")
        for name, template in {**self.files, "scene": self.scene, "camera": self.camera}.items():
            if unknown := sorted(set(_FIELD.findall(template)) - of_image):
                raise ValueError(
                    f"{name}: the field {unknown[0]} is not in files.{IMAGE}, so it does not follow from an image; "
                    "use fields of the image's name only"
                )
        return self

    @cached_property
    def _image(self) -> re.Pattern[str]:
        """Return the pattern of an image's path; a field that is there again has the same value."""
        seen: set[str] = set()
        text = ""
        for position, part in enumerate(_FIELD.split(self.files[IMAGE])):
            if not position % 2:
                text += re.escape(part)
            elif part in seen:
                text += f"(?P={part})"
            else:
                seen.add(part)
                text += f"(?P<{part}>{self.fields[part]})"
        return re.compile(rf"(?P<_above>(?:.*/)?){text}", re.DOTALL)

    def image(self, fields: Mapping[str, str]) -> str:
        """Return the path of the image that has these fields; raise KeyError where one is missing."""
        return _filled(self.files[IMAGE], fields)

    def frame(self, path: str) -> Frame | None:
        """Return what an image's path says, with / between folders; None where it is not that of an image."""
        match = self._image.fullmatch(path)
        if match is None:
            return None
        fields = {name: text for name, text in match.groupdict().items() if name != "_above"}
        return Frame(_filled(self.scene, fields), _filled(self.camera, fields), fields)

    def companions(self, path: str) -> dict[str, str]:
        """Return the paths that belong to an image's by what they are, e.g. label; they need not exist.

        Raises ValueError for a path that is not an image's.
        """
        match = self._image.fullmatch(path)
        if match is None:
            raise ValueError(f"{path!r} is not the path of an image")
        fields = match.groupdict()
        return {
            name: fields["_above"] + _filled(template, fields) for name, template in self.files.items() if name != IMAGE
        }


FOLDER = ROOT / "core" / "datasets" / "cards"

Colour = Annotated[str, StringConstraints(pattern=r"^#[0-9a-f]{6}$")]
"""A colour of a label image: red, green and blue, e.g. #ff0000."""
Tag = Annotated[str, StringConstraints(pattern=r"^[a-z_][a-z0-9_]*$")]
"""What a catalogue calls a property of an image: a word of SQL's names."""


class Size(Model):
    """The size of an image in pixels."""

    width: int = Field(gt=0, description="pixels of a line")
    height: int = Field(gt=0, description="lines")

    @property
    def pixels(self) -> int:
        """Return how many pixels an image has."""
        return self.width * self.height


class Card(Model):
    """A public data set, as its documentation describes it."""

    name: str = Field(description="what settings call it: the name of its file")
    title: str = Field(description="its full name")
    licence: str = Field(description="licence of the data, and what it forbids")
    source: str = Field(description="where these facts are from")
    frame: Size | None = Field(default=None, description="size of every image; None: sizes differ")
    bytes_a_frame: int | None = Field(
        default=None, gt=0, description="mean size in bytes of an image and its label; None: not published"
    )
    frames: int | None = Field(default=None, gt=0, description="images with a label; None: not published")
    lidars: int | None = Field(default=None, gt=0, description="LIDAR sensors of the vehicle; None: not published")
    annotations: Mapping[str, int | None] = Field(
        default={},
        description="what is annotated or recorded beside the images -> frames that have it; null: not published",
    )
    cameras: Mapping[str, tuple[Tag, ...]] = Field(
        min_length=1, description="every camera with its tags in a catalogue, which together are its own"
    )
    classes: Mapping[str, tuple[Colour, ...]] = Field(
        min_length=1, description="every class with its colours in a label; several are several objects side by side"
    )
    naming: Naming = Field(description="how files are called")

    @cached_property
    def tag_of_class(self) -> dict[str, str]:
        """Return the tag of each class, in the order of the card."""
        return {name: tag(name) for name in self.classes}

    @property
    def class_tags(self) -> tuple[str, ...]:
        """Return the tags of the classes, in the order of the card."""
        return tuple(self.tag_of_class.values())

    @cached_property
    def camera_tags(self) -> tuple[str, ...]:
        """Return the tags of all cameras, each once, in the order of the card."""
        return tuple(dict.fromkeys(word for words in self.cameras.values() for word in words))

    @property
    def tags(self) -> tuple[str, ...]:
        """Return all tags: those of the cameras, then those of the classes."""
        return (*self.camera_tags, *self.class_tags)

    @cached_property
    def tag_of_colour(self) -> dict[int, str]:
        """Return the class's tag of every colour, which is a number: red * 65536 + green * 256 + blue."""
        return {int(colour[1:], 16): tag(name) for name, colours in self.classes.items() for colour in colours}

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        owners: dict[str, str] = {}
        for name, colours in self.classes.items():
            if not colours:
                raise ValueError(f"classes.{name}: has no colour; give at least one, e.g. ['#ff0000']")
            for colour in colours:
                if colour in owners:
                    raise ValueError(f"classes: {colour} is the colour of {owners[colour]} and of {name}; remove one")
                owners[colour] = name
        if empty := [name for name in self.classes if not re.fullmatch(r"[a-z_][a-z0-9_]*", tag(name))]:
            raise ValueError(
                f"classes: {empty[0]!r} becomes tag {tag(empty[0])!r}, which is not a name in SQL; begin with a letter"
            )
        if shared := [name_of_tag for name_of_tag in set(self.tags) if self.tags.count(name_of_tag) > 1]:
            raise ValueError(f"classes and cameras: several have the tag {shared[0]}; rename one")
        tags = [frozenset(names) for names in self.cameras.values()]
        if any(not names for names in tags) or any(a < b or a == b for i, a in enumerate(tags) for b in tags[i + 1 :]):
            raise ValueError("cameras: the tags of one are among those of another; give each at least one of its own")
        return self

    @model_validator(mode="after")
    def _labelled(self) -> Self:
        if LABEL not in self.naming.files:
            raise ValueError(f"naming.files: {LABEL} is missing; add the path of an image's label image")
        return self


def tag(name: str) -> str:
    """Return what a catalogue calls a class: lower case, blanks as _, other signs dropped.

    So did the extractor of IBM's published code: Painted driv. instr. is painted_driv_instr.
    """
    return re.sub(r"\s+", "_", re.sub(r"[^a-z0-9_\s]", "", name.lower()).strip())


def read_card(path: Path) -> Card:
    """Return the card of a file, whose name it has; raise DataFileError where the file is wrong."""
    fields = read(path)
    if "name" in fields:
        raise DataFileError(
            f"{display_path(path)}: name: a card has the name of its file (value: {fields['name']!r}); remove it"
        )
    return validate(Card, {**fields, "name": path.stem}, path)


CARDS: Mapping[str, Card] = DataFiles(FOLDER, read_card)
"""The cards of `core/datasets/cards` by name; DataFileError where the file of one is wrong."""


def _filled(template: str, fields: Mapping[str, str]) -> str:
    return _FIELD.sub(lambda match: fields[match[1]], template)
