"""The handle of a static Spectrum Scale volume can be read by the driver."""

from collections.abc import Iterator

from core.apis.kinds import PERSISTENT_VOLUME
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.rule import Parameters, Rule
from policies.views.volumes import HANDLE, handle_of


def _examine(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    handle = handle_of(subject)
    for fault in handle.faults if handle is not None else ():
        yield subject.violation(f"volume handle: {fault}", *HANDLE)


VOLUME_HANDLE = Rule(
    name="volume-handle",
    what="The volumeHandle of a Spectrum Scale volume has three, four or seven well-formed parts and an absolute path.",
    why="The API server accepts any text. The claim is Bound, but the pod stays in ContainerCreating "
    "(MountVolume.SetUp failed for volume); only its events show why.",
    remedy="Write <cluster id>;<file system UID>;path=<path>, with the id of mmlscluster and the UID of mmlsfs --uid",
    source="R-4.2-2, R-4.2-8, platform-facts 1.9",
    severity=Severity.MANDATORY,
    parameters=Parameters,
    examine=_examine,
    kinds=(PERSISTENT_VOLUME,),
)
