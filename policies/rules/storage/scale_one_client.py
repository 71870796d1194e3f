"""Container-native Storage Scale is the only client of Spectrum Scale on a cluster."""

from collections.abc import Iterator

from core.apis.kinds import CSI_SCALE_OPERATOR, NODE, SUBSCRIPTION
from core.apis.operators.scale_csi import OPERATOR
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.rule import Parameters, Rule
from policies.views import scale

_CLIENT = ("metadata", "labels", "scale")
_PACKAGE = ("spec", "name")


def _examine(subject: Obj, inventory: Inventory, _: Parameters) -> Iterator[Violation]:
    if not inventory.once(scale.is_deployed):
        return
    if subject.kind == CSI_SCALE_OPERATOR.kind:
        yield subject.violation("exists beside container-native Storage Scale, whose operator creates its own", "spec")
    elif subject.kind == SUBSCRIPTION.kind and subject.read(*_PACKAGE) == OPERATOR.package:
        yield subject.violation(f"installs {OPERATOR.package}, which container-native Storage Scale brings", *_PACKAGE)
    elif subject.kind == NODE.kind and subject.read(*_CLIENT) == "true":
        yield subject.violation("is planned as a host with a client, beside container-native Storage Scale", *_CLIENT)


SCALE_ONE_CLIENT = Rule(
    name="scale-one-client",
    what="Beside container-native Storage Scale there is no CSIScaleOperator, no subscription to the CSI operator and "
    'no node with the label scale="true".',
    why="Its operator installs the CSI driver itself, and its pods load the kernel module of the file system. A second "
    "driver registers under the same name, and a client on the host holds the module: neither starts.",
    remedy="Delete the object: storage.kind is either host-clients or container-native",
    source="IBM Storage Scale container native 5.2.1, Deployment considerations; 5.2.3.1, install.yaml",
    severity=Severity.MANDATORY,
    parameters=Parameters,
    examine=_examine,
    kinds=(CSI_SCALE_OPERATOR, SUBSCRIPTION, NODE),
    links=True,
)
