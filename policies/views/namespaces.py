"""What OpenShift allocates to each namespace: user ids, groups and an SELinux level."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from core.apis.kinds import NAMESPACE
from core.apis.names import SCC_MCS, SCC_SUPPLEMENTAL_GROUPS, SCC_UID_RANGE
from policies.manifests.inventory import Inventory
from policies.manifests.values import Unknown
from policies.scc.providers import Block, block

ANNOTATIONS = (SCC_UID_RANGE, SCC_SUPPLEMENTAL_GROUPS, SCC_MCS)
STAND_IN: Mapping[str, str] = {SCC_UID_RANGE: "1000000000/10000", SCC_MCS: "s0:c1,c0"}
"""What a namespace has that OpenShift has not annotated yet; any values do, since no manifest can know them.

Groups need none: where their annotation is absent, the user ids are the groups.
"""
# What a pod may ask for -> the annotation that says whether the namespace has it.
_ALLOCATED = {"runAsUser": SCC_UID_RANGE, "level": SCC_MCS}


@dataclass(frozen=True)
class Allocation:
    """What is known of a namespace: its `annotations` of `ANNOTATIONS`; `hidden` are those unknown until the update."""

    annotations: Mapping[str, str]
    hidden: frozenset[str]

    @property
    def users(self) -> str:
        """Its user ids as written, `1075480000/10000`; empty when OpenShift will choose them."""
        return self.annotations.get(SCC_UID_RANGE, "")

    @property
    def open(self) -> frozenset[str]:
        """The fields of a security context for which the namespace's value is unknown."""
        groups = SCC_SUPPLEMENTAL_GROUPS
        decided = groups if groups in self.annotations or groups in self.hidden else SCC_UID_RANGE
        allocating = {**_ALLOCATED, **dict.fromkeys(("fsGroup", "supplementalGroups"), decided)}
        return frozenset(field for field, annotation in allocating.items() if annotation not in self.annotations)


UNKNOWN = Allocation({}, frozenset())
"""Of a namespace that is not among the objects."""


class Namespaces:
    """The namespaces among the objects; make it with `inventory.once(Namespaces)`."""

    def __init__(self, inventory: Inventory) -> None:
        self._found = {
            namespace.name: allocation(namespace.mapping("metadata", "annotations"))
            for namespace in inventory.of(NAMESPACE)
        }

    def get(self, name: str) -> Allocation | None:
        """Return one, or None when it is not among them."""
        return self._found.get(name)


def allocation(annotations: Mapping[str, object]) -> Allocation:
    """Return what the annotations of a namespace say of what it has."""
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
