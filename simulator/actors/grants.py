"""Accounts and rights that operators and OLM make, as manifests."""

from apis import kinds
from apis.kinds import Kind
from simulator.actors import rbac
from simulator.actors.api import Object
from simulator.actors.rbac import Rule

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
    meta = {"name": name, "namespace": namespace}
    role = {
        "apiVersion": kinds.ROLE.api_version,
        "kind": kinds.ROLE.kind,
        "metadata": dict(meta),
        "rules": [rule.manifest() for rule in rules],
    }
    binding = {
        "apiVersion": kinds.ROLE_BINDING.api_version,
        "kind": kinds.ROLE_BINDING.kind,
        "metadata": dict(meta),
        "roleRef": {"apiGroup": kinds.ROLE.group, "kind": kinds.ROLE.kind, "name": name},
        "subjects": [rbac.account_subject(namespace, name)],
    }
    return [
        (kinds.SERVICE_ACCOUNT, rbac.service_account(namespace, name)),
        (kinds.ROLE, role),
        (kinds.ROLE_BINDING, binding),
    ]
