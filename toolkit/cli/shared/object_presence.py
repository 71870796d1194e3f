"""Whether a state is about a cluster, by its objects: for states that no one noted the cluster of."""

from collections.abc import Iterable, Mapping
from typing import Any

from policies.values import read
from toolkit.cli.shared.checkpoints.interrupted import find_object
from toolkit.cli.shared.cluster_client import Cluster, RefusedError

_SAMPLE = 4
"""How many namespaces, and how many other objects, are looked for."""


def any_present(resources: Iterable[Mapping[str, Any]], cluster: Cluster) -> bool:
    """Whether any of a state's objects is on a cluster, or there is none that could be."""
    made = [each for each in resources if read(each, "outputs", "metadata", "uid") and _is_whole(each)]
    namespaces = [each for each in made if str(each["type"]).endswith(":Namespace")]
    others = [each for each in made if each not in namespaces]
    sample = (*namespaces[:_SAMPLE], *others[:_SAMPLE])
    return not sample or any(_is_present(each, cluster) for each in sample)


def _is_whole(resource: Mapping[str, Any]) -> bool:
    """Whether a resource is an object, and no patch of one that existed without it."""
    kind = str(resource["type"])
    return kind.startswith("kubernetes:") and not kind.endswith("Patch")


def _is_present(resource: Mapping[str, Any], cluster: Cluster) -> bool:
    try:
        found = find_object(resource, cluster.find)
    except RefusedError:
        return False
    return found is not None and read(found, "metadata", "uid") == read(resource, "outputs", "metadata", "uid")
