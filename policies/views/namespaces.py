"""What OpenShift allocates to each namespace: user ids, groups and an SELinux level."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from apis.kinds import NAMESPACE
from apis.names import SCC_MCS, SCC_SUPPLEMENTAL_GROUPS, SCC_UID_RANGE
from policies.scc.blocks import Block, block
from policies.values import Unknown
from policies.world import World

ANNOTATIONS = (SCC_UID_RANGE, SCC_SUPPLEMENTAL_GROUPS, SCC_MCS)


@dataclass(frozen=True)
class Allocation:
    """What is known of a namespace: `annotations` that it has of `ANNOTATIONS`, `hidden` those not known yet."""

    annotations: Mapping[str, str]
    hidden: frozenset[str]

    @property
    def users(self) -> str:
        """Its user ids as written, `1075480000/10000`; empty when OpenShift will choose them."""
        return self.annotations.get(SCC_UID_RANGE, "")


class Namespaces:
    """The namespaces among the objects; make it with `world.once(Namespaces)`."""

    def __init__(self, world: World) -> None:
        self._found = {each.name: _allocation(each.mapping("metadata", "annotations")) for each in world.of(NAMESPACE)}

    def get(self, name: str) -> Allocation | None:
        """Return one, or None when it is not among them."""
        return self._found.get(name)


def _allocation(annotations: Mapping[str, object]) -> Allocation:
    values = {key: annotations.get(key) for key in ANNOTATIONS}
    return Allocation(
        annotations={key: value for key, value in values.items() if value and isinstance(value, str)},
        hidden=frozenset(key for key, value in values.items() if isinstance(value, Unknown)),
    )


@lru_cache(maxsize=1024)
def ids(written: str) -> Block | None:
    """Return a block of ids, None when it cannot be read."""
    try:
        return block(written)
    except ValueError:
        return None
