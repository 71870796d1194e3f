"""Setting `site.mirror`: a registry with copies of images, for a cluster that does not reach the others.

With what nodes pull from outside: images, and packages of operators.
"""

import re
from typing import Annotated, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from core.model import Model

_REFERENCE = re.compile(
    r"(?P<repository>[a-z0-9][a-z0-9.-]*(?::\d+)?(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)+)"
    r"(?::(?P<tag>\w[\w.-]{0,127}))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?"
)


class ImageName(Model):
    """An image in full: with its registry, and a tag, a digest or both."""

    repository: str = Field(description="registry, organisation and name, e.g. docker.io/mellanox/rping")
    tag: str = ""
    digest: str = Field(default="", description="e.g. sha256:6a09..., empty for none; with it nodes ignore the tag")

    @model_validator(mode="after")
    def _pinned(self) -> Self:
        if not self.tag and not self.digest:
            raise ValueError(f"{self.repository} has neither a tag nor a digest; name one")
        return self

    @classmethod
    def parse(cls, text: str) -> "ImageName":
        """Return the image of a reference in full; raise ValueError for another text."""
        match = _REFERENCE.fullmatch(text)
        if match is None or "." not in match["repository"].partition("/")[0]:
            raise ValueError(f"{text} is not an image in full; write registry/organisation/name:tag or ...@sha256:...")
        return cls(repository=match["repository"], tag=match["tag"] or "", digest=match["digest"] or "")

    @property
    def path(self) -> str:
        """The repository without its registry."""
        return self.repository.partition("/")[2]

    @property
    def pulled(self) -> str:
        """What a node asks for: by its digest, where it has one."""
        return f"{self.repository}@{self.digest}" if self.digest else f"{self.repository}:{self.tag}"


class Package(Model):
    """An operator of a catalogue."""

    name: str
    channel: str
    catalogue: str = Field(description="its CatalogSource, e.g. redhat-operators")


class Content(Model):
    """All of it; empty where no group of files needs it."""

    images: tuple[ImageName, ...] = ()
    packages: tuple[Package, ...] = ()
    incomplete: tuple[str, ...] = Field(
        default=(), description="images whose operator appends to the tag what it finds on a node, as far as known"
    )
    unknown: tuple[str, ...] = Field(default=(), description="what else is pulled, and is named by no manifest")


NOTHING = Content()


Version = Annotated[str, StringConstraints(pattern=r"^[0-9]+\.[0-9]+\.[0-9]+$")]
"""A release of OpenShift with its patch, e.g. 4.20.3."""


def _in_full(text: str) -> str:
    ImageName.parse(text)
    return text


class PlatformMirror(Model):
    """Releases of OpenShift itself."""

    channel: str = Field(pattern=r"^(stable|fast|candidate|eus)-[0-9]+\.[0-9]+$", description="e.g. stable-4.20")
    first: Version | None = Field(default=None, description="oldest release; None: the channel's newest only")
    last: Version | None = Field(default=None, description="newest release; None: the channel's newest")

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.first and self.last and _numbers(self.first) > _numbers(self.last):
            raise ValueError(f"first {self.first} is later than last {self.last}; exchange them")
        return self


class MirrorSettings(Model):
    """The mirror registry."""

    registry: str = Field(
        pattern=r"^[a-z0-9][a-z0-9.-]*(:[0-9]+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*$",
        description="host, port and path of the copies, e.g. mirror.example.com:8443/ocp",
    )
    platform: PlatformMirror | None = Field(default=None, description="None: no copy of OpenShift itself")
    images: tuple[Annotated[str, AfterValidator(_in_full)], ...] = Field(
        default=(),
        description="images that no manifest names, in full with tag or digest: those whose tag operators complete "
        "with a node's operating system, and those of IBM's manifest of container-native Storage Scale",
    )
    closed: bool = Field(
        default=False, description="nodes never contact the original registry, even where a copy is missing"
    )

    @property
    def more(self) -> tuple[ImageName, ...]:
        """The `images`, taken apart."""
        return tuple(map(ImageName.parse, self.images))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
