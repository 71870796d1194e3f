"""No StorageClass has the class name of static volumes."""

from collections.abc import Iterator

from pydantic import Field

from core.apis.kinds import STORAGE_CLASS
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.rule import Parameters, Rule


class NoStaticStorageClass(Parameters):
    """Names that stand for no class."""

    reserved: tuple[str, ...] = Field(default=("static",), description="names that no StorageClass may have")


def _examine(subject: Obj, _: Inventory, parameters: NoStaticStorageClass) -> Iterator[Violation]:
    subject.read("metadata", "name")
    if subject.name in parameters.reserved:
        yield subject.violation(
            f"{subject.name} is the class of static volumes, which no provisioner serves", "metadata", "name"
        )


NO_STATIC_STORAGE_CLASS = Rule(
    name="no-static-storage-class",
    what="No StorageClass has the class name of static volumes (static).",
    why="Claims for static volumes use that class so that nothing is provisioned for them. Once a StorageClass has "
    "that name, a claim that waits for its volume gets a new, empty one.",
    remedy="Give the StorageClass another name",
    source="R-4.2-5",
    severity=Severity.MANDATORY,
    parameters=NoStaticStorageClass,
    examine=_examine,
    kinds=(STORAGE_CLASS,),
)
