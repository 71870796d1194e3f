"""What LimitRanges fill into containers at admission."""

from collections.abc import Mapping

from core.apis.kinds import LIMIT_RANGE
from policies.inventory import Inventory
from policies.part import Part

_FIELDS = ("default", "defaultRequest", "max", "min")
"""Fields whose resources every container gets: the API server takes a default from the bounds where there is none."""
_OF_CONTAINERS = "Container"


def filled_in(inventory: Inventory) -> Mapping[str, Mapping[str, str]]:
    """Return the resources that containers of a namespace get without asking, each with the LimitRange's name."""
    found: dict[str, dict[str, str]] = {}
    for limit_range in inventory.of(LIMIT_RANGE):
        resources = found.setdefault(limit_range.namespace, {})
        for entry in limit_range.parts("spec", "limits"):
            if entry.text("type") == _OF_CONTAINERS:
                resources.update(dict.fromkeys(_names(entry), limit_range.name))
    return found


def _names(entry: Part) -> list[str]:
    return [resource for field in _FIELDS for resource in entry.mapping(field)]
