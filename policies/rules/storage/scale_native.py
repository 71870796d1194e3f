"""Container-native Storage Scale on the nodes."""

from collections.abc import Iterator

from pydantic import Field

from core.apis.kinds import (
    CSI_SCALE_OPERATOR,
    MACHINE_CONFIG,
    NODE,
    PERSISTENT_VOLUME,
    SCALE_CLUSTER,
    SCALE_FILE_SYSTEM,
    SUBSCRIPTION,
)
from core.apis.names import KERNEL_DEVEL, SCALE_MOUNTS
from core.apis.operators import OPERATORS
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import Unknown
from policies.rule import Parameters, Rule, Severity
from policies.views.volumes import HANDLE, client_nodes, handle_of, is_deployed

_SELECTOR = ("spec", "daemon", "nodeSelector")


class ScaleCoreNodes(Parameters):
    """How many clients one cluster may have."""

    least: int = Field(default=3, gt=0, description="minimum number of nodes; fewer have no quorum")
    most: int = Field(default=128, gt=0, description="maximum number of nodes that IBM supports")


def _scale_core_nodes(subject: Obj, inventory: Inventory, parameters: ScaleCoreNodes) -> Iterator[Violation]:
    count = len(inventory.once(client_nodes))
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
    examine=_scale_core_nodes,
    kinds=(SCALE_CLUSTER,),
    links=True,
)


def _scale_mount_path(subject: Obj, inventory: Inventory, _: Parameters) -> Iterator[Violation]:
    handle = handle_of(subject)
    if handle is None or handle.faults or not inventory.once(is_deployed):
        return
    mounts = [f"{SCALE_MOUNTS}{file_system.name}" for file_system in inventory.of(SCALE_FILE_SYSTEM)] or [
        SCALE_MOUNTS.rstrip("/")
    ]
    if not any(f"{handle.path}/".startswith(f"{mount}/") for mount in mounts):
        listed = ", ".join(sorted(mounts))[:200]
        yield subject.violation(f"volume handle has path {handle.path[:80]}, and nodes mount only {listed}", *HANDLE)


SCALE_MOUNT_PATH = Rule(
    name="scale-mount-path",
    what="A volume of container-native Storage Scale is below the mount point of one of its file systems, /mnt/<name>.",
    why="On RHCOS its pods mount nowhere else, whatever mount point the storage cluster has. The claim is Bound, but "
    "pods stay in ContainerCreating because the driver does not find the path.",
    remedy="Use a path below /mnt/<name of the Filesystem> in the handle",
    source="IBM Storage Scale container native 5.2.1, Deployment considerations",
    severity=Severity.MANDATORY,
    examine=_scale_mount_path,
    kinds=(PERSISTENT_VOLUME,),
    links=True,
)


_CLIENT = ("metadata", "labels", "scale")
_PACKAGE = ("spec", "name")
_DRIVER = OPERATORS["scale_csi"].package


def _scale_one_client(subject: Obj, inventory: Inventory, _: Parameters) -> Iterator[Violation]:
    if not inventory.once(is_deployed):
        return
    if subject.kind == CSI_SCALE_OPERATOR.kind:
        yield subject.violation("exists beside container-native Storage Scale, whose operator creates its own", "spec")
    elif subject.kind == SUBSCRIPTION.kind and subject.read(*_PACKAGE) == _DRIVER:
        yield subject.violation(f"installs {_DRIVER}, which container-native Storage Scale brings", *_PACKAGE)
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
    examine=_scale_one_client,
    kinds=(CSI_SCALE_OPERATOR, SUBSCRIPTION, NODE),
    links=True,
)
