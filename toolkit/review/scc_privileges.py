"""What SecurityContextConstraints let pods have beyond what everybody's pods have, in words."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from core.apis.names import IPC_LOCK, NET_BIND_SERVICE
from policies.objects import Obj
from policies.views.constraints import ALL, ALLOWED, DEFAULT_ADD, capabilities

_FLAGS = {
    "allowPrivilegedContainer": "privileged containers",
    "allowHostDirVolumePlugin": "directories of the node",
    "allowHostIPC": "the node's IPC",
    "allowHostNetwork": "the node's network",
    "allowHostPID": "the node's processes",
    "allowHostPorts": "ports of the node",
}
ORDINARY = frozenset({IPC_LOCK})
"""What RDMA needs, and so every job of the platform; all else deserves a second look."""


def powers(scc: Mapping[str, Any]) -> frozenset[str]:
    """Return what an SCC gives: `IPC_LOCK`, `the node's network`, ..."""
    seen = Obj(scc)
    found = {words for field, words in _FLAGS.items() if seen.read(field) is True}
    for field in (ALLOWED, DEFAULT_ADD):
        for capability in capabilities(seen, field):
            if capability != NET_BIND_SERVICE:
                found.add("every capability" if capability == ALL else capability)
    if seen.text("runAsUser", "type") == "RunAsAny":
        found.add("any user id, root too")
    if seen.text("seLinuxContext", "type") == "RunAsAny":
        found.add("any SELinux label")
    return frozenset(found)


@lru_cache(maxsize=256)
def ranked(found: frozenset[str]) -> tuple[str, ...]:
    """Return powers in a fixed order, the worst first."""
    first = tuple(_FLAGS.values())
    order = sorted(found, key=lambda each: (each in ORDINARY, each not in first, each != first[0], each))
    return tuple(f"{each} (all of the node)" if each == first[0] else each for each in order)
