"""What `pulumi import` leaves open: the state of an imported object as the program would have left it.

The engine brings an object in with no more than it is. The next update would miss the inputs to compare with, make
jobs anew because they have no run number, and change every component that has no arguments. And until then a plain
`pulumi destroy` would be held back by nothing but the mark `protect`, which that update takes away.
"""

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from cli.adopting.candidates import Candidate
from simulator.plugins.provider.state import INPUTS, only_identity
from simulator.plugins.provider.values import with_underscores

_SECRET = "Secret"  # noqa: S105 - a kind; its inputs are encrypted, and stay as the engine wrote them


def completed(
    exported: Mapping[str, Any], adopted: Iterable[Candidate], components: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Return an exported state in which these objects are the program's, and never deleted.

    `components` are arguments by URN, for those that were imported without. `exported` is not changed, and what is
    complete already stays as it is.
    """
    document = copy.deepcopy(dict(exported))
    by_urn = {each.declared.urn: each for each in adopted}
    for resource in (document.get("deployment") or {}).get("resources") or ():
        if (candidate := by_urn.get(resource["urn"])) is not None:
            _complete(resource, candidate)
        elif resource["urn"] in components and not resource.get("inputs"):
            resource["inputs"] = dict(components[resource["urn"]])
    return document


def _complete(resource: dict[str, Any], candidate: Candidate) -> None:
    item = candidate.declared.item
    if resource.get("retainOnDelete"):
        return
    resource["retainOnDelete"] = True
    resource["protect"] = item.protect
    if item.replacement_trigger is not None:
        resource["replacementTrigger"] = item.replacement_trigger
    outputs = resource.get("outputs") or {}
    if candidate.declared.kind != _SECRET and only_identity(outputs.get(INPUTS) or {}):
        resource["inputs"] = with_underscores(candidate.written)
        outputs[INPUTS] = with_underscores(candidate.written)
