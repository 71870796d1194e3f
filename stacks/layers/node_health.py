"""What remedies lost GPU nodes: a NodeHealthCheck for those of the stack."""

import pulumi

from components.base.model import fields_of
from components.base.scheduling import bearing
from components.nodes.node_health import NodeHealth, NodeHealthCheck, NodeHealthCheckArgs
from stacks.layers.fabric import GPU_NODE
from stacks.layers.operators import Added, after
from stacks.resolved.node_health import healthy_at_least
from stacks.settings.platform import Settings


def build(settings: Settings, added: Added, opts: pulumi.ResourceOptions) -> list[NodeHealthCheck]:
    """Declare the check where the settings have one; after `added`, which has its operators."""
    health, operator = settings.node_health, settings.operators.self_node_remediation
    if health is None or operator is None:
        return []
    fields = fields_of(NodeHealth, health)
    if health.max_unhealthy is None:
        fields["min_healthy"] = health.min_healthy or str(healthy_at_least(settings))
    args = NodeHealthCheckArgs(
        **fields,
        node_labels=GPU_NODE,
        remediation_namespace=operator.namespace,
        tolerations=bearing(taint for pool in settings.gpu_pools for taint in pool.taints),
        timeout=settings.timeouts.object,
    )
    return [NodeHealthCheck("node-health", args, opts=after(opts, *added.resources))]
