"""How a stack stands before it is reviewed: an update that runs or was cut off, objects that are being deleted."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from apis import kinds
from cli.errors import Problem
from cli.live import Cluster, RefusedError
from cli.stack import Stack
from review import titles
from review.model import Ending, Resource
from review.words import count, name

_UNASKED = (kinds.SECRET.kind, kinds.CONFIG_MAP.kind)
"""Kinds that hardly ever have finalizers, and whose lists are long and hold what is nobody's business."""


@dataclass(frozen=True)
class Standing:
    """What became of the last update of a stack."""

    running: str = ""
    """Who updates it now."""
    cut_off: bool = False
    """Whether the last update ended before it was over."""
    pending: int = 0
    """Operations of it that may have been done or not."""

    def told(self, options: str) -> Iterator[str]:
        """Yield it as sentences; `options` name the stack on a command line."""
        if self.running:
            yield (
                f"An update of this stack is under way, as its lock says ({name(self.running)}): what it has not done "
                "yet is told as if nobody did it."
            )
        elif self.cut_off:
            unsure = (
                f"{count(self.pending, 'operation')} of it may be done or not" if self.pending else "its lock is left"
            )
            yield f"The last update of this stack was cut off: {unsure}. {name(f'./hpc up {options}')} goes on."


def of(wanted: Stack) -> Standing:
    """Return how a stack stands; where its backend cannot be read here, it stands well."""
    if (backend := wanted.backend) is None:
        return Standing()
    locks = backend.locks(wanted.name)
    pending = len(backend.checkpoint(wanted.name).get("pending_operations") or [])
    running = next((lock.holder for lock in locks if not backend.is_dead(lock)), "")
    return Standing(running, not running and bool(locks or pending), pending)


def ending(cluster: Cluster, resources: Iterable[Resource]) -> tuple[Ending, ...]:
    """Return which objects of a stack are being deleted: one list of each kind, of those that may be listed."""
    own = {(each.api_version, each.kind, each.namespace, each.object_name) for each in resources if _counts(each)}
    found: set[Ending] = set()
    for api_version, kind in sorted({key[:2] for key in own}):
        try:
            listed = cluster.every(api_version, kind)
        except RefusedError:
            continue
        except Problem:
            break
        for each in listed:
            metadata = each.get("metadata") or {}
            place = str(metadata.get("namespace") or ""), str(metadata.get("name") or "")
            if metadata.get("deletionTimestamp") and (api_version, kind, *place) in own:
                found.add(Ending(kind, "/".join(filter(None, place)), tuple(_finalizers(kind, each))))
    return tuple(sorted(found, key=lambda one: (one.kind, one.path)))


def seen(resources: Iterable[Resource]) -> Iterator[Ending]:
    """Yield which objects were being deleted when they were read: they may be gone when the cluster is asked again."""
    for each in resources:
        metadata = each.live.get("metadata") if _counts(each) else None
        if isinstance(metadata, Mapping) and metadata.get("deletionTimestamp"):
            yield Ending(each.kind, titles.path(each), tuple(_finalizers(each.kind, each.live)))


def _counts(resource: Resource) -> bool:
    return resource.is_object and not resource.is_patch and resource.kind not in _UNASKED


def _finalizers(kind: str, found: Mapping[str, Any]) -> Iterator[str]:
    """Yield what keeps an object: of a namespace, which its spec names, too."""
    yield from map(str, (found.get("metadata") or {}).get("finalizers") or ())
    if kind == kinds.NAMESPACE.kind:
        yield from map(str, (found.get("spec") or {}).get("finalizers") or ())
