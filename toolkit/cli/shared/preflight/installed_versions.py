"""Versions that a cluster, or a state, has of the components in `stacks/transitions/`."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from core.apis import kinds
from core.apis.kinds import Kind
from policies.manifests.values import entries, read
from stacks.checks.component_versions import MPI_OPERATOR, TRAINER, branch, component_of, of_image
from stacks.transitions import COMPONENTS, GPU_DRIVER, OPENSHIFT, minor
from toolkit.cli.shared.cluster_client import Cluster, RefusedError

Object = Mapping[str, Any]
Look = Callable[[Kind], Sequence[Object]]
"""List a kind; an empty list where nothing can be read."""
_NUMBER = re.compile(r"[-.]v?(\d+\.\d+)(?:\.|$)")
"""In the name of a ClusterServiceVersion, gpu-operator-certified.v26.7.0, and in that of a channel, stable-v1.3."""
_IMAGES = {"trainer-controller-manager": TRAINER, "mpi-operator": MPI_OPERATOR}
"""Name of a controller's image, without registry and folder -> its component."""


def of_cluster(cluster: Cluster) -> tuple[dict[str, str], list[str]]:
    """Return the versions that run on a cluster by component, and why some could not be read."""
    unread: list[str] = []

    def look(kind: Kind) -> Sequence[Object]:
        try:
            return cluster.list(kind)
        except RefusedError as error:
            unread.append(f"{kind.plural}: {error.reason}")
            return ()

    return of_objects(look), unread


def of_state(resources: Sequence[Object], release: str | None) -> dict[str, str]:
    """Return the versions that the last update declared, by its state; `release` as the state has it."""
    inputs = (resource.get("inputs") for resource in resources)
    return ({OPENSHIFT: release} if release else {}) | of_objects(listing(inputs))


def listing(objects: Iterable[Any]) -> Look:
    """Return what lists the kinds of some objects."""
    every = [item for item in objects if isinstance(item, Mapping)]

    def look(kind: Kind) -> Sequence[Object]:
        return [item for item in every if (item.get("kind"), item.get("apiVersion")) == (kind.kind, kind.api_version)]

    return look


def of_objects(look: Look) -> dict[str, str]:
    """Return the versions that objects show, by component."""
    return dict(_versions(look))


def _versions(look: Look) -> Iterator[tuple[str, str]]:
    for cluster_version in look(kinds.CLUSTER_VERSION):
        if version := _release(cluster_version):
            yield OPENSHIFT, version
    for subscription in look(kinds.SUBSCRIPTION):
        name = component_of(str(read(subscription, "spec", "name")))
        installed = read(subscription, "status", "installedCSV") or read(subscription, "spec", "channel")
        if name and (match := _NUMBER.search(f"-{installed}")) and not COMPONENTS[name].follows_release:
            yield name, minor(match[1])
    for policy in look(kinds.CLUSTER_POLICY):
        driver = read(policy, "spec", "driver", "version")
        if isinstance(driver, str) and read(policy, "spec", "driver", "enabled") is not False:
            yield GPU_DRIVER, branch(driver)
    for deployment in look(kinds.DEPLOYMENT):
        for container in entries(deployment, "spec", "template", "spec", "containers"):
            image = str(container.get("image") if isinstance(container, Mapping) else "")
            component = _IMAGES.get(image.rpartition("/")[2].partition(":")[0].partition("@")[0])
            if component and (version := of_image(image)):
                yield component, version


def _release(cluster_version: Object) -> str | None:
    """Return the version that a cluster has come to; the desired one may be on its way."""
    for entry in entries(cluster_version, "status", "history"):
        if isinstance(entry, Mapping) and entry.get("state") == "Completed":
            return str(entry.get("version"))
    desired = read(cluster_version, "status", "desired", "version")
    return str(desired) if desired else None
