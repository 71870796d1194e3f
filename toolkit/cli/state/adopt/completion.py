"""Complete the state of imported objects: as the program would have recorded them.

`pulumi import` records an object with its name alone, or with everything that the server has filled in, as the provider
knows its kind or not. The next update would find no inputs to compare with or defaults to remove, replace jobs because
they have no run number, and change every component that has no arguments. And until then only the mark `protect`, which
that update removes, would keep a plain `pulumi destroy` from deleting them.
"""

import copy
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from core.apis import merge_patch
from core.pulumi_values import SIGNATURE
from toolkit.cli.state.adopt.candidates import Candidate
from toolkit.engine.prediction.inputs import INPUTS
from toolkit.engine.prediction.values import with_underscores

_SECRET = "Secret"  # noqa: S105 - a kind; its data is encrypted, and stays as the engine wrote it
_DATA = ("apiVersion", "kind", "metadata", "data", "stringData")


def completed(
    exported: Mapping[str, Any], adopted: Iterable[Candidate], components: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Return an exported state in which these objects are the program's, and never deleted.

    `components` are arguments by URN, for those that were imported without. `exported` is not changed, and what is
    complete already stays as it is.
    """
    document = copy.deepcopy(dict(exported))
    by_urn = {candidate.declared.urn: candidate for candidate in adopted}
    for resource in (document.get("deployment") or {}).get("resources") or ():
        if (candidate := by_urn.get(resource["urn"])) is not None:
            _complete(resource, candidate)
        elif resource["urn"] in components and not resource.get("inputs"):
            resource["inputs"] = dict(components[resource["urn"]])
            resource["protect"] = False  # what the import set
    return document


def _complete(resource: dict[str, Any], candidate: Candidate) -> None:
    item = candidate.declared.item
    if resource.get("retainOnDelete"):
        return
    resource["retainOnDelete"] = True
    resource["protect"] = item.protect
    if item.replacement_trigger is not None:
        resource["replacementTrigger"] = item.replacement_trigger
    if not _is_imported(resource):
        return
    outputs = merge_patch.merged(resource.get("outputs") or {}, candidate.hints)
    if candidate.declared.kind == _SECRET:
        declared = {*_DATA, *item.inputs}
        resource["inputs"] = _only(resource.get("inputs"), declared)
        resource["outputs"] = {**outputs, INPUTS: _only(outputs.get(INPUTS), declared)}
        return
    resource["inputs"] = with_underscores(candidate.written)
    resource["outputs"] = {**outputs, INPUTS: with_underscores(candidate.written)}


def _only(inputs: Any, declared: Collection[str]) -> Any:
    """Return inputs without fields that the server has filled in: without its default `type` a Secret is replaced."""
    if not isinstance(inputs, Mapping) or SIGNATURE in inputs:
        return inputs  # encrypted as a whole
    return {key: value for key, value in inputs.items() if key in declared}


def _is_imported(resource: Mapping[str, Any]) -> bool:
    """Whether no program has registered a resource yet: for each of its properties that says what it depends on."""
    return not resource.get("propertyDependencies")
