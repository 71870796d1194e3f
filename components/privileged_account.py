"""The service account of device plugins, which need the SCC privileged, unlike any job."""

from collections.abc import Mapping

import pulumi
import pulumi_kubernetes as k8s

from apis import kinds
from components.component import Component

SCC = "privileged"


def declare(
    owner: Component, name: str, agent: str, namespace: str, labels: Mapping[str, str]
) -> list[pulumi.CustomResource]:
    """Declare the service account `agent`, which may use the SCC privileged in its namespace; return the resources."""

    def meta() -> "k8s.meta.v1.ObjectMetaArgs":
        return k8s.meta.v1.ObjectMetaArgs(name=agent, namespace=namespace, labels=labels)

    return [
        k8s.core.v1.ServiceAccount(f"{name}-account", metadata=meta(), opts=owner.child()),
        k8s.rbac.v1.Role(
            f"{name}-role",
            metadata=meta(),
            rules=[
                k8s.rbac.v1.PolicyRuleArgs(
                    api_groups=[kinds.SECURITY_CONTEXT_CONSTRAINTS.group],
                    resources=[kinds.SECURITY_CONTEXT_CONSTRAINTS.plural],
                    resource_names=[SCC],
                    verbs=["use"],
                )
            ],
            opts=owner.child(),
        ),
        k8s.rbac.v1.RoleBinding(
            f"{name}-binding",
            metadata=meta(),
            role_ref=k8s.rbac.v1.RoleRefArgs(api_group=kinds.ROLE.group, kind=kinds.ROLE.kind, name=agent),
            subjects=[k8s.rbac.v1.SubjectArgs(kind="ServiceAccount", name=agent, namespace=namespace)],
            opts=owner.child(),
        ),
    ]
