"""Versions that a cluster, or a state, has of the components in `stacks/transitions/`."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from core.apis import kinds
from core.apis.kinds import Kind
from policies.manifests.values import entries, read
from stacks.checks.component_versions import MPI_OPERATOR, TRAINER, branch, component_of
from stacks.checks.operator import version_of_image
from stacks.resolved.versions import version_in
from stacks.transitions import COMPONENTS, GPU_DRIVER, OPENSHIFT
from toolkit.cli.shared.cluster_client import Cluster, RefusedError

Object = Mapping[str, Any]
Look = Callable[[Kind], Sequence[Object]]
"""List a kind; an empty list where nothing can be read."""
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
        if version := release_of(cluster_version):
            yield OPENSHIFT, version
    for subscription in look(kinds.SUBSCRIPTION):
        name = component_of(str(read(subscription, "spec", "name")))
        installed = read(subscription, "status", "installedCSV") or read(subscription, "spec", "channel")
        if name and (version := version_in(str(installed))) and not COMPONENTS[name].follows_release:
            yield name, version
    for policy in look(kinds.CLUSTER_POLICY):
        driver = read(policy, "spec", "driver", "version")
        if isinstance(driver, str) and read(policy, "spec", "driver", "enabled") is not False:
            yield GPU_DRIVER, branch(driver)
    for deployment in look(kinds.DEPLOYMENT):
        for container in entries(deployment, "spec", "template", "spec", "containers"):
            image = str(container.get("image") if isinstance(container, Mapping) else "")
            component = _IMAGES.get(image.rpartition("/")[2].partition(":")[0].partition("@")[0])
            if component and (version := version_of_image(image)):
                yield component, version


def release_of(cluster_version: Object | None) -> str | None:
    """Return the version that a cluster has come to; the desired one, which may be on its way, where it has to none."""
    history = entries(cluster_version, "status", "history")
    versions = [read(entry, "version") for entry in history if read(entry, "state") == "Completed"]
    versions.append(read(cluster_version, "status", "desired", "version"))
    return next((version for version in versions if isinstance(version, str) and version), None)
