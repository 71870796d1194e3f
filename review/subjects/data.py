"""Protected objects, and those that hold data or credentials: what their end means, and who loses the protection."""

from collections.abc import Callable, Mapping

from apis.kinds import NAMESPACE, PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM, SECRET, STORAGE_CLASS
from apis.names import SCALE_CSI_DRIVER
from policies.values import read
from review import holds
from review.holding import Holdings, reclaim
from review.model import Change, Op, Resource
from review.section import Line, Section, section
from review.titles import title
from review.words import count, name, names
from review.worlds import Worlds

_ENDS = (Op.DELETE, Op.REPLACE, Op.FORGET)
_SHOWN = 10


def find(worlds: Worlds) -> Section | None:
    """Say what becomes of data."""
    ends = [change for change in worlds.review.changed if change.op in _ENDS and change.resource.is_object]
    holdings = Holdings(worlds) if ends else None
    lines = [
        line for change in sorted(ends, key=_rank) if holdings and (line := _end(change, worlds, holdings)) is not None
    ]
    refused = sum(bool(change.before and change.before.protect) for change in ends)
    if refused and not worlds.review.drift:
        what = count(refused, "protected object")
        lines.insert(
            0,
            Line(
                f"the engine refuses to delete or replace {what} until somebody takes the protection away", alarm=True
            ),
        )
    bare = [
        change.after
        for change in worlds.review.changes
        if change.before and change.after and change.before.protect and not change.after.protect
    ]
    if bare:
        shown = names((resource.object_name for resource in bare), _SHOWN)
        lines.append(Line(f"{count(len(bare), 'object')} no longer protected from deletion: {shown}", alarm=True))
    kept = [
        change.after
        for change in worlds.review.changes
        if change.before and change.after and change.before.retain_on_delete and not change.after.retain_on_delete
    ]
    if kept:
        shown = names((resource.object_name for resource in kept), _SHOWN)
        lines.append(Line(f"No longer kept on the cluster when the stack lets go of it: {shown}", alarm=True))
    lines += holds.lines(worlds)
    return section("Data and protected objects", lines, vital=True)


def _rank(change: Change) -> tuple[int, str]:
    kinds = list(_MEANINGS)
    kind = change.resource.kind
    return kinds.index(kind) if kind in kinds else len(kinds), change.resource.urn


def _end(change: Change, worlds: Worlds, holdings: Holdings) -> Line | None:
    resource = change.before
    if resource is None or not (holdings.of(resource) or resource.protect):
        return None
    text = f"{'protected ' if resource.protect else ''}{title(resource)} is {worlds.done(change)}"
    if change.replaced_for:
        text += f" (for {names(change.replaced_for, 3)})"
    said = [] if worlds.review.drift else _meaning(change, resource, holdings)
    alarm = change.op is not Op.FORGET or resource.namespace in holdings.ending
    return Line(f"{text}: {'; '.join(said)}" if said else text, alarm=alarm)


def _meaning(change: Change, resource: Resource, holdings: Holdings) -> list[str]:
    kept = change.op is Op.FORGET or resource.retain_on_delete
    if kept and resource.namespace in holdings.ending:
        return ["it is set to stay on the cluster, and goes with its namespace all the same"]
    if kept:
        return ["it stays on the cluster, and the stack does not know it any more"]
    meaning = _MEANINGS.get(resource.kind)
    return meaning(resource, holdings) if meaning else []


def _namespace(resource: Resource, holdings: Holdings) -> list[str]:
    said = ["all that is in it is deleted with it, also what the stack did not make"]
    claims = holdings.claims.get(resource.object_name, {})
    if claims:
        told = "; ".join(f"claim {name(each)}: {_claim(claims[each], holdings)}" for each in sorted(claims)[:3])
        kept = any(claim.retain_on_delete for claim in claims.values())
        besides = ", whatever is set to stay" if kept else ""
        more = f"; and {len(claims) - 3:,} more" if len(claims) > 3 else ""  # noqa: PLR2004 - as many as above
        said.append(f"{count(len(claims), 'claim')} with it{besides} ({told}{more})")
    return said


def _volume(resource: Resource, _: Holdings) -> list[str]:
    where = read(resource.inputs, "spec", "csi", "driver")
    kept = "the files stay on Spectrum Scale" if where == SCALE_CSI_DRIVER else "what it points to stays"
    if reclaim(resource) == "Delete":
        return ["its reclaim policy is Delete: the data goes when its claim is released"]
    return [f"its reclaim policy is {name(reclaim(resource))}: {kept}, and no claim finds it any more"]


def _claim(resource: Resource, holdings: Holdings) -> str:
    bound = read(resource.inputs, "spec", "volumeName")
    volume = holdings.volumes.get(bound) if isinstance(bound, str) else None
    by = read(resource.inputs, "spec", "storageClassName")
    owner = volume or (holdings.classes.get(by) if isinstance(by, str) and not bound else None)
    if owner is None:
        return "whether its data goes with it is up to the reclaim policy of its volume, which is not known here"
    if reclaim(owner) == "Delete":
        return f"the data is deleted with it, as {title(owner)} says Delete"
    return f"the data stays, as {title(owner)} says {name(reclaim(owner))}, and is not bound again by itself"


_MEANINGS: Mapping[str, Callable[[Resource, Holdings], list[str]]] = {
    NAMESPACE.kind: _namespace,
    PERSISTENT_VOLUME_CLAIM.kind: lambda claim, holdings: [_claim(claim, holdings)],
    PERSISTENT_VOLUME.kind: _volume,
    STORAGE_CLASS.kind: lambda *_: ["volumes that it made stay, and what becomes of their data they say themselves"],
    SECRET.kind: lambda *_: ["who uses the credentials fails when they are gone"],
}
