"""Container-native Storage Scale has a supported number of clients, with the headers to build its module."""

from collections.abc import Iterator

from pydantic import Field

from core.apis.kinds import MACHINE_CONFIG, SCALE_CLUSTER
from core.apis.names import KERNEL_DEVEL
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import Unknown
from policies.rule import Parameters, Rule
from policies.views import scale

_SELECTOR = ("spec", "daemon", "nodeSelector")


class ScaleCoreNodes(Parameters):
    """How many clients one cluster may have."""

    least: int = Field(default=3, gt=0, description="minimum number of nodes; fewer have no quorum")
    most: int = Field(default=128, gt=0, description="maximum number of nodes that IBM supports")


def _examine(subject: Obj, inventory: Inventory, parameters: ScaleCoreNodes) -> Iterator[Violation]:
    count = len(inventory.once(scale.client_nodes))
    if count > parameters.most:
        yield subject.violation(f"selects {count} nodes; at most {parameters.most} are supported", *_SELECTOR)
    elif count < parameters.least:
        yield subject.unlinked(f"selects {count} nodes; at least {parameters.least} are needed", *_SELECTOR)
    if not inventory.once(_headers):
        yield subject.unlinked(f"no MachineConfig has the extension {KERNEL_DEVEL}", *_SELECTOR)


def _headers(inventory: Inventory) -> bool:
    return any(
        isinstance(extension, Unknown) or extension == KERNEL_DEVEL
        for config in inventory.of(MACHINE_CONFIG)
        for extension in config.entries("spec", "extensions")
    )


SCALE_CORE_NODES = Rule(
    name="scale-core-nodes",
    what="Container-native Storage Scale has 3 to 128 labelled nodes, and a MachineConfig gives them kernel-devel.",
    why="Two nodes have no quorum, so no file system is mounted anywhere. Without the kernel's headers the init "
    "container mmbuildgpl of every core pod fails: the file system is missing, and the claim reports nothing.",
    remedy="Label 3 to 128 workers with scale.spectrum.ibm.com/daemon-selector, and declare the MachineConfig "
    "00-worker-ibm-spectrum-scale-kernel-devel",
    source="IBM Storage Scale container native 5.2.1, Deployment considerations; generated/scale/mco/mco.yaml",
    severity=Severity.MANDATORY,
    parameters=ScaleCoreNodes,
    examine=_examine,
    kinds=(SCALE_CLUSTER,),
    links=True,
)
