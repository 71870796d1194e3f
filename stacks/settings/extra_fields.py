"""Fields of objects that no other setting has."""

from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from typing import Annotated, Any

import pulumi
from pydantic import AfterValidator

from core.apis import kinds
from stacks.settings import transforms
from stacks.settings.transforms import ObjectName, Transform

_IDENTITY = (("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace"), ("status",))
_VALUES = ("data", "stringData")


def _fields(extra: Mapping[str, dict[str, Any]]) -> Mapping[str, dict[str, Any]]:
    for name, patch in extra.items():
        for path in _IDENTITY:
            if _has(patch, *path):
                raise ValueError(f"{name}: {'.'.join(path)} cannot be an extra field; remove it")
        if name.startswith(f"{kinds.SECRET.kind}/") and any(key in patch for key in _VALUES):
            raise ValueError(f"{name}: settings are not secret; keep its values in the stack's secrets")
    return extra


def _has(patch: Any, *path: str) -> bool:
    return isinstance(patch, Mapping) and path[0] in patch and (len(path) == 1 or _has(patch[path[0]], *path[1:]))


ExtraFields = Annotated[dict[ObjectName, dict[str, Any]], AfterValidator(_fields)]
"""A merge patch by object."""


def merge(extra: Mapping[str, Mapping[str, Any]]) -> None:
    """Merge these fields into what the program declares. Call it before anything is declared."""
    if extra:
        pulumi.runtime.register_resource_transform(transform(extra))


def transform(extra: Mapping[str, Mapping[str, Any]]) -> Transform:
    """Return the transform that merges an object's fields, and leaves all other objects as they are."""

    def merged(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
        patch = extra.get(transforms.name_of(args.type_, args.props))
        return None if patch is None else transforms.result(args, patch)

    return merged


def unused(extra: Mapping[str, Any], declared: Collection[str]) -> Iterator[str]:
    """Yield a sentence for each object that has extra fields and that the stack does not declare."""
    for name in sorted(extra.keys() - {*declared}):
        near = get_close_matches(name, declared, 1)
        remedy = f"did you mean {near[0]}?" if near else "correct the name, or remove it"
        yield f"extra: {name} is no object that the stack declares; {remedy}"
