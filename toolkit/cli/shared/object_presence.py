"""Whether a state is about a cluster, by its objects: for states that no one noted the cluster of."""

from collections.abc import Iterable, Mapping
from typing import Any

from policies.manifests.values import read
from toolkit.cli.shared.checkpoints.interrupted import find_object
from toolkit.cli.shared.cluster_client import Cluster, RefusedError

_SAMPLE = 4
"""How many namespaces, and how many other objects, are looked for."""


def any_present(resources: Iterable[Mapping[str, Any]], cluster: Cluster) -> bool:
    """Whether any of a state's objects is on a cluster, or there is none that could be."""
    made = [resource for resource in resources if read(resource, "outputs", "metadata", "uid") and _is_whole(resource)]
    namespaces = [resource for resource in made if str(resource["type"]).endswith(":Namespace")]
    others = [resource for resource in made if resource not in namespaces]
    sample = (*namespaces[:_SAMPLE], *others[:_SAMPLE])
    return not sample or any(_is_present(resource, cluster) for resource in sample)


def _is_whole(resource: Mapping[str, Any]) -> bool:
    """Whether a resource is an object, and no patch of one that existed without it."""
    kind = str(resource["type"])
    return kind.startswith("kubernetes:") and not kind.endswith("Patch")


def _is_present(resource: Mapping[str, Any], cluster: Cluster) -> bool:
    try:
        live_object = find_object(resource, cluster.find)
    except RefusedError:
        return False
    return live_object is not None and read(live_object, "metadata", "uid") == read(
        resource, "outputs", "metadata", "uid"
    )
