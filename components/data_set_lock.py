"""What is locked of a data set: in the state, so that a review says which classes gain and lose frames (R-5.4-7)."""

import pulumi
from pydantic import Field

from components.component import Component
from components.model import DnsName, Model
from datasets.lock import Lock


class DataSetLockArgs(Model):
    """One lock; the list of files is not in it."""

    namespace: DnsName = Field(description="namespace of the tenant whose jobs read the set")
    lock: Lock = Field(description="what `./hpc data select` wrote")


class DataSetLock(Component):
    """A record without objects. Outputs: `digest`, of the list of files."""

    digest: pulumi.Output[str]

    def __init__(self, name: str, args: DataSetLockArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("storage:DataSetLock", name, args, opts)
        self.outputs(digest=pulumi.Output.from_input(args.lock.digest))
