"""What blocks the deletion of an object: an update that deletes it hangs until its timeout."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from core.apis.kinds import NAMESPACE, PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM, Kind
from core.wording import plural
from policies.manifests.values import entries, read
from toolkit.review.indexed_review import IndexedReview
from toolkit.review.model import Op, Resource, finished
from toolkit.review.section import Line
from toolkit.review.sentences import enumerated, name, names, path, title

_ENDS = (Op.DELETE, Op.REPLACE)
_SHOWN = 6
_OWN = frozenset({"kubernetes.io/pv-protection", "kubernetes.io/pvc-protection", "foregroundDeletion", "orphan"})
"""Finalizers of Kubernetes itself: what they wait for is known."""


@dataclass(frozen=True)
class Blocker:
    """What blocks the deletion of one object."""

    resource: Resource
    by: str
    """A sentence's part that names it."""
    command: str = ""
    """The command that unblocks it; empty where none does."""


def lines(indexed: IndexedReview) -> Iterator[Line]:
    """Yield what blocks deletions, one line for each reason."""
    if indexed.review.drift:
        return
    volumes, claims, spaces = (list(find(indexed)) for find in (_volumes, _claims, _namespaces))
    if volumes:
        why = "a volume is deleted after its claim (pv-protection), and the claim stays"
        yield _line(f"{_timeout_warning(volumes, 'volume')}: {why}", volumes, _volume_first(volumes, indexed))
    if claims:
        why = "a claim is deleted when no pod mounts it any more (pvc-protection), and some do"
        remedy = "to unblock it: remove what mounts the claim first, in an update of its own"
        yield _line(f"{_timeout_warning(claims, 'claim')}: {why}", claims, remedy)
    if spaces:
        text = f"the deletion of {plural(len(spaces), 'namespace')} waits until finalizers in it are removed"
        yield _line(
            text, spaces, "their owners have to run until then: remove an operator that set them in a later update"
        )


def _timeout_warning(blockers: list[Blocker], noun: str) -> str:
    return (
        f"the update will hang on {plural(len(blockers), noun)} until its timeout and leave what it deletes Terminating"
    )


def _line(text: str, blockers: list[Blocker], remedy: str) -> Line:
    details = (f"{title(blocker.resource)} is blocked by {blocker.by}" for blocker in blockers)
    return Line(text, (*details, remedy), alarm=True)


def _volume_first(blockers: list[Blocker], indexed: IndexedReview) -> str:
    commands = enumerated([name(blocker.command) for blocker in blockers], 2)
    return (
        "to unblock it: remove claim and volume in one update, and declare them again in the next; or, once no pod "
        f"mounts the claim, {commands}, and {name(f'./hpc up --stack {indexed.review.stack}')} again"
    )


def _ending(indexed: IndexedReview, kind: Kind) -> list[Resource]:
    ends = (change.before for change in indexed.changed(kind) if change.op in _ENDS)
    return [resource for resource in ends if resource and not resource.retain_on_delete]


def _volumes(indexed: IndexedReview) -> Iterator[Blocker]:
    ends = _ending(indexed, PERSISTENT_VOLUME)
    if not ends:
        return
    deleted_namespaces = {resource.object_name for resource in _ending(indexed, NAMESPACE)}
    deleted_claims = {path(resource) for resource in _ending(indexed, PERSISTENT_VOLUME_CLAIM)}
    claims: dict[str, list[str]] = defaultdict(list)
    pending = set()
    for claim in indexed.before.of(PERSISTENT_VOLUME_CLAIM):
        bound = read(claim.inputs, "spec", "volumeName")
        if isinstance(bound, str):
            claims[bound].append(path(claim))
        if read(claim.live, "status", "phase") not in (None, "Bound"):
            pending.add(path(claim))
    for volume in ends:
        for claim_path in claims[volume.object_name] or _referenced_claims(volume, indexed):
            space, _, short = claim_path.partition("/")
            if claim_path not in deleted_claims and claim_path not in pending and space not in deleted_namespaces:
                yield Blocker(volume, f"claim {name(claim_path)}", f"kubectl delete pvc {short} -n {space}")
                break


def _referenced_claims(volume: Resource, indexed: IndexedReview) -> Iterator[str]:
    """Yield the claim that a volume names, where it is one of the stack's or the cluster reports it as bound."""
    space, short = (read(volume.inputs, "spec", "claimRef", key) for key in ("namespace", "name"))
    if isinstance(space, str) and isinstance(short, str):
        declared = {path(claim) for claim in indexed.before.of(PERSISTENT_VOLUME_CLAIM)}
        if f"{space}/{short}" in declared or read(volume.live, "status", "phase") == "Bound":
            yield f"{space}/{short}"


def _claims(indexed: IndexedReview) -> Iterator[Blocker]:
    ends = _ending(indexed, PERSISTENT_VOLUME_CLAIM)
    if not ends:
        return
    deleted_namespaces = {resource.object_name for resource in _ending(indexed, NAMESPACE)}
    mounts: dict[tuple[str, str], list[str]] = defaultdict(list)
    for change in indexed.review.changes:
        # What is created has no pods yet, and what is deleted or replaced ends its own.
        resource = change.after or change.before
        if change.op in (*_ENDS, Op.CREATE) or not change.before or not resource or not resource.is_object:
            continue
        if not resource.is_patch and finished(change.before) is not True:
            for mounted in _mounted(indexed, resource):
                mounts[resource.namespace, mounted].append(title(resource))
    for claim in ends:
        users = mounts.get((claim.namespace, claim.object_name))
        if users and claim.namespace not in deleted_namespaces:
            yield Blocker(claim, f"pods of {enumerated(users, _SHOWN)}")


def _mounted(indexed: IndexedReview, resource: Resource) -> set[str]:
    claims = set()
    for pod in indexed.view(resource).pods:
        for volume in pod.entries("volumes"):
            claim = read(volume, "persistentVolumeClaim", "claimName")
            if isinstance(claim, str):
                claims.add(claim)
    return claims


def _namespaces(indexed: IndexedReview) -> Iterator[Blocker]:
    ends = _ending(indexed, NAMESPACE)
    if not ends:
        return
    inside: dict[str, dict[str, None]] = defaultdict(dict)
    for resource in indexed.before.objects:
        space = resource.object_name if resource.kind == NAMESPACE.kind else resource.namespace
        for finalizer in _finalizers(resource):
            inside[space][finalizer] = None
    for end in ends:
        if finalizers := inside.get(end.object_name):
            yield Blocker(end, f"{'finalizer' if len(finalizers) == 1 else 'finalizers'} {names(finalizers, _SHOWN)}")


def _finalizers(resource: Resource) -> Iterator[str]:
    for side in (resource.live, resource.inputs):
        for finalizer in entries(side, "metadata", "finalizers"):
            if isinstance(finalizer, str) and finalizer not in _OWN:
                yield finalizer
