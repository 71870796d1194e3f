"""What a container asks for."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.apis.quantity import whole
from policies.values import Tree, Unknown, brief, is_mapping


@dataclass(slots=True)  # a frozen one takes three times as long to make, and there is one per quantity
class Request:
    """One resource that a container asks for: `limit` and `request` are None when absent, and may be `Unknown`."""

    resource: str
    limit: Any
    request: Any

    @property
    def values(self) -> tuple[Any, ...]:
        """The quantities that are written down and known."""
        both = (self.limit, self.request)
        return tuple([value for value in both if value is not None and not isinstance(value, Unknown)])

    @property
    def hidden(self) -> bool:
        """Whether one of the quantities is unknown until the update."""
        return isinstance(self.limit, Unknown) or isinstance(self.request, Unknown)

    @property
    def count(self) -> int:
        """The larger of the quantities as a whole number; 0 when there is none."""
        if self.request is None:
            return whole(self.limit) or 0
        return max((whole(value) or 0 for value in self.values), default=0)


def requests(resources: Tree) -> Iterator[Request]:
    """Yield what a container's `resources` ask for, sorted by resource."""
    if resources is None or not is_mapping(resources):
        return
    limits, requested = (_side(resources.get(side)) for side in ("limits", "requests"))
    for resource in sorted({*limits, *requested}, key=_name):
        yield Request(_name(resource), limits.get(resource), requested.get(resource))


def _name(resource: Any) -> str:
    return resource if isinstance(resource, str) else brief(resource)


def _side(value: Tree) -> Mapping[str, Any]:
    if value is None:
        return {}
    return value if is_mapping(value) else {}
