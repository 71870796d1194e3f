"""The status of a stack before a review: an update that runs or was interrupted, objects that are being deleted."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.apis import kinds
from core.wording import plural
from toolkit.cli.shared.cluster_client import Cluster, RefusedError
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.stack import Stack
from toolkit.review import sentences
from toolkit.review.model import Ending, Resource
from toolkit.review.sentences import name

_NOT_QUERIED = (kinds.SECRET.kind, kinds.CONFIG_MAP.kind)
"""Kinds that hardly ever have finalizers, and whose lists are long and have what is no one's business."""


@dataclass(frozen=True)
class LastUpdate:
    """Whether the last update of a stack still runs, or was interrupted."""

    running: str = ""
    """Who updates it now."""
    cut_off: bool = False
    """Whether the last update ended before it finished."""
    pending: int = 0
    """Operations of it that may have been done or not."""

    @property
    def unsettled(self) -> bool:
        """Whether the state may lack what the update has done."""
        return bool(self.running) or self.cut_off

    def cautions(self, options: str) -> Iterator[str]:
        """Yield it as sentences; `options` name the stack on a command line."""
        if self.running:
            yield (
                f"An update of this stack is under way, by its lock ({name(self.running)}): what it has not done "
                "yet is shown as a change."
            )
        elif self.cut_off:
            unsure = (
                f"{plural(self.pending, 'operation')} of it may be done or not" if self.pending else "its lock is left"
            )
            again = name(f"./hpc up {options}")
            yield f"The last update of this stack was interrupted: {unsure}. {again} continues it."


def last_update(stack: Stack) -> LastUpdate:
    """Return the status of a stack's last update; where its backend cannot be read here, a good one."""
    if (backend := stack.backend) is None:
        return LastUpdate()
    locks = backend.locks(stack.name)
    pending = len(backend.checkpoint(stack.name).get("pending_operations") or [])
    running = next((lock.holder for lock in locks if not backend.is_dead(lock)), "")
    return LastUpdate(running, not running and bool(locks or pending), pending)


def ending(cluster: Cluster, resources: Iterable[Resource]) -> tuple[Ending, ...]:
    """Return which objects of a stack are being deleted: one list of each kind, of those that may be listed."""
    own = {
        (resource.api_version, resource.kind, resource.namespace, resource.object_name)
        for resource in resources
        if _counts(resource)
    }
    endings: set[Ending] = set()
    for api_version, kind in sorted({key[:2] for key in own}):
        try:
            listed = cluster.find_all(api_version, kind)
        except RefusedError:
            continue
        except Problem:
            break
        for obj in listed:
            metadata = obj.get("metadata") or {}
            place = str(metadata.get("namespace") or ""), str(metadata.get("name") or "")
            if metadata.get("deletionTimestamp") and (api_version, kind, *place) in own:
                endings.add(Ending(kind, "/".join(filter(None, place)), tuple(_finalizers(kind, obj))))
    return tuple(sorted(endings, key=lambda item: (item.kind, item.path)))


def seen(resources: Iterable[Resource]) -> Iterator[Ending]:
    """Yield which objects were being deleted when they were read: they may be gone at the next query."""
    for resource in resources:
        metadata = resource.live.get("metadata") if _counts(resource) else None
        if isinstance(metadata, Mapping) and metadata.get("deletionTimestamp"):
            yield Ending(resource.kind, sentences.path(resource), tuple(_finalizers(resource.kind, resource.live)))


def _counts(resource: Resource) -> bool:
    return resource.is_object and not resource.is_patch and resource.kind not in _NOT_QUERIED


def _finalizers(kind: str, obj: Mapping[str, Any]) -> Iterator[str]:
    """Yield what keeps an object: of a namespace, which its spec names, too."""
    yield from map(str, (obj.get("metadata") or {}).get("finalizers") or ())
    if kind == kinds.NAMESPACE.kind:
        yield from map(str, (obj.get("spec") or {}).get("finalizers") or ())
