"""The ClusterRoles that OpenShift ships, as far as SCCs go: what a binding grants whose role is in no file.

Source: openshift/cluster-kube-apiserver-operator, bindata/bootkube/scc-manifests (the roles of the SCCs, which release
4.4 did not have), and kubernetes.io/docs/reference/access-authn-authz/rbac (the roles for users).
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from core.apis.kinds import CLUSTER_ROLE, SECURITY_CONTEXT_CONSTRAINTS
from policies.scc.shipped_sccs import USABLE_BY_ALL, Release

OWN_ROLE = "system:openshift:scc:"
"""Prefix of the role for one SCC. `oc adm policy add-scc-to-user` makes it for any other SCC too."""
_SYSTEM = "system:"
_EVERYTHING = "cluster-admin"
_AGGREGATE = "rbac.authorization.k8s.io/aggregate-to-"
# admin takes in edit, and edit view; none of them may use an SCC of itself.
_AGGREGATING: Mapping[str, tuple[str, ...]] = {
    "admin": ("admin", "edit", "view"),
    "edit": ("edit", "view"),
    "view": ("view",),
    "cluster-reader": ("cluster-reader",),
}
_OTHERS = frozenset(
    {
        *("basic-user", "cluster-debugger", "cluster-monitoring-view", "cluster-status", "self-access-reviewer"),
        *("self-provisioner", "storage-admin", "sudoer", "registry-admin", "registry-editor", "registry-viewer"),
        *("monitoring-edit", "monitoring-rules-edit", "monitoring-rules-view"),
    }
)


def ships(name: str) -> bool:
    """Return whether every OpenShift has a ClusterRole of this name."""
    return name.startswith(_SYSTEM) or name == _EVERYTHING or name in _AGGREGATING or name in _OTHERS


@cache
def shipped_roles(release: Release) -> Callable[[str], Mapping[str, Any] | None]:
    """Return what returns the ClusterRole of a name that OpenShift `release` ships, None when it ships none."""
    with_own = bool(USABLE_BY_ALL[release])
    return lambda name: _role(name, with_own) if ships(name) else None


def own_role(name: str) -> Mapping[str, Any] | None:
    """Return the ClusterRole for one SCC, None for any other name."""
    return _role(name, True) if name.startswith(OWN_ROLE) else None


def _role(name: str, with_own: bool) -> Mapping[str, Any]:
    """Return a role with the rules that are about SCCs."""
    rules: list[dict[str, Any]] = []
    if name == _EVERYTHING:
        rules = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]
    elif name.startswith(OWN_ROLE) and with_own:
        kind = SECURITY_CONTEXT_CONSTRAINTS
        names = [name.removeprefix(OWN_ROLE)]
        rules = [{"apiGroups": [kind.group], "resources": [kind.plural], "verbs": ["use"], "resourceNames": names}]
    selectors = [{"matchLabels": {f"{_AGGREGATE}{level}": "true"}} for level in _AGGREGATING.get(name, ())]
    return {
        "apiVersion": CLUSTER_ROLE.api_version,
        "kind": CLUSTER_ROLE.kind,
        "metadata": {"name": name},
        "rules": rules,
        "aggregationRule": {"clusterRoleSelectors": selectors},
    }
