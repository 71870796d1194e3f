"""Images as NVIDIA's operators take them: in three parts."""

from typing import Annotated

from pydantic import Field, StringConstraints

from components.base.model import Model

Repository = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._/-]*(:[0-9]+[a-z0-9._/-]*)?$")]
"""A registry with a folder, e.g. nvcr.io/nvidia."""
ImageName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$")]
"""The last part of an image's name."""
OperandVersion = Annotated[
    # No \w: all letters of Unicode, 128 times, take 7 ms of every start.
    str, StringConstraints(pattern=r"^([A-Za-z0-9_][A-Za-z0-9_.+-]{0,127}|sha256:[0-9a-f]{64})$")
]
"""A tag, or a digest: the operators prepend `:` or `@` themselves."""


class Operand(Model):
    """One image. An operator joins the parts as they are, so that a version alone would name no image."""

    repository: Repository = Field(description="registry and path of the image")
    image: ImageName = Field(description="image name below `repository`")
    version: OperandVersion = Field(description="tag or digest")
