"""Setting `site.mirror`: a registry with copies of images, for a cluster that does not reach the others."""

from typing import Annotated, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from core.model import Model
from stacks.settings.site.content import ImageName

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
