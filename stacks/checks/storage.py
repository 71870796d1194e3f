"""What is wrong between Spectrum Scale, its clients and what tenants have of it."""

from collections.abc import Iterator, Mapping
from posixpath import normpath

from components.storage.claim import AccessMode
from components.storage.storage_class import Cache
from core.wording import some
from stacks.checks import Unlisted, repeated
from stacks.releases import RELEASES, Release, either
from stacks.settings.platform import Settings
from stacks.settings.storage import ClaimVolume, ContainerNativeStorage, DirectoryVolume, HostClientStorage

_SHOWN = 4


def problems(settings: Settings) -> Iterator[str]:
    """Yield what the driver does not support, and nodes on which pods would wait for their volumes."""
    storage = settings.storage
    if storage is None:
        return
    own = isinstance(storage, HostClientStorage)
    if isinstance(storage, HostClientStorage):
        yield from repeated("storage.clusters: id", (cluster.id for cluster in storage.clusters))
        yield from repeated("storage.clusters: secret", (cluster.secret for cluster in storage.clusters))
    for storage_class in storage.classes:
        if storage_class.cluster_id not in storage.known_clusters:
            yield (
                f"storage.classes: cluster_id {storage_class.cluster_id} of {storage_class.class_name} is none of "
                f"storage.{'clusters' if own else 'remote.id and storage.cluster_id'} "
                f"({', '.join(storage.known_clusters)}); correct it, or give that cluster's GUI there"
            )
    yield from _modes(settings, {storage_class.class_name: storage_class.volumes for storage_class in storage.classes})
    if own:
        yield from _clients(settings)
    yield from _container_native(settings)


def _modes(settings: Settings, classes: Mapping[str, object]) -> Iterator[str]:
    """Yield claims that the driver refuses for their access mode; it would do so at the first claim, in its own log."""
    for tenant in settings.tenants:
        for name, volume in tenant.all_volumes.items():
            if isinstance(volume, DirectoryVolume) or volume.storage_class not in classes:
                continue
            storage_class = classes[volume.storage_class]
            mode: AccessMode = volume.access_mode if isinstance(volume, ClaimVolume) else "ReadWriteOnce"
            if isinstance(storage_class, Cache):
                reason = storage_class.refuses(mode)
            elif mode == "ReadOnlyMany":
                reason = "only caches can be ReadOnlyMany; use ReadWriteMany and read_only: true"
            else:
                reason = None
            if reason:
                yield (
                    f"tenants: volumes.{name} of {tenant.namespace}, access_mode {mode} of storage class "
                    f"{volume.storage_class}: {reason}"
                )


def _clients(settings: Settings) -> Iterator[str]:
    """Yield the nodes without the driver's pods: a job's pod there waits for its volume without any message."""
    without = [node.name for node in settings.gpu_nodes if node.gpus and not node.scale_client]
    users = [
        tenant.namespace
        for tenant in settings.tenants
        if any(settings.on_scale(volume) for volume in tenant.all_volumes.values())
    ]
    if without and users:
        yield (
            f"nodes: scale_client is false of {some(without, _SHOWN)}, and data of {', '.join(users)} is on Spectrum "
            "Scale: pods there would stay Pending; make them clients and set scale_client, or give them free_gpus: 0"
        )


PRODUCT = "Storage Scale container native"
"""As the files of releases call it."""
FEWEST, MOST = 3, 128
"""Workers of one cluster; it has as many masters at least."""
ROCE = (5, 2, 3)
"""First version with RDMA over Ethernet."""


def _container_native(settings: Settings) -> Iterator[str]:
    """Yield what the operator refuses, and what its pods would wait for without an end.

    Source of the limits: IBM Storage Scale container native, "Deployment considerations" and "Hardware requirements".
    """
    storage = settings.scale_pods
    if storage is None:
        return
    yield from _workers(settings)
    if storage.rdma and storage.rdma.link == "roce" and _numbers(storage.version) < ROCE:
        yield (
            f"storage.rdma.link roce: version {storage.version} has RDMA over InfiniBand only; use 5.2.3.0 or later, "
            "or leave storage.rdma out"
        )
    yield from _directories(settings, storage)


def unlisted(settings: Settings) -> Iterator[Unlisted]:
    """Yield a version that is listed for other releases only; or, as a warning, for none, or none for this release."""
    storage = settings.scale_pods
    if storage is None or _listed(settings.version, storage):
        return
    versions, elsewhere = settings.version.listed(PRODUCT), _other_releases(storage, settings.version)
    if versions and elsewhere:
        reason = f"{PRODUCT} {_minor(storage)} is not for OpenShift {settings.release} ({versions.source})"
        remedy = f"use {either(versions.versions)}, or release {either(elsewhere)}"
        yield Unlisted("storage.version", storage.version, reason, remedy)
    elif not elsewhere:
        reason = (
            f"no vendor's list in docs/reference/releases.md has {_minor(storage)} for OpenShift {settings.release}"
        )
        yield Unlisted("storage.version", storage.version, reason, "check that they fit", refused=False)


def _workers(settings: Settings) -> Iterator[str]:
    clients = [node.name for node in settings.nodes if node.scale_client]
    if clients:
        yield (
            f"nodes: scale_client true of {clients[0]}: storage.kind container-native runs the client in pods, never "
            "beside one of the host; leave scale_client out"
        )
    count = len(settings.workers)
    if not FEWEST <= count <= MOST:
        yield (
            f"storage.kind container-native: the cluster has {count} workers, and needs {FEWEST} to {MOST}; "
            f"{'add some' if count < FEWEST else 'use other storage, or several clusters'}"
        )
    masters = sum("master" in node.roles for node in settings.nodes)
    if masters < FEWEST:
        yield f"storage.kind container-native: {masters} of the nodes are masters, and it needs {FEWEST}; add some"
    machines = (pool.machine for pool in settings.gpu_pools)
    if machine := next((machine for machine in machines if machine.cpu_architecture != "x86_64"), None):
        yield (
            f"storage.kind container-native does not support {machine.cpu_architecture}, the processors of "
            f"{machine.name}; leave storage out, and give tenants claims of another class"
        )


def _listed(release: Release, storage: ContainerNativeStorage) -> bool:
    versions = release.listed(PRODUCT)
    return versions is not None and _minor(storage) in versions.versions


def _other_releases(storage: ContainerNativeStorage, own: Release) -> list[str]:
    return [name for name, other in RELEASES.items() if other is not own and _listed(other, storage)]


def _minor(storage: ContainerNativeStorage) -> str:
    return ".".join(storage.version.split(".")[:2])


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _directories(settings: Settings, storage: ContainerNativeStorage) -> Iterator[str]:
    directories = [(tenant, *directory) for tenant in settings.tenants for directory in tenant.directories]
    for tenant, place, directory in directories:
        if not f"{normpath(directory.path)}/".startswith(f"{storage.mount_point}/"):
            yield (
                f"tenants: {place}.path {directory.path} of {tenant.namespace} is not below {storage.mount_point}, "
                f"where the nodes have the file system {storage.file_system.name} (storage.mounted_as); correct it"
            )
    if directories and storage.cluster_id is None:
        owners = ", ".join(dict.fromkeys(tenant.namespace for tenant, *_ in directories))
        yield (
            f"storage.cluster_id is missing, and data of {owners} is a directory, whose handle has the id of "
            "the workers' cluster; update without these tenants, then give what `kubectl get "
            "daemons.scale.spectrum.ibm.com -A -o yaml` has in status.clusterID"
        )
