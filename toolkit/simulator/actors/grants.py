"""Accounts and rights that operators and OLM make, as manifests."""

from collections.abc import Sequence
from typing import Any

from core.apis import kinds
from core.apis.kinds import Kind
from toolkit.simulator.access import rbac
from toolkit.simulator.access.rbac import READ, Rule
from toolkit.simulator.actors.api import Object
from toolkit.simulator.manifests import manifest

Grant = list[tuple[Kind, Object]]


def cluster_wide(name: str, namespace: str, account: str, rules: tuple[Rule, ...]) -> Grant:
    """Return a service account's ClusterRole and its binding, both called `name`."""
    subject = rbac.account_subject(namespace, account)
    return [
        (kinds.CLUSTER_ROLE, rbac.cluster_role(name, rules)),
        (kinds.CLUSTER_ROLE_BINDING, rbac.cluster_role_binding(name, subject)),
    ]


def account(namespace: str, name: str, rules: tuple[Rule, ...]) -> Grant:
    """Return a service account with a Role and a binding of the same name in its namespace."""
    return [service_account(namespace, name), *_role(namespace, name, rules, rbac.account_subject(namespace, name))]


def prometheus(namespace: str, name: str) -> Grant:
    """Return the Role by which the cluster's Prometheus finds exporters in a namespace, and its binding."""
    rules = (Rule(("",), ("services", "endpoints", "pods"), READ),)
    subject = rbac.account_subject(str(rbac.PROMETHEUS.namespace), rbac.PROMETHEUS.account)
    return _role(namespace, name, rules, subject)


def _role(namespace: str, name: str, rules: Sequence[Rule], subject: Object) -> Grant:
    reference = {"apiGroup": kinds.ROLE.group, "kind": kinds.ROLE.kind, "name": name}
    return [
        (kinds.ROLE, manifest(kinds.ROLE, name, namespace, rules=[rule.manifest() for rule in rules])),
        (kinds.ROLE_BINDING, manifest(kinds.ROLE_BINDING, name, namespace, roleRef=reference, subjects=[subject])),
    ]


def scc(name: str, namespace: str, accounts: Sequence[str], **fields: Any) -> tuple[Kind, Object]:
    """Return an SCC of privileged pods on the host's network that names its users itself, so that no role is needed."""
    usual: Object = {
        "allowHostDirVolumePlugin": True,
        "allowHostIPC": False,
        "allowHostNetwork": True,
        "allowHostPID": False,
        "allowPrivilegeEscalation": True,
        "allowPrivilegedContainer": True,
        "defaultAddCapabilities": [],
        "priority": None,  # a required key
        "readOnlyRootFilesystem": False,
        "runAsUser": {"type": "RunAsAny"},
        "seLinuxContext": {"type": "RunAsAny"},
        "supplementalGroups": {"type": "RunAsAny"},
        "users": [f"system:serviceaccount:{namespace}:{account}" for account in accounts],
        "groups": [],
    }
    kind = kinds.SECURITY_CONTEXT_CONSTRAINTS
    return kind, manifest(kind, name, **usual, **fields)


def service_account(namespace: str, name: str) -> tuple[Kind, Object]:
    """Return a service account."""
    return kinds.SERVICE_ACCOUNT, manifest(kinds.SERVICE_ACCOUNT, name, namespace)
