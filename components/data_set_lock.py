"""What is locked of a data set: in the state, so that a review says which classes gain and lose frames (R-5.4-7)."""

from typing import Any

import pulumi
from pydantic import Field

from components.component import Component
from components.model import DnsName, Model


class DataSetLockArgs(Model):
    """One lock, as numbers and digests; the list of files is not in it."""

    namespace: DnsName = Field(description="namespace of the tenant whose jobs read the set")
    data_set: str = Field(min_length=1, description="name of the data set")
    digest: str = Field(pattern=r"^[0-9a-f]{64}$", description="SHA-256 of the list of files")
    frames: int = Field(ge=0, description="pictures")
    files: int = Field(ge=0, description="pictures and their companions")
    bytes: int = Field(ge=0, description="of all files")
    frames_by_class: dict[str, int] = Field(description="frames that have a class")
    splits: dict[str, dict[str, int]] = Field(default={}, description="frames that have a class, by split")
    as_of: str = Field(description="time of the catalogue that it was selected from, ISO 8601")
    choice: dict[str, Any] = Field(description="the settings that it was selected with")


class DataSetLock(Component):
    """A record without objects. Outputs: `digest`, of the list of files."""

    digest: pulumi.Output[str]

    def __init__(self, name: str, args: DataSetLockArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("storage:DataSetLock", name, args, opts)
        self.outputs(digest=pulumi.Output.from_input(args.digest))
