"""What keeps an object on the cluster that an update wants to delete: the update stands there until its timeout."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from apis.kinds import NAMESPACE, PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM, Kind
from policies.values import read
from review.model import Change, Op, Resource
from review.running import finished
from review.section import Line
from review.titles import path, title
from review.words import count, enumerated, name, names
from review.worlds import Worlds

_ENDS = (Op.DELETE, Op.REPLACE)
_SHOWN = 6
_OWN = frozenset({"kubernetes.io/pv-protection", "kubernetes.io/pvc-protection", "foregroundDeletion", "orphan"})
"""Finalizers of Kubernetes itself: what they wait for is known."""


@dataclass(frozen=True)
class Hold:
    """What keeps one object."""

    resource: Resource
    by: str
    """A sentence's part that names it."""
    command: str = ""
    """What lets it go; empty where no command does."""


def lines(worlds: Worlds) -> Iterator[Line]:
    """Yield what deletions wait for, one line for each way to wait."""
    if worlds.review.drift:
        return
    volumes, claims, spaces = (list(find(worlds)) for find in (_volumes, _claims, _namespaces))
    if volumes:
        why = "a volume goes when its claim is gone (pv-protection), and the claim stays"
        yield _line(f"{_stands(volumes, 'volume')}: {why}", volumes, _volume_first(volumes, worlds))
    if claims:
        why = "a claim goes when no pod mounts it any more (pvc-protection), and some do"
        remedy = "to get past it: end what mounts the claim first, in an update of its own"
        yield _line(f"{_stands(claims, 'claim')}: {why}", claims, remedy)
    if spaces:
        text = f"the end of {count(len(spaces), 'namespace')} waits until finalizers in it are taken away"
        yield _line(text, spaces, "whoever set them has to run until then: an operator that goes as well goes later")


def _stands(held: list[Hold], one: str) -> str:
    return f"the update will stand at {count(len(held), one)} until its timeout, and leave what it deletes Terminating"


def _line(text: str, held: list[Hold], remedy: str) -> Line:
    kept = (f"{title(each.resource)} is kept by {each.by}" for each in held)
    return Line(text, (*kept, remedy), alarm=True)


def _volume_first(held: list[Hold], worlds: Worlds) -> str:
    commands = enumerated([name(each.command) for each in held], 2)
    return (
        "to get past it: take claim and volume off in one update, and declare them anew in the next; or, once no pod "
        f"mounts the claim, {commands}, and {name(f'./hpc up --stack {worlds.review.stack}')} again"
    )


def _ending(worlds: Worlds, *kinds: Kind) -> Iterator[tuple[Change, Resource]]:
    for change in worlds.changed(*kinds):
        if change.op in _ENDS and change.before and not change.before.retain_on_delete:
            yield change, change.before


def _volumes(worlds: Worlds) -> Iterator[Hold]:
    ends = list(_ending(worlds, PERSISTENT_VOLUME))
    if not ends:
        return
    gone = {resource.object_name for _, resource in _ending(worlds, NAMESPACE)}
    going = {path(resource) for _, resource in _ending(worlds, PERSISTENT_VOLUME_CLAIM)}
    claims: dict[str, list[str]] = defaultdict(list)
    pending = set()
    for claim in worlds.before.of(PERSISTENT_VOLUME_CLAIM):
        bound = read(claim.inputs, "spec", "volumeName")
        if isinstance(bound, str):
            claims[bound].append(path(claim))
        if read(claim.live, "status", "phase") not in (None, "Bound"):
            pending.add(path(claim))
    for _, volume in ends:
        for each in claims[volume.object_name] or _referred(volume, worlds):
            space, _, short = each.partition("/")
            if each not in going and each not in pending and space not in gone:
                yield Hold(volume, f"claim {name(each)}", f"kubectl delete pvc {short} -n {space}")
                break


def _referred(volume: Resource, worlds: Worlds) -> Iterator[str]:
    """Yield the claim that a volume names, where it is one of the stack's or the cluster says that it is bound."""
    space, short = (read(volume.inputs, "spec", "claimRef", key) for key in ("namespace", "name"))
    if isinstance(space, str) and isinstance(short, str):
        known = {path(claim) for claim in worlds.before.of(PERSISTENT_VOLUME_CLAIM)}
        if f"{space}/{short}" in known or read(volume.live, "status", "phase") == "Bound":
            yield f"{space}/{short}"


def _claims(worlds: Worlds) -> Iterator[Hold]:
    ends = list(_ending(worlds, PERSISTENT_VOLUME_CLAIM))
    if not ends:
        return
    gone = {resource.object_name for _, resource in _ending(worlds, NAMESPACE)}
    mounts: dict[tuple[str, str], list[str]] = defaultdict(list)
    for change in worlds.review.changes:
        # What is created has no pods yet, and what is deleted or replaced ends its own.
        resource = change.after or change.before
        if change.op in (*_ENDS, Op.CREATE) or not change.before or not resource or not resource.is_object:
            continue
        if not resource.is_patch and finished(change.before) is not True:
            for mounted in _mounted(worlds, resource):
                mounts[resource.namespace, mounted].append(title(resource))
    for _, claim in ends:
        found = mounts.get((claim.namespace, claim.object_name))
        if found and claim.namespace not in gone:
            yield Hold(claim, f"pods of {enumerated(found, _SHOWN)}")


def _mounted(worlds: Worlds, resource: Resource) -> set[str]:
    found = set()
    for pod in worlds.seen(resource).pods:
        for volume in pod.entries("volumes"):
            claim = read(volume, "persistentVolumeClaim", "claimName")
            if isinstance(claim, str):
                found.add(claim)
    return found


def _namespaces(worlds: Worlds) -> Iterator[Hold]:
    ends = [resource for _, resource in _ending(worlds, NAMESPACE)]
    if not ends:
        return
    inside: dict[str, dict[str, None]] = defaultdict(dict)
    for resource in worlds.before.objects:
        space = resource.object_name if resource.kind == NAMESPACE.kind else resource.namespace
        for finalizer in _finalizers(resource):
            inside[space][finalizer] = None
    for end in ends:
        if found := inside.get(end.object_name):
            yield Hold(end, f"{'finalizer' if len(found) == 1 else 'finalizers'} {names(found, _SHOWN)}")


def _finalizers(resource: Resource) -> Iterator[str]:
    for side in (resource.live, resource.inputs):
        found = read(side, "metadata", "finalizers")
        for each in found if isinstance(found, list) else ():
            if isinstance(each, str) and each not in _OWN:
                yield each
