"""Changes of what the program registers, by the object's name in the settings.

They are transforms of the engine, not of the SDK, because a namespace is known to the program only as another object's
output.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from difflib import get_close_matches
from typing import Annotated, Any

import pulumi
from google.protobuf import struct_pb2
from pydantic import AfterValidator

from core.apis import fields, kinds

_PATCH = "Patch"
Transform = Callable[[pulumi.ResourceTransformArgs], pulumi.ResourceTransformResult | None]


def named(kind: str, namespace: str, name: str) -> str:
    """Return an object's name in the settings: `Role/adas/mpi`; without a namespace `Namespace/adas`."""
    return "/".join(part for part in (kind, namespace, name) if part)


def _well_formed(text: str) -> str:
    parts = text.split("/")
    if len(parts) not in (2, 3) or not all(parts) or not parts[0][0].isupper() or any(map(str.isspace, text)):
        raise ValueError(
            f"{text!r} names no object; write Kind/namespace/name, or Kind/name for one without a namespace"
        )
    return text


ObjectName = Annotated[str, AfterValidator(_well_formed)]
"""`Kind/namespace/name`, or `Kind/name`."""


def name_of(token: str, inputs: Mapping[str, Any]) -> str:
    """Return the name of an object of this type and these inputs; empty for a patch, and for what is no object."""
    package, _, rest = token.partition(":")
    kind = rest.rpartition(":")[2]
    metadata = inputs.get("metadata")
    if package != "kubernetes" or kind.endswith(_PATCH) or not isinstance(metadata, Mapping):
        return ""
    return named(kind, str(metadata.get("namespace") or ""), str(metadata.get("name") or ""))


def result(args: pulumi.ResourceTransformArgs, patch: Mapping[str, Any]) -> pulumi.ResourceTransformResult:
    """Return a resource with its options and with `patch` over its inputs."""
    args.opts.replacement_trigger = _returnable_trigger(args.opts.replacement_trigger)
    props = {key: _patched(value, patch[key]) if key in patch else value for key, value in args.props.items()}
    props |= {key: fields.merged(None, part) for key, part in patch.items() if key not in props}
    return pulumi.ResourceTransformResult(props=props, opts=args.opts)


def _patched(value: Any, patch: Any) -> Any:
    """Return a value with a patch over it; a value that is known later, or secret, gets it then."""
    if isinstance(value, pulumi.Output):
        return value.apply(lambda later: fields.merged(later, patch))
    if not isinstance(value, Mapping) or not isinstance(patch, Mapping):
        return fields.merged(value, patch)
    later = {key: value[key] for key in patch if isinstance(value.get(key), pulumi.Output) and patch[key] is not None}
    rest = {key: part for key, part in patch.items() if key not in later}
    return {**fields.merged(value, rest), **{key: _patched(item, patch[key]) for key, item in later.items()}}


def _returnable_trigger(trigger: Any) -> Any:
    """Return a replacement trigger, e.g. a job's run number, in a form that the SDK takes back from a transform.

    It gives one as a message of its wire, and cannot write that (3.272: `Message must be initialized with a dict`); a
    dict of the message's fields it can.
    """
    if not isinstance(trigger, struct_pb2.Value):
        return trigger
    field = trigger.WhichOneof("kind")
    return {field: getattr(trigger, field)} if field else None


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
        pulumi.runtime.register_resource_transform(extra_transform(extra))


def extra_transform(extra: Mapping[str, Mapping[str, Any]]) -> Transform:
    """Return the transform that merges an object's fields, and leaves all other objects as they are."""

    def merged(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
        patch = extra.get(name_of(args.type_, args.props))
        return None if patch is None else result(args, patch)

    return merged


def unused(extra: Mapping[str, Any], declared: Collection[str]) -> Iterator[str]:
    """Yield a sentence for each object that has extra fields and that the stack does not declare."""
    for name in sorted(extra.keys() - {*declared}):
        near = get_close_matches(name, declared, 1)
        remedy = f"did you mean {near[0]}?" if near else "correct the name, or remove it"
        yield f"extra: {name} is no object that the stack declares; {remedy}"
