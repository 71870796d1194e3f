"""Names of objects in sentences."""

from toolkit.review.model import Op, Resource
from toolkit.review.sentences import name

_DONE = {
    Op.CREATE: "created",
    Op.UPDATE: "updated",
    Op.REPLACE: "replaced",
    Op.DELETE: "deleted",
    Op.ADOPT: "adopted",
    Op.FORGET: "forgotten",
    Op.SAME: "unchanged",
}
_DRIFTED = {Op.UPDATE: "changed", Op.DELETE: "gone"}
"""The same of what became of an object by itself."""
ORDER = (Op.CREATE, Op.UPDATE, Op.REPLACE, Op.DELETE, Op.ADOPT, Op.FORGET)


def participle(op: Op, *, drift: bool = False) -> str:
    """Return the participle of an operation, or of a change that was made out of band."""
    return _DRIFTED.get(op, _DONE[op]) if drift else _DONE[op]


def short_title(urn: str) -> str:
    """Return type and name of the resource of a URN: `Job mofed-test-job`."""
    *_, types, logical = urn.split("::")
    return f"{types.rpartition('$')[2].rpartition(':')[2]} {logical}"


def path(resource: Resource) -> str:
    """Return `namespace/name`, or the name of what has no namespace."""
    return f"{resource.namespace}/{resource.object_name}" if resource.namespace else resource.object_name


def title(resource: Resource) -> str:
    """Return kind and name: MPIJob `adas/nccl-test`."""
    if resource.is_object:
        patch = "patch of " if resource.is_patch else ""
        return f"{patch}{name(resource.kind)} {name(path(resource))}"
    return f"{name(resource.kind)} {name(resource.name)}"
