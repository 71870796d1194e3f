"""Which objects hold data or credentials, so that their end is more than the end of an object."""

from collections import defaultdict

from core.apis import kinds
from core.wording import plural
from policies.manifests.values import read
from toolkit.review.indexed_review import IndexedReview, group
from toolkit.review.model import Op, Resource

_DELETE = "Delete"


class StatefulObjects:
    """The claims and volumes of both sides, by where they are."""

    def __init__(self, indexed: IndexedReview) -> None:
        self.claims: dict[str, dict[str, Resource]] = defaultdict(dict)
        self.volumes: dict[str, Resource] = {}
        self.classes: dict[str, Resource] = {}
        self.ending = {
            change.resource.object_name
            for change in indexed.changed(kinds.NAMESPACE)
            if change.op in (Op.DELETE, Op.REPLACE)
        }
        for side in (indexed.after, indexed.before):
            for claim in side.of(kinds.PERSISTENT_VOLUME_CLAIM):
                self.claims[claim.namespace][claim.object_name] = claim
            self.volumes.update((volume.object_name, volume) for volume in side.of(kinds.PERSISTENT_VOLUME))
            self.classes.update(
                (storage_class.object_name, storage_class) for storage_class in side.of(kinds.STORAGE_CLASS)
            )

    def of(self, resource: Resource) -> str:
        """Return what an object holds; empty when it holds nothing."""
        where = group(resource), resource.kind
        if resource.is_patch:
            return ""
        if where in _PLAIN:
            return _PLAIN[where]
        if where == (kinds.NAMESPACE.group, kinds.NAMESPACE.kind) and (claims := self.claims.get(resource.object_name)):
            return plural(len(claims), "claim")
        if where == (kinds.STORAGE_CLASS.group, kinds.STORAGE_CLASS.kind) and reclaim(resource) == _DELETE:
            return "volumes that are deleted with their claims"
        return ""


_PLAIN = {
    (kinds.PERSISTENT_VOLUME.group, kinds.PERSISTENT_VOLUME.kind): "a volume",
    (kinds.PERSISTENT_VOLUME_CLAIM.group, kinds.PERSISTENT_VOLUME_CLAIM.kind): "a claim",
    (kinds.SECRET.group, kinds.SECRET.kind): "credentials",
    (kinds.SCALE_FILE_SYSTEM.group, kinds.SCALE_FILE_SYSTEM.kind): "a mounted file system",
    (kinds.SCALE_CLUSTER.group, kinds.SCALE_CLUSTER.kind): "clients of a file system",
}


def reclaim(resource: Resource) -> str:
    """Return the reclaim policy of a volume or of a class, with the API server's default where none is written."""
    if resource.kind == kinds.PERSISTENT_VOLUME.kind:
        return str(read(resource.inputs, "spec", "persistentVolumeReclaimPolicy") or "Retain")
    return str(resource.inputs.get("reclaimPolicy") or _DELETE)
