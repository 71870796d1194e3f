"""A claim that Spectrum Scale provisions is no smaller than a block of the file system."""

from collections.abc import Iterator

from pydantic import Field

from core.apis.kinds import PERSISTENT_VOLUME_CLAIM, STORAGE_CLASS
from core.apis.names import SCALE_CSI_DRIVER
from core.apis.quantity import amount
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import Path
from policies.rule import Parameters, Rule

_REQUEST: Path = ("spec", "resources", "requests", "storage")
_CLASS: Path = ("spec", "storageClassName")
_FOLDER: Path = ("parameters", "volDirBasePath")
"""Parameter of classes whose volumes are plain folders, which have no quota."""
_MIB = 1 << 20


class ScaleClaimSize(Parameters):
    """The file system."""

    block: int = Field(
        default=4 * _MIB,
        gt=0,
        description="block size of the file system in bytes (mmlsfs -B); default: 4 MiB, Scale's own",
    )


def _examine(subject: Obj, inventory: Inventory, parameters: ScaleClaimSize) -> Iterator[Violation]:
    if subject.text("spec", "volumeName"):
        return  # a volume that exists
    quantity = subject.read(*_REQUEST)
    size, name = amount(quantity), subject.read(*_CLASS)
    if size is None or size >= parameters.block or not isinstance(name, str):
        return
    provisioner = inventory.get(STORAGE_CLASS, name)
    if provisioner is None or provisioner.read("provisioner") != SCALE_CSI_DRIVER or provisioner.read(*_FOLDER):
        return
    message = f"requests {quantity}, and a block of the file system has {parameters.block / _MIB:g} MiB"
    yield subject.violation(message, *_REQUEST)


SCALE_CLAIM_SIZE = Rule(
    name="scale-claim-size",
    what="A claim of a class of Spectrum Scale's CSI driver requests at least one block of the file system, 4 MiB by "
    "default.",
    why="A fileset's quota is counted in blocks. Drivers before 2.3 compare it with the request, find another number, "
    "and leave the claim Pending (ibm-spectrum-scale-csi #423); later ones make a volume of 1 GiB, which quotas of the "
    "namespace do not count.",
    remedy="Request 1Gi or more; of what is smaller, put several into one volume, each with a subPath",
    source="platform-facts 1.9; github.com/IBM/ibm-spectrum-scale-csi/issues/423, pull/436",
    severity=Severity.MANDATORY,
    parameters=ScaleClaimSize,
    examine=_examine,
    kinds=(PERSISTENT_VOLUME_CLAIM,),
    links=True,
)
