"""Cluster-policy-controller: gives namespaces a range of user ids, supplemental groups and SELinux categories."""

import re
from collections.abc import Iterable

from core.apis import kinds, names
from toolkit.simulator import pods
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.informer import Informer, Key, Loop, key_of
from toolkit.simulator.actors.runtime import Runtime

FIRST_UID = 1_000_000_000
BLOCK = 10_000
BLOCKS = 100_000
LABELS_PER_NAMESPACE = 5

_RANGE = re.compile(r"^(\d+)/(\d+)$")


def categories(block: int) -> str:
    """Return the SELinux label of a block: the pair of categories at position 5 x block of c1,c0; c2,c0; c2,c1 ..."""
    position = block * LABELS_PER_NAMESPACE
    high = 1
    while high * (high + 1) // 2 <= position:
        high += 1
    return f"s0:c{high},c{position - high * (high - 1) // 2}"


def taken(annotations: Iterable[dict[str, str]]) -> set[int]:
    """Return the blocks that the namespaces' ranges touch, those that a user chose too."""
    blocks: set[int] = set()
    for entry in annotations:
        if match := _RANGE.match(entry.get(names.SCC_UID_RANGE, "")):
            start, size = int(match[1]), int(match[2])
            first, last = (start - FIRST_UID) // BLOCK, (start + max(size, 1) - 1 - FIRST_UID) // BLOCK
            blocks.update(range(max(first, 0), min(last, BLOCKS - 1) + 1))
    return blocks


def missing(annotations: dict[str, str], used: set[int]) -> dict[str, str]:
    """Return the annotations that a namespace lacks; existing ones stay, and a range is allocated once."""
    if names.SCC_UID_RANGE in annotations:
        block_range = annotations[names.SCC_UID_RANGE]
        block = min(taken([annotations]), default=0)
    else:
        block = next(number for number in range(1, BLOCKS) if number not in used)
        block_range = f"{FIRST_UID + block * BLOCK}/{BLOCK}"
    ranges = {
        names.SCC_UID_RANGE: block_range,
        names.SCC_SUPPLEMENTAL_GROUPS: block_range,
        names.SCC_MCS: categories(block),
    }
    return {name: value for name, value in ranges.items() if name not in annotations}


class NamespaceSecurity:
    """Annotates every namespace as it comes, one at a time so that no range is given out twice."""

    def __init__(self, runtime: Runtime) -> None:
        self._api = runtime.identity("namespace-security-allocation")
        self._loop = Loop("namespace security", self._allocate)
        self._allocated: dict[str, dict[str, str]] = {}
        self._namespaces = Informer(self._api, kinds.NAMESPACE, self._changed, listed=self._begin)

    def start(self) -> None:
        """Start."""
        self._namespaces.start()
        self._loop.start()

    def _begin(self) -> None:
        for namespace in self._namespaces.items():
            self._loop.add(key_of(namespace))

    def _changed(self, key: Key, _old: Object | None, namespace: Object | None) -> None:
        if namespace is None:
            self._allocated.pop(key[1], None)
        else:
            self._loop.add(key)

    def _allocate(self, key: Key) -> None:
        if not self._namespaces.synced:
            return  # the first list wakes it
        namespace = self._namespaces.get(key[1])
        if namespace is None or pods.deleting(namespace):
            return
        others = [pods.annotations(other) for other in self._namespaces.items()]
        # What was given a moment ago may not be in the cache yet.
        ranges = missing(pods.annotations(namespace), taken([*others, *self._allocated.values()]))
        if ranges:
            self._allocated[key[1]] = ranges
            self._api.annotate(kinds.NAMESPACE, key[1], dict(ranges))
