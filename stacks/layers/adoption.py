"""Objects that existed before the stack: declared so that the engine never deletes them.

The engine's own option for it, retain_on_delete, is set in one place, on what the program registers, so it holds for
`./hpc destroy`, plain `pulumi destroy`, an object that leaves the settings, and a replacement.
"""

from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

import pulumi

from core.apis import kinds
from core.apis.names import RECOMMENDED
from stacks.settings import transforms
from stacks.settings.transforms import Transform

_ALIKE = 0.9
"""Of names of which one is probably the other, misspelt."""


def keep(adopted: Collection[str]) -> None:
    """Make the engine never delete these objects.

    Their namespaces and the definitions of their kinds are retained, too. Call it before anything is declared.
    """
    if adopted:
        pulumi.runtime.register_resource_transform(transform(adopted))


def misspelt(adopted: Collection[str], declared: Collection[str]) -> Iterator[str]:
    """Yield a sentence for each entry that is probably another object's; one that left the settings may stay."""
    for name in sorted({*adopted} - {*declared}):
        if near := get_close_matches(name, declared, 1, cutoff=_ALIKE):
            yield f"adopted: {name} is no object that the stack declares; did you mean {near[0]}?"


def transform(adopted: Collection[str]) -> Transform:
    """Return the transform that sets retain_on_delete on the adopted objects and leaves all others as they are.

    An adopted object does not get the stack's own labels, which say who created it; a job does, as it is found by them.
    """

    def kept(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
        if not is_kept(adopted, args.type_, args.props):
            return None
        args.opts.retain_on_delete = True
        kind = args.type_.rpartition(":")[2]
        is_adopted = transforms.name_of(args.type_, args.props) in adopted and kind not in kinds.JOBS
        return transforms.result(args, without_labels(args.props) if is_adopted else {})

    return kept


def without_labels(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the patch that takes the stack's labels from an object; with none left, it declares none."""
    labels = inputs["metadata"].get("labels")
    if not isinstance(labels, Mapping):
        return {}
    rest = labels.keys() - {*RECOMMENDED}
    return {"metadata": {"labels": {key: None for key in RECOMMENDED if key in labels} if rest else None}}


def is_kept(adopted: Collection[str], token: str, inputs: Mapping[str, Any]) -> bool:
    """Whether an object of this type and these inputs must outlive the stack."""
    name = transforms.name_of(token, inputs)
    kind, _, rest = name.partition("/")
    return bool(name) and (name in adopted or _contains_adopted(adopted, kind, rest, inputs))


def _contains_adopted(adopted: Collection[str], kind: str, name: str, inputs: Mapping[str, Any]) -> bool:
    """Whether deleting this object would delete adopted ones."""
    if kind == kinds.NAMESPACE.kind:
        return any(reference.split("/")[1] == name for reference in adopted if reference.count("/") == 2)  # noqa: PLR2004
    if kind == kinds.CUSTOM_RESOURCE_DEFINITION.kind:
        spec = inputs.get("spec")
        names = spec.get("names") if isinstance(spec, Mapping) else None
        defined = names.get("kind") if isinstance(names, Mapping) else None
        return any(reference.split("/")[0] == defined for reference in adopted)
    return False
