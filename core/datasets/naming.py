"""Names of a data set's files: templates with fields, read and written both ways."""

import re
from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple, Self

from pydantic import Field, model_validator

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


def _filled(template: str, fields: Mapping[str, str]) -> str:
    return _FIELD.sub(lambda match: fields[match[1]], template)
