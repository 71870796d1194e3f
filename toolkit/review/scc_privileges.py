"""What SecurityContextConstraints let pods have beyond what everybody's pods have, in words."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from core.apis.names import IPC_LOCK, NET_BIND_SERVICE
from policies.manifests.objects import Obj
from policies.views.constraints import ALL_CAPABILITIES, ALLOWED, DEFAULT_ADD, capabilities

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
    view = Obj(scc)
    privileges = {words for field, words in _FLAGS.items() if view.read(field) is True}
    for field in (ALLOWED, DEFAULT_ADD):
        for capability in capabilities(view, field):
            if capability != NET_BIND_SERVICE:
                privileges.add("every capability" if capability == ALL_CAPABILITIES else capability)
    if view.text("runAsUser", "type") == "RunAsAny":
        privileges.add("any user id, root too")
    if view.text("seLinuxContext", "type") == "RunAsAny":
        privileges.add("any SELinux label")
    return frozenset(privileges)


@lru_cache(maxsize=256)
def ranked(privileges: frozenset[str]) -> tuple[str, ...]:
    """Return powers in a fixed order, the worst first."""
    first = tuple(_FLAGS.values())
    order = sorted(
        privileges,
        key=lambda privilege: (privilege in ORDINARY, privilege not in first, privilege != first[0], privilege),
    )
    return tuple(f"{privilege} (all of the node)" if privilege == first[0] else privilege for privilege in order)
