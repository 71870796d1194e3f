"""The service account of device plugins, which need the SCC privileged, unlike any job."""

from collections.abc import Mapping

import pulumi
import pulumi_kubernetes as k8s

from components.base import rights
from components.base.component import Component

SCC = "privileged"


def declare(
    owner: Component, name: str, agent: str, namespace: str, labels: Mapping[str, str]
) -> list[pulumi.CustomResource]:
    """Declare the service account `agent`, which may use the SCC privileged in its namespace; return the resources."""
    meta = k8s.meta.v1.ObjectMetaArgs(name=agent, namespace=namespace, labels=labels)
    account = k8s.core.v1.ServiceAccount(f"{name}-account", metadata=meta, opts=owner.child())
    return [account, rights.grant(owner, name, meta, rights.use_of(SCC), account)]
