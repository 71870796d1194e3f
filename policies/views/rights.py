"""Rights by which an account gives itself others, or passes by quotas, queues and the scheduler.

Reads plain trees; nothing here raises. Source: kubernetes.io/docs/concepts/security/rbac-good-practices.
"""

from collections.abc import Iterator
from typing import Any

from policies.rbac import EVERY
from policies.values import Tree, read

_CHANGE = frozenset({EVERY, "create", "update", "patch", "delete", "deletecollection"})
_RBAC = "rbac.authorization.k8s.io"
# verb -> groups and resources on which it gives rights that its holder has not.
_VERBS = {
    "escalate": {(_RBAC, "roles"), (_RBAC, "clusterroles")},
    "bind": {(_RBAC, "roles"), (_RBAC, "clusterroles")},
    "impersonate": {("", "users"), ("", "groups"), ("", "serviceaccounts")},
}
# What it means to change each of these.
_CHANGED = {
    ("", "resourcequotas"): "its quota",
    ("", "limitranges"): "its limits",
    ("", "bindings"): "the node of a pod",
    ("", "pods/binding"): "the node of a pod",
    ("", "nodes/proxy"): "what the kubelet runs",
    ("", "nodes"): "the taints and labels of nodes",
    ("", "persistentvolumes"): "which folders of nodes are volumes",
    ("", "serviceaccounts/token"): "which account it is",
    ("certificates.k8s.io", "certificatesigningrequests/approval"): "which user it is",
    ("", "nodes/status"): "what a node offers",
    ("", "namespaces"): "the labels of a namespace",
    ("security.openshift.io", "securitycontextconstraints"): "SCCs",
    ("kueue.x-k8s.io", "clusterqueues"): "quotas of queues",
    ("kueue.x-k8s.io", "localqueues"): "which quota a queue has",
    ("kueue.x-k8s.io", "workloads"): "which jobs are admitted",
    ("resource.k8s.io", "deviceclasses"): "which devices can be claimed",
    ("admissionregistration.k8s.io", "mutatingwebhookconfigurations"): "what admission checks",
    ("admissionregistration.k8s.io", "mutatingadmissionpolicies"): "what admission checks",
    ("admissionregistration.k8s.io", "validatingwebhookconfigurations"): "what admission checks",
    ("nvidia.com", "clusterpolicies"): "how GPUs are given",
    ("mellanox.com", "nicclusterpolicies"): "how RDMA devices are given",
}
_MOST = 200
SHIPPED = {
    "cluster-admin": "do everything",
    "sudoer": "impersonate",
    "system:kube-scheduler": "bind pods to nodes",
    "system:kube-controller-manager": "act as other accounts",
    "system:node": "act as a node",
    "system:master": "do everything",
}
"""Roles that every OpenShift has, and what they let one do."""


def excessive(role: Tree) -> Iterator[tuple[int, str]]:
    """Yield the rules of a role that give too much: the index of each, and what it lets one do."""
    rules = read(role, "rules")
    for index, rule in enumerate(rules[:_MOST] if isinstance(rules, list) else ()):
        verbs, groups, resources = (_texts(rule, field) for field in ("verbs", "apiGroups", "resources"))
        if EVERY in verbs and EVERY in groups and EVERY in resources:
            yield index, "do everything"
            continue
        found = [verb for verb, places in _VERBS.items() if {verb, EVERY} & verbs and _on(places, groups, resources)]
        found += [
            f"change {meaning}"
            for place, meaning in _CHANGED.items()
            if verbs & _CHANGE and _on({place}, groups, resources)
        ]
        if found:
            yield index, ", ".join(dict.fromkeys(found))


def _on(places: set[tuple[str, str]], groups: frozenset[str], resources: frozenset[str]) -> bool:
    return any({group, EVERY} & groups and {resource, EVERY} & resources for group, resource in places)


def _texts(rule: Any, field: str) -> frozenset[str]:
    values = read(rule, field)
    return frozenset(value for value in values if isinstance(value, str)) if isinstance(values, list) else frozenset()
