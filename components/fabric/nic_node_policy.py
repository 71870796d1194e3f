"""Adapter driver and RDMA resources of some nodes: a NicNodePolicy, for clusters whose machines need several."""

from typing import Any

import pulumi
from pydantic import Field

from components.base import waits
from components.base.component import Component
from components.base.custom_resources import CustomObject, cluster_wide
from components.base.model import DnsName
from components.base.topology import LabelKey, LabelValue
from components.fabric.network_operator import AdapterPolicy, sections
from core.apis import kinds, names

MOST_LENGTH = 30
"""Characters of its name, which is part of its DaemonSets' names and labels."""


class NicNodePolicyArgs(AdapterPolicy):
    """Driver and plugins of the nodes with some labels, of which no other NicNodePolicy may select any."""

    policy_name: DnsName = Field(max_length=MOST_LENGTH, description="name of the NicNodePolicy; cluster-wide")
    node_selector: dict[LabelKey, LabelValue] = Field(
        min_length=1, description="labels of its nodes, which they have before any driver"
    )


def spec(args: NicNodePolicyArgs) -> dict[str, Any]:
    """Return the `spec` of NicNodePolicy mellanox.com/v1alpha1."""
    return {
        **sections(args),
        "nodeSelector": args.node_selector,
        "tolerations": [toleration.manifest() for toleration in args.tolerations],
    }


class NicNodePolicy(Component):
    """A NicNodePolicy, which comes after a NicClusterPolicy that has none of its parts.

    Outputs: `resources`, the names that pods on its nodes can request, known when the operator calls it ready: the
    driver and the plugins run on every node that it selects.
    """

    resources: pulumi.Output[list[str]]

    def __init__(self, name: str, args: NicNodePolicyArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("rdma:NicNodePolicy", name, args, opts)
        offered = [names.RDMA_PREFIX + device.resource_name for device in args.devices]
        wait = waits.wait_for([waits.state_ready()], timeout=args.ready_timeout)
        metadata = cluster_wide(args.policy_name, "rdma", wait)
        policy = CustomObject(f"{name}-policy", kinds.NIC_NODE_POLICY, metadata, {"spec": spec(args)}, self.child())
        self.outputs(resources=policy.id.apply(lambda _: offered))
