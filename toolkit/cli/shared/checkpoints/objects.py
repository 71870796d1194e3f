"""Objects on a cluster, and the states that they are in.

Nothing that another stack has on the same cluster may come into this one's state, to be deleted with it. All stacks
give their objects the same labels, and a provider's name for itself is chosen at random. So what belongs to whom is
known from the states alone.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from core.pulumi_values import SIGNATURE
from policies.manifests.values import read
from toolkit.cli.shared.backends.backend import CLUSTER_UID, Backend
from toolkit.cli.shared.cluster_client import Cluster, RefusedError

Live = Callable[[str, str, str, str], Mapping[str, Any] | None]
"""Given apiVersion, kind, namespace and name: the object on the cluster, or None."""

MAKER = "pulumi-kubernetes"
"""How the provider's field managers begin: an object that kubectl or an operator made has none of these."""
_OBJECTS = "kubernetes:"
_DEFAULT = "default"
"""Namespace of what names none. The official provider writes it into inputs of cluster-scoped kinds, too."""

Key = tuple[str, str, str, str]
"""API group, kind, namespace and name."""
_SAMPLE = 4
"""How many namespaces, and how many other objects, are looked for."""


@dataclass(frozen=True)
class OtherStacks:
    """Objects of other stacks, with their UIDs; None for one whose create no one saw end."""

    objects: Mapping[Key, frozenset[str | None]]

    def have(self, resource: Mapping[str, Any], live_object: Mapping[str, Any]) -> bool:
        """Whether the object that was found on the cluster for a resource is another stack's."""
        theirs = self.objects.get(_key(resource), frozenset())
        return None in theirs or read(live_object, "metadata", "uid") in theirs


NONE = OtherStacks({})


def others_of(stack: str, backend: Backend | None) -> OtherStacks:
    """Return what the other stacks of a backend have, without those that are noted to be on another cluster.

    Nothing where the backend cannot be read here. Raises Problem for a state that is damaged.
    """
    if backend is None:
        return NONE
    here = backend.tags(stack).get(CLUSTER_UID)
    owners: dict[Key, frozenset[str | None]] = {}
    for other in backend.stacks():
        other_uid = backend.tags(other).get(CLUSTER_UID)
        if other == stack or (here and other_uid and here != other_uid):
            continue
        latest = backend.checkpoint(other)
        pending = (
            operation["resource"]
            for operation in latest.get("pending_operations") or ()
            if operation["type"] == "creating"
        )
        for resource, uid in (*_uids(latest.get("resources") or ()), *((resource, None) for resource in pending)):
            if str(resource["type"]).startswith(_OBJECTS):
                owners[_key(resource)] = owners.get(_key(resource), frozenset()) | {uid}
    return OtherStacks(owners)


def _uids(resources: Iterable[Mapping[str, Any]]) -> Iterable[tuple[Mapping[str, Any], str | None]]:
    """Return objects with their UIDs; a patch is of an object that is another owner's anyway."""
    for resource in resources:
        if not str(resource["type"]).endswith("Patch"):
            uid = read(resource, "outputs", "metadata", "uid")
            yield resource, uid if isinstance(uid, str) else None


def _key(resource: Mapping[str, Any]) -> Key:
    version, _, kind = str(resource["type"]).removeprefix(_OBJECTS).partition(":")
    metadata = read(resource, "inputs", "metadata")
    return (
        version.removeprefix("core/").rpartition("/")[0],
        kind,
        str(read(metadata, "namespace") or _DEFAULT),
        str(read(metadata, "name") or ""),
    )


def any_present(resources: Iterable[Mapping[str, Any]], cluster: Cluster) -> bool:
    """Whether any of a state's objects is on a cluster, or there is none that could be.

    It is asked for a state that no one noted the cluster of.
    """
    made = [resource for resource in resources if read(resource, "outputs", "metadata", "uid") and _is_whole(resource)]
    namespaces = [resource for resource in made if str(resource["type"]).endswith(":Namespace")]
    others = [resource for resource in made if resource not in namespaces]
    sample = (*namespaces[:_SAMPLE], *others[:_SAMPLE])
    return not sample or any(_is_present(resource, cluster) for resource in sample)


def _is_whole(resource: Mapping[str, Any]) -> bool:
    """Whether a resource is an object, and no patch of one that existed without it."""
    kind = str(resource["type"])
    return kind.startswith("kubernetes:") and not kind.endswith("Patch")


def find_object(resource: Mapping[str, Any], live: Live) -> Mapping[str, Any] | None:
    """Return the object of a resource, by the name in its inputs; None where it is none, or is not there."""
    package, _, rest = str(resource["type"]).partition(":")
    version, _, kind = rest.partition(":")
    name = read(resource, "inputs", "metadata", "name")
    # A patch adds to an object that is there without it, and is simply applied again.
    if package != "kubernetes" or not kind or not isinstance(name, str) or kind.endswith("Patch"):
        return None
    return live(version.removeprefix("core/"), kind, str(read(resource, "inputs", "metadata", "namespace") or ""), name)


def ours(resource: Mapping[str, Any], live_object: Mapping[str, Any]) -> bool:
    """Whether the object carries the labels that we were about to give it: the create may have met another's object."""
    declared = read(resource, "inputs", "metadata", "labels")
    if not isinstance(declared, Mapping) or SIGNATURE in declared:
        return False
    carried = read(live_object, "metadata", "labels") or {}
    return bool(declared) and all(carried.get(key) == value for key, value in declared.items())


def made_by_provider(live_object: Mapping[str, Any]) -> bool:
    """Whether a Kubernetes provider of Pulumi made or changed the object, and not a user with the same manifest."""
    return any(name.startswith(MAKER) for name in managers(live_object))


def managers(live_object: Mapping[str, Any]) -> list[str]:
    """Return who has fields of an object, by the API server's own account."""
    entries = read(live_object, "metadata", "managedFields")
    return [str(read(entry, "manager")) for entry in (entries if isinstance(entries, list) else ())]


def _is_present(resource: Mapping[str, Any], cluster: Cluster) -> bool:
    try:
        live_object = find_object(resource, cluster.find)
    except RefusedError:
        return False
    return live_object is not None and read(live_object, "metadata", "uid") == read(
        resource, "outputs", "metadata", "uid"
    )
