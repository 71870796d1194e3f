"""A Spectrum Scale volume is on a cluster that the driver knows."""

from collections.abc import Iterator, Mapping

from pydantic import Field

from core.apis.kinds import CSI_SCALE_OPERATOR, PERSISTENT_VOLUME
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import brief
from policies.rule import Parameters, Rule
from policies.views import scale
from policies.views.volumes import HANDLE, handle_of


class VolumeCluster(Parameters):
    """The clusters of container-native Storage Scale, whose ids no object has."""

    container_native: tuple[str, ...] = Field(
        default=(), description="ids of the workers' cluster and of the storage cluster"
    )


def _examine(subject: Obj, inventory: Inventory, parameters: VolumeCluster) -> Iterator[Violation]:
    handle = handle_of(subject)
    if handle is None or handle.faults:
        return
    drivers = inventory.of(CSI_SCALE_OPERATOR)
    if not drivers and inventory.once(scale.is_deployed):
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
    examine=_examine,
    kinds=(PERSISTENT_VOLUME,),
    links=True,
)
