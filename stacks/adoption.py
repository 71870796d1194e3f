"""Objects that existed before the stack: declared so that the engine never deletes them.

The engine's own option for it, retain_on_delete, is set in one place, on what the program registers, so it holds for
`./hpc down`, plain `pulumi destroy`, an object that leaves the settings, and a replacement.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Annotated, Any

import pulumi
from google.protobuf import struct_pb2
from pydantic import AfterValidator

from apis import kinds

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


AdoptedObject = Annotated[str, AfterValidator(_well_formed)]
"""`Kind/namespace/name`, or `Kind/name`."""


def keep(adopted: Collection[str]) -> None:
    """Make the engine never delete these objects.

    Their namespaces and the definitions of their kinds are retained, too. Call it before
    anything is declared. It is a transform of the engine, not of the SDK, because a namespace is known to the program
    only as another object's output.
    """
    if adopted:
        pulumi.runtime.register_resource_transform(transform(adopted))


def transform(adopted: Collection[str]) -> Transform:
    """Return the transform that sets retain_on_delete on the adopted objects and leaves all others as they are."""

    def kept(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
        if not is_kept(adopted, args.type_, args.props):
            return None
        args.opts.retain_on_delete = True
        args.opts.replacement_trigger = _returned(args.opts.replacement_trigger)
        return pulumi.ResourceTransformResult(props=args.props, opts=args.opts)

    return kept


def _returned(trigger: Any) -> Any:
    """Return a replacement trigger, e.g. a job's run number, in a form that the SDK takes back from a transform.

    It gives one as a message of its wire, and cannot write that (3.250: `Message must be initialized with a dict`); a
    dict of the message's fields it can.
    """
    if not isinstance(trigger, struct_pb2.Value):
        return trigger
    field = trigger.WhichOneof("kind")
    return {field: getattr(trigger, field)} if field else None


def is_kept(adopted: Collection[str], token: str, inputs: Mapping[str, Any]) -> bool:
    """Whether an object of this type and these inputs must outlive the stack."""
    package, _, rest = token.partition(":")
    kind = rest.rpartition(":")[2]
    metadata = inputs.get("metadata")
    if package != "kubernetes" or kind.endswith(_PATCH) or not isinstance(metadata, Mapping):
        return False
    namespace, name = str(metadata.get("namespace") or ""), str(metadata.get("name") or "")
    return named(kind, namespace, name) in adopted or _carries(adopted, kind, name, inputs)


def _carries(adopted: Collection[str], kind: str, name: str, inputs: Mapping[str, Any]) -> bool:
    """Whether deleting this object would delete adopted ones."""
    if kind == kinds.NAMESPACE.kind:
        return any(each.split("/")[1] == name for each in adopted if each.count("/") == 2)  # noqa: PLR2004
    if kind == kinds.CUSTOM_RESOURCE_DEFINITION.kind:
        spec = inputs.get("spec")
        names = spec.get("names") if isinstance(spec, Mapping) else None
        defined = names.get("kind") if isinstance(names, Mapping) else None
        return any(each.split("/")[0] == defined for each in adopted)
    return False
