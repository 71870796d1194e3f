"""What service accounts may do: a role and its binding, in one namespace or in the whole cluster."""

from collections.abc import Iterable, Mapping, Sequence

import pulumi
import pulumi_kubernetes as k8s

from components.base.component import Component
from core.apis import kinds

Rule = tuple[str, tuple[str, ...], tuple[str, ...]]
"""API group, resources, verbs."""


def rules(permissions: Iterable[Rule]) -> "list[k8s.rbac.v1.PolicyRuleArgs]":
    """Return the rules of a role."""
    return [
        k8s.rbac.v1.PolicyRuleArgs(api_groups=[group], resources=list(resources), verbs=list(verbs))
        for group, resources, verbs in permissions
    ]


def use_of(scc: str) -> "list[k8s.rbac.v1.PolicyRuleArgs]":
    """Return the rule that lets pods of an account use one SCC."""
    kind = kinds.SECURITY_CONTEXT_CONSTRAINTS
    return [
        k8s.rbac.v1.PolicyRuleArgs(
            api_groups=[kind.group], resources=[kind.plural], resource_names=[scc], verbs=["use"]
        )
    ]


def grant(
    owner: Component,
    name: str,
    metadata: "k8s.meta.v1.ObjectMetaArgs",
    rules: "Sequence[k8s.rbac.v1.PolicyRuleArgs]",
    account: "k8s.core.v1.ServiceAccount | tuple[str, str]",
    *,
    after: Sequence[pulumi.Output[str]] = (),
) -> "k8s.rbac.v1.RoleBinding":
    """Let an account, a declared one or namespace and name of another, do this in the namespace of `metadata`.

    Returns the binding.
    """
    opts = owner.child(*after)
    role = k8s.rbac.v1.Role(f"{name}-role", metadata=metadata, rules=rules, opts=opts)
    return k8s.rbac.v1.RoleBinding(
        f"{name}-binding",
        metadata=metadata,
        role_ref=k8s.rbac.v1.RoleRefArgs(api_group=kinds.ROLE.group, kind=kinds.ROLE.kind, name=role.metadata.name),
        subjects=[_subject(account)],
        opts=opts,
    )


def grant_everywhere(
    owner: Component,
    name: str,
    metadata: "k8s.meta.v1.ObjectMetaArgs",
    rules: "Sequence[k8s.rbac.v1.PolicyRuleArgs]",
    account: "k8s.core.v1.ServiceAccount",
) -> "k8s.rbac.v1.ClusterRoleBinding":
    """Let an account do this in the whole cluster; return the binding."""
    role = k8s.rbac.v1.ClusterRole(f"{name}-role", metadata=metadata, rules=rules, opts=owner.child())
    kind = kinds.CLUSTER_ROLE
    return k8s.rbac.v1.ClusterRoleBinding(
        f"{name}-binding",
        metadata=metadata,
        role_ref=k8s.rbac.v1.RoleRefArgs(api_group=kind.group, kind=kind.kind, name=role.metadata.name),
        subjects=[_subject(account)],
        opts=owner.child(),
    )


def _subject(account: "k8s.core.v1.ServiceAccount | tuple[str, str]") -> "k8s.rbac.v1.SubjectArgs":
    if isinstance(account, tuple):
        namespace, name = account
        return k8s.rbac.v1.SubjectArgs(kind=kinds.SERVICE_ACCOUNT.kind, name=name, namespace=namespace)
    meta = account.metadata
    return k8s.rbac.v1.SubjectArgs(kind=kinds.SERVICE_ACCOUNT.kind, name=meta.name, namespace=meta.namespace)


PRIVILEGED = "privileged"
"""SCC of device plugins, which need more than any job."""


def declare_privileged_account(
    owner: Component, name: str, agent: str, namespace: str, labels: Mapping[str, str]
) -> list[pulumi.CustomResource]:
    """Declare the service account `agent`, which may use the SCC privileged in its namespace; return the resources."""
    meta = k8s.meta.v1.ObjectMetaArgs(name=agent, namespace=namespace, labels=labels)
    account = k8s.core.v1.ServiceAccount(f"{name}-account", metadata=meta, opts=owner.child())
    return [account, grant(owner, name, meta, use_of(PRIVILEGED), account)]
