"""Volumes that exist before their claims: their handle, cluster and directory."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from posixpath import dirname, normpath

from pydantic import Field

from core.apis.kinds import CSI_SCALE_OPERATOR, PERSISTENT_VOLUME
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import brief
from policies.rule import Parameters, Rule, Severity
from policies.views.volumes import HANDLE, Handle, handle_of, is_deployed, namespaces, pairs


def _volume_handle(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
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
    examine=_volume_handle,
    kinds=(PERSISTENT_VOLUME,),
)


class VolumeCluster(Parameters):
    """The clusters of container-native Storage Scale, whose ids no object has."""

    container_native: tuple[str, ...] = Field(
        default=(), description="ids of the workers' cluster and of the storage cluster"
    )


def _volume_cluster(subject: Obj, inventory: Inventory, parameters: VolumeCluster) -> Iterator[Violation]:
    handle = handle_of(subject)
    if handle is None or handle.faults:
        return
    drivers = inventory.of(CSI_SCALE_OPERATOR)
    if not drivers and inventory.once(is_deployed):
        yield from _container_native(subject, handle.cluster, parameters.container_native)
        return
    if not drivers:
        yield subject.unlinked(
            f"volume handle names cluster {handle.cluster}, and no {CSI_SCALE_OPERATOR.kind} is given", *HANDLE
        )
        return
    clusters = inventory.once(_clusters)
    if handle.cluster in clusters:
        return
    if any(driver.hidden("spec", "clusters") for driver in drivers):
        yield subject.unverified(
            f"volume handle names cluster {handle.cluster}, and the driver's are unknown until the update", *HANDLE
        )
    else:
        names = ", ".join(sorted(clusters))[:200] or "none"
        yield subject.violation(f"volume handle names cluster {handle.cluster}, and the driver knows {names}", *HANDLE)


def _container_native(subject: Obj, cluster: str, ids: tuple[str, ...]) -> Iterator[Violation]:
    if not ids:
        yield subject.unverified(
            f"volume handle names cluster {cluster}, and container-native Storage Scale generates its own id", *HANDLE
        )
    elif cluster not in ids:
        names = ", ".join(sorted(ids))[:200]
        yield subject.violation(f"volume handle names cluster {cluster}, and storage has {names}", *HANDLE)


def _clusters(inventory: Inventory) -> frozenset[str]:
    return frozenset(
        name if isinstance(name := cluster.get("id"), str) else brief(name)
        for driver in inventory.of(CSI_SCALE_OPERATOR)
        for cluster in driver.entries("spec", "clusters")
        if isinstance(cluster, Mapping) and cluster.get("id") is not None
    )


VOLUME_CLUSTER = Rule(
    name="volume-cluster",
    what=f"The cluster id in a Spectrum Scale volume handle is among the {CSI_SCALE_OPERATOR.kind}'s clusters.",
    why="The driver queries the GUI of the cluster that the handle names. Without an entry the pod stays in "
    "ContainerCreating, and only the driver's log shows the reason: it cannot get a connector for the cluster.",
    remedy="Write the id that mmlscluster prints on the cluster's nodes, or add the cluster to spec.clusters",
    source="R-4.2-8, platform-facts 4.3 rule 25",
    severity=Severity.MANDATORY,
    parameters=VolumeCluster,
    examine=_volume_cluster,
    kinds=(PERSISTENT_VOLUME,),
    links=True,
)


_DEEPEST = 64


@dataclass(frozen=True)
class _Use:
    volume: Obj
    path: str
    namespaces: frozenset[str]


_Directory = tuple[str, str]  # file system, path


def _volume_one_namespace(subject: Obj, inventory: Inventory, _: Parameters) -> Iterator[Violation]:
    handle = handle_of(subject)
    if handle is None or handle.faults:
        return
    using_namespaces = namespaces(subject, inventory.once(pairs))
    depth = _DEEPEST if using_namespaces else 1  # of a directory above, only the namespaces matter
    for other in _overlapping(subject, handle, inventory.once(_uses), depth):
        other_namespaces = other.namespaces
        same = normpath(other.path) == normpath(handle.path)
        if using_namespaces and other_namespaces and using_namespaces != other_namespaces:
            users = ", ".join(sorted(other_namespaces))
            relation = "is also" if same else "lies in"
            yield subject.violation(
                f"{handle.path} {relation} {other.path} of {other.volume.name}, which {users} uses", *HANDLE
            )
            return
        if same and not (using_namespaces and other_namespaces):
            yield subject.violation(f"{handle.path} is also the directory of {other.volume.name}", *HANDLE)
            return


def _overlapping(
    subject: Obj, handle: Handle, uses: Mapping[_Directory, tuple[_Use, ...]], depth: int
) -> Iterator[_Use]:
    """Yield the uses of a volume's directory and of those above it, by other volumes."""
    path = normpath(handle.path)
    for _ in range(depth):
        # Two are enough: of those on one directory at least one is not the volume itself.
        yield from (use for use in uses.get((handle.file_system.upper(), path), ()) if use.volume != subject)
        if path in ("/", "//"):
            return
        path = dirname(path)


def _uses(inventory: Inventory) -> dict[_Directory, tuple[_Use, ...]]:
    """Return the uses of each directory, one for each set of namespaces and one more."""
    uses: dict[_Directory, dict[frozenset[str], list[_Use]]] = defaultdict(lambda: defaultdict(list))
    for volume in inventory.of(PERSISTENT_VOLUME):
        handle = handle_of(volume)
        if handle is not None and not handle.faults:
            users = namespaces(volume, inventory.once(pairs))
            same = uses[handle.file_system.upper(), normpath(handle.path)][users]
            if len(same) < 2:  # noqa: PLR2004 - the volume itself and another
                same.append(_Use(volume, handle.path, users))
    return {key: tuple(use for same in sets.values() for use in same)[:100] for key, sets in uses.items()}


VOLUME_ONE_NAMESPACE = Rule(
    name="volume-one-namespace",
    what="No two volumes of different namespaces use the same directory, or one inside the other.",
    why="OpenShift relabels a volume's files to the namespace's MCS level (s0:c27,c24). The second namespace takes "
    "them from the first, whose running jobs then get `Permission denied` on files that they have open.",
    remedy="Give each namespace a directory of its own; if they must share one, label it container_file_t:s0 and set "
    "seLinuxOptions.level s0 in the pods",
    source="platform-facts 1.9, 4.3 rule 27; R-4.2-3",
    severity=Severity.ADVISORY,
    examine=_volume_one_namespace,
    kinds=(PERSISTENT_VOLUME,),
    links=True,
)
