"""Accounts and rights that operators and OLM make, as manifests."""

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
    reference = {"apiGroup": kinds.ROLE.group, "kind": kinds.ROLE.kind, "name": name}
    subjects = [rbac.account_subject(namespace, name)]
    return [
        service_account(namespace, name),
        (kinds.ROLE, manifest(kinds.ROLE, name, namespace, rules=[rule.manifest() for rule in rules])),
        (kinds.ROLE_BINDING, manifest(kinds.ROLE_BINDING, name, namespace, roleRef=reference, subjects=subjects)),
    ]


def prometheus(namespace: str, name: str) -> Grant:
    """Return the Role by which the cluster's Prometheus finds exporters in a namespace, and its binding."""
    rule = Rule(("",), ("services", "endpoints", "pods"), READ)
    who = rbac.PROMETHEUS
    reference = {"apiGroup": kinds.ROLE.group, "kind": kinds.ROLE.kind, "name": name}
    subjects = [rbac.account_subject(str(who.namespace), who.account)]
    return [
        (kinds.ROLE, manifest(kinds.ROLE, name, namespace, rules=[rule.manifest()])),
        (kinds.ROLE_BINDING, manifest(kinds.ROLE_BINDING, name, namespace, roleRef=reference, subjects=subjects)),
    ]


def service_account(namespace: str, name: str) -> tuple[Kind, Object]:
    """Return a service account."""
    return kinds.SERVICE_ACCOUNT, manifest(kinds.SERVICE_ACCOUNT, name, namespace)
