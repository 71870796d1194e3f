"""What container-native Storage Scale does not support.

Source of the limits: IBM Storage Scale container native, "Deployment considerations" and "Hardware requirements".
"""

from collections.abc import Iterator
from posixpath import normpath

from stacks.checks.unlisted import Unlisted
from stacks.releases import RELEASES, KnownVersions, Release, either
from stacks.settings.platform import Settings
from stacks.settings.storage import ContainerNativeStorage

PRODUCT = "Storage Scale container native"
"""As the files of releases call it."""
FEWEST, MOST = 3, 128
"""Workers of one cluster; it has as many masters at least."""
ROCE = (5, 2, 3)
"""First version with RDMA over Ethernet."""


def problems(settings: Settings) -> Iterator[str]:
    """Yield what the operator refuses, and what its pods would wait for without an end."""
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
    versions, elsewhere = _versions(settings.version), _other_releases(storage, settings.version)
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


def _versions(release: Release) -> KnownVersions | None:
    return next((operator for operator in release.operators if operator.name == PRODUCT), None)


def _listed(release: Release, storage: ContainerNativeStorage) -> bool:
    versions = _versions(release)
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
