"""Which GUI of Storage Scale has a file system, with which account, and which fileset a tenant's volume is."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from core.apis import kinds
from core.apis.names import SCALE_CSI_DRIVER
from policies.views import volumes
from stacks.settings.platform import Settings
from stacks.settings.storage import ClaimVolume, ContainerNativeStorage, DirectoryVolume, HostClientStorage, Volume
from toolkit.cli.data.scale_gui import ScaleGui
from toolkit.cli.data.sources import account_of
from toolkit.cli.shared import session
from toolkit.cli.shared.cluster_client import Cluster
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.stack import Stack

USER, PASSWORD = "HPC_SCALE_USER", "HPC_SCALE_PASSWORD"


class Place(NamedTuple):
    """Where a volume is: the cluster that owns its file system, that one's UID, and the fileset."""

    cluster: str
    file_system_uid: str
    fileset: str


def storage_of(settings: Settings) -> HostClientStorage | ContainerNativeStorage:
    """Return the settings of Storage Scale; raise Problem for a stack without it."""
    if settings.storage is None:
        raise Problem("the stack has no Spectrum Scale", "Give `storage` in its settings.")
    return settings.storage


@contextmanager
def gui(stack: Stack, cluster: str = "") -> Iterator[ScaleGui]:
    """Yield the GUI of a cluster by its id; without one, of that which owns the stack's file system.

    A simulated cluster has its own, with its own account, where its stack has caches. Raises Problem without storage
    or without an account.
    """
    storage = storage_of(stack.settings)
    if (own := _simulated(stack)) is not None:
        yield own
        return
    host, *others = _hosts(storage, cluster)
    user, password = account_of(host, USER, PASSWORD)
    if storage.ca_certificate is None:
        yield ScaleGui(host, user, password, others=tuple(others))
        return
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
        file.write(storage.ca_certificate + "\n")
        file.flush()
        yield ScaleGui(host, user, password, file.name, tuple(others))


def place_of(stack: Stack, namespace: str, name: str, volume: Volume) -> Place:
    """Return where a tenant's volume is, by its handle on the cluster; raise Problem where it is on no fileset."""
    if not isinstance(volume, DirectoryVolume | ClaimVolume):
        raise Problem(
            f"volume {name} of {namespace} is made for each pod, so it is not a cache", "Name another data set."
        )
    handle = _handle(session.cluster(stack), namespace, volume.claim)
    if handle.faults or not handle.fileset:
        why = handle.faults[0] if handle.faults else "names no fileset"
        remedy = "Give `fileset` of the volume." if isinstance(volume, DirectoryVolume) else "See its PersistentVolume."
        raise Problem(f"the handle of volume {name} of {namespace} {why}", remedy)
    return Place(handle.cluster, handle.file_system, handle.fileset)


def _handle(cluster: Cluster, namespace: str, claim: str) -> volumes.Handle:
    volume_claim = cluster.get(kinds.PERSISTENT_VOLUME_CLAIM.path(namespace, claim))
    bound = (volume_claim or {}).get("spec", {}).get("volumeName")
    if not bound:
        what = "is not on the cluster" if volume_claim is None else "is not bound to a volume"
        raise Problem(f"claim {claim} of {namespace} {what}", "Bring the stack up, or see why with ./hpc status.")
    source = (cluster.get(kinds.PERSISTENT_VOLUME.path(None, bound)) or {}).get("spec", {}).get("csi") or {}
    driver = source.get("driver") or "none of CSI"
    if driver != SCALE_CSI_DRIVER:
        raise Problem(
            f"claim {claim} of {namespace} is on no Storage Scale; its driver is {driver}",
            "Only caches of Storage Scale have a state.",
        )
    return volumes.parse(str(source.get("volumeHandle")))


def _simulated(stack: Stack) -> ScaleGui | None:
    """Return the GUI of a simulated cluster; None for a real one, and for one without."""
    if not stack.simulated:
        return None
    from toolkit.cli.shared.simulated import cluster  # noqa: PLC0415 - for simulated clusters alone

    server = cluster.server(stack, lambda cluster_state: cluster_state.scale_gui, lambda layout: layout.scale_account)
    return server and ScaleGui(server.host, server.account.user, server.account.password, str(server.ca))


def _hosts(storage: HostClientStorage | ContainerNativeStorage, cluster: str) -> tuple[str, ...]:
    if isinstance(storage, ContainerNativeStorage):
        return storage.remote.gui_hosts
    hosts = {cluster_record.id: cluster_record.gui_host for cluster_record in storage.clusters}
    others = [host for cluster_id, host in hosts.items() if cluster_id != storage.own_cluster]
    return (hosts.get(cluster) or (others or [*hosts.values()])[0],)
