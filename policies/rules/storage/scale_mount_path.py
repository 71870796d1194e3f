"""Directories of container-native Storage Scale are below /mnt."""

from collections.abc import Iterator

from core.apis.kinds import PERSISTENT_VOLUME, SCALE_FILE_SYSTEM
from core.apis.names import SCALE_MOUNTS
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.rule import Parameters, Rule
from policies.views import scale
from policies.views.volumes import HANDLE, handle_of


def _examine(subject: Obj, inventory: Inventory, _: Parameters) -> Iterator[Violation]:
    handle = handle_of(subject)
    if handle is None or handle.faults or not inventory.once(scale.is_deployed):
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
    parameters=Parameters,
    examine=_examine,
    kinds=(PERSISTENT_VOLUME,),
    links=True,
)
