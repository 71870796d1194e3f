"""Taints of nodes that are not for tenants, and which tolerations reach them."""

from collections.abc import Iterable
from fnmatch import fnmatchcase

TAINTS = (
    *("node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/infra"),
    *("node.kubernetes.io/unschedulable", "node.cloudprovider.kubernetes.io/*"),
)
"""Patterns of the taints of nodes that are not for tenants."""


def reached_taint(key: str, operator: str, effect: str, taints: Iterable[str]) -> str:
    """Return what a toleration reaches that is not for tenants, as the end of a sentence; empty when it is nothing."""
    if not key:
        of_effect = f" of effect {effect[:40]}" if effect else ""
        return f"every taint{of_effect}" if operator == "Exists" else ""
    named = any(fnmatchcase(key, pattern) for pattern in taints)
    return f"the taint {key[:200]} of nodes that are not for tenants" if named else ""
