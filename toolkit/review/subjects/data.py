"""Protected objects, and those that hold data or credentials: what their end means, and who loses the protection.

Of secrets also that they come or change, and never to what.
"""

from collections.abc import Callable, Mapping

from core.apis import kinds
from core.apis.names import SCALE_CSI_DRIVER
from core.wording import plural
from policies.manifests.values import read
from toolkit.review import deletion_blockers
from toolkit.review.indexed_review import IndexedReview
from toolkit.review.model import CHANGED, Change, Op, Resource
from toolkit.review.section import Line, Section, section
from toolkit.review.sentences import name, names, title
from toolkit.review.stateful_objects import StatefulObjects, reclaim

_ENDS = (Op.DELETE, Op.REPLACE, Op.FORGET)
_SHOWN = 10
_SOME = "(some)"
"""The placeholder of unknown keys, where the whole secret is hidden."""
_TEXTS = ("data", "stringData")


def find(indexed: IndexedReview) -> Section | None:
    """Report what becomes of data."""
    ends = [change for change in indexed.review.changed if change.op in _ENDS and change.resource.is_object]
    holdings = StatefulObjects(indexed) if ends else None
    lines = [
        line
        for change in sorted(ends, key=_rank)
        if holdings and (line := _removal(change, indexed, holdings)) is not None
    ]
    refused = sum(bool(change.before and change.before.protect) for change in ends)
    if refused and not indexed.review.drift:
        what = plural(refused, "protected object")
        lines.insert(
            0,
            Line(f"the engine refuses to delete or replace {what} until the protection is removed", alarm=True),
        )
    if bare := _unprotected("protect", indexed):
        what = f"{plural(len(bare), 'object')} no longer protected from deletion"
        lines.append(Line(f"{what}: {names(bare, _SHOWN)}", alarm=True))
    if released := _unprotected("retain_on_delete", indexed):
        what = "No longer retained on the cluster when removed from the stack"
        lines.append(Line(f"{what}: {names(released, _SHOWN)}", alarm=True))
    lines += deletion_blockers.lines(indexed)
    return section("Data and protected objects", lines, vital=True)


def _unprotected(option: str, indexed: IndexedReview) -> list[str]:
    """Return the names of the resources that had an option of the engine and lose it."""
    both = ((change.before, change.after) for change in indexed.review.changes)
    return [
        after.object_name
        for before, after in both
        if before and after and getattr(before, option) and not getattr(after, option)
    ]


def _rank(change: Change) -> tuple[int, str]:
    ranked, kind = list(_CONSEQUENCES), change.resource.kind
    return ranked.index(kind) if kind in ranked else len(ranked), change.resource.urn


def _removal(change: Change, indexed: IndexedReview, holdings: StatefulObjects) -> Line | None:
    resource = change.before
    if resource is None or not (holdings.of(resource) or resource.protect):
        return None
    text = f"{'protected ' if resource.protect else ''}{title(resource)} is {indexed.participle(change)}"
    if change.replaced_for:
        text += f" (for {names(change.replaced_for, 3)})"
    effects = [] if indexed.review.drift else _consequences(change, resource, holdings)
    alarm = change.op is not Op.FORGET or resource.namespace in holdings.ending
    return Line(f"{text}: {'; '.join(effects)}" if effects else text, alarm=alarm)


def _consequences(change: Change, resource: Resource, holdings: StatefulObjects) -> list[str]:
    kept = change.op is Op.FORGET or resource.retain_on_delete
    if kept and resource.namespace in holdings.ending:
        return ["it is set to stay on the cluster, and is deleted with its namespace nevertheless"]
    if kept:
        return ["it stays on the cluster, and the stack does not know it any more"]
    meaning = _CONSEQUENCES.get(resource.kind)
    return meaning(resource, holdings) if meaning else []


def _namespace(resource: Resource, holdings: StatefulObjects) -> list[str]:
    effects = ["all that is in it is deleted with it, also what the stack did not make"]
    claims = holdings.claims.get(resource.object_name, {})
    if claims:
        shown = "; ".join(f"claim {name(claim)}: {_claim(claims[claim], holdings)}" for claim in sorted(claims)[:3])
        kept = any(claim.retain_on_delete for claim in claims.values())
        besides = ", whatever is set to stay" if kept else ""
        more = f"; and {len(claims) - 3:,} more" if len(claims) > 3 else ""  # noqa: PLR2004 - as many as above
        effects.append(f"{plural(len(claims), 'claim')} with it{besides} ({shown}{more})")
    return effects


def _volume(resource: Resource, _: StatefulObjects) -> list[str]:
    where = read(resource.inputs, "spec", "csi", "driver")
    kept = "the files stay on Spectrum Scale" if where == SCALE_CSI_DRIVER else "what it points to stays"
    if reclaim(resource) == "Delete":
        return ["its reclaim policy is Delete: the data is deleted when its claim is released"]
    return [f"its reclaim policy is {name(reclaim(resource))}: {kept}, and no claim finds it any more"]


def _claim(resource: Resource, holdings: StatefulObjects) -> str:
    bound = read(resource.inputs, "spec", "volumeName")
    volume = holdings.volumes.get(bound) if isinstance(bound, str) else None
    by = read(resource.inputs, "spec", "storageClassName")
    owner = volume or (holdings.classes.get(by) if isinstance(by, str) and not bound else None)
    if owner is None:
        return "whether its data is deleted with it depends on the reclaim policy of its volume, which is unknown here"
    if reclaim(owner) == "Delete":
        return f"the data is deleted with it, as {title(owner)} says Delete"
    return f"the data stays, as {title(owner)} says {name(reclaim(owner))}, and is not bound again by itself"


_CONSEQUENCES: Mapping[str, Callable[[Resource, StatefulObjects], list[str]]] = {
    kinds.NAMESPACE.kind: _namespace,
    kinds.PERSISTENT_VOLUME_CLAIM.kind: lambda claim, holdings: [_claim(claim, holdings)],
    kinds.PERSISTENT_VOLUME.kind: _volume,
    kinds.STORAGE_CLASS.kind: lambda *_: [
        "volumes that it provisioned stay; their own reclaim policies decide about the data"
    ],
    kinds.SCALE_CLUSTER.kind: lambda *_: [
        "no node has a client any more: every file system is unmounted, and jobs fail"
    ],
    kinds.SCALE_FILE_SYSTEM.kind: lambda *_: [
        "every node unmounts it, and jobs with its volumes fail; the data stays on the storage cluster"
    ],
    kinds.SECRET.kind: lambda *_: ["whatever uses the credentials fails when they are gone"],
}


def find_secrets(indexed: IndexedReview) -> Section | None:
    """Report which secrets change."""
    lines = [_secret(change, indexed) for change in indexed.changed(kinds.SECRET)]
    return section("Secrets", lines)


def _secret(change: Change, indexed: IndexedReview) -> Line:
    text = f"{title(change.resource)} is {indexed.participle(change)}"
    if change.before is None or change.after is None or change.op is Op.ADOPT:
        keys = names(sorted(_content(change.resource)))
        return Line(f"{text}, with {keys}" if keys else text)
    before, after = _content(change.before), _content(change.after)
    differences = []
    for words, changed in (
        ("new", after.keys() - before.keys()),
        ("gone", before.keys() - after.keys()),
        ("another value", {key for key in before.keys() & after.keys() if before[key] != after[key]}),
    ):
        if changed:
            differences.append(f"{words}: {names(sorted(changed))}")
    return Line(f"{text} ({'; '.join(differences)})" if differences else text)


def _content(resource: Resource) -> dict[str, bool | str]:
    """Return the keys of a secret; of their values only what distinguishes them."""
    digests: dict[str, bool | str] = {}
    for field in _TEXTS:
        values = resource.inputs.get(field)
        if isinstance(values, Mapping):
            digests.update((str(key), value if isinstance(value, str) else str(value)) for key, value in values.items())
        elif values == CHANGED:
            digests[_SOME] = CHANGED
    return digests
