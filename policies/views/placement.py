"""The right place of a field that the API does not know at its own."""

from collections.abc import Iterator

from core.apis.fields import Type
from policies.manifests.values import brief, show
from policies.views.fields import Above, Misfit, similar_field, unprintable

_LONGEST = 64
_DEPTH = 2
_METADATA = "metadata"
_OF_METADATA = frozenset({"name", "namespace", "labels", "annotations"})
# Names that so many levels have that another level says nothing.
_COMMON = _OF_METADATA | {"apiVersion", "key", "kind", "path", "status", "type", "user", "value"}

_KNOWN = {
    ("RoleRef", "namespace"): "a binding refers to a role of its own namespace, or to a ClusterRole",
    **{
        (binding, field): "it is of the former API authorization.openshift.io; here subjects say it"
        for binding in ("RoleBinding", "ClusterRoleBinding")
        for field in ("userNames", "groupNames")
    },
}


def explain(misfit: Misfit) -> str:
    """Return what is wrong with a field, and where it belongs when that is known."""
    name = str(misfit.path[-1])
    if misfit.problem:
        return f"{name if len(name) <= _LONGEST else brief(name)} {misfit.problem}"
    _, type_ = misfit.above[-1]
    shown = f"{brief(name)}{unprintable(name)}" if not name.isascii() or len(name) > _LONGEST else name
    hint = _hint(name, type_, misfit.above) if len(name) <= _LONGEST else ""
    return f"{shown} is not a field of {type_.name}{f'; {hint}' if hint else ''}"


def _hint(name: str, type_: Type, above: Above) -> str:
    if (type_.name, name) in _KNOWN:
        return _KNOWN[type_.name, name]
    if name.partition(":")[0] in type_.fields:
        return "a space is missing after the colon"
    if place := _above(name, above):
        return f"it belongs to {place}"
    if similar := similar_field(name, type_):
        return f"did you mean {similar}?"
    return "a label was meant?" if type_.name == "ObjectMeta" else ""


def _above(name: str, above: Above) -> str:
    """Look below the level where it is, then in the levels above, the nearest first, and below these."""
    for path, type_ in reversed(above):
        if name in _OF_METADATA and _METADATA in type_.fields:
            return show((*path, _METADATA))
        if name in _COMMON:
            continue
        if name in type_.fields:
            return show(path) or "the top of the object"
        below = next(_below(name, type_, _DEPTH), "")
        if below:
            return f"{show(path)}.{below}" if path else below
    return ""


def _below(name: str, type_: Type, depth: int) -> Iterator[str]:
    """Yield the levels below one that know the field, the nearer ones first."""
    inner = [
        (f"{key}[]" if field.many else key, field.type)
        for key, field in type_.fields.items()
        if field.type is not None and key != _METADATA
    ]
    yield from (key for key, below in inner if name in below.fields)
    if depth > 1:
        yield from (f"{key}.{place}" for key, below in inner for place in _below(name, below, depth - 1))
