"""Labels on nodes that other people's controllers own."""

from collections.abc import Mapping

import pulumi
import pulumi_kubernetes as k8s
from pydantic import Field

from components.base.component import Component
from components.base.model import DnsName, Model


class NodeLabelsArgs(Model):
    """Which labels to put on which nodes."""

    labels: Mapping[DnsName, Mapping[str, str]] = Field(
        description="labels by node: scale=true for Spectrum Scale clients, the role of GPU nodes' pool, "
        "hpc.pulumi/gpu-node=true for selectors of the stack's own GPU nodes, openshift.com/gpu-accelerator=true where "
        "the host has the driver"
    )


class NodeLabels(Component):
    """Puts labels on nodes by server-side apply, and takes exactly those away again when it is deleted.

    There is one patch for a node, so that previews and policies see all its labels together. Outputs: `nodes`, known
    when they have them.
    """

    nodes: pulumi.Output[list[str]]

    def __init__(self, name: str, args: NodeLabelsArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("nodes:NodeLabels", name, args, opts)
        patches = [
            k8s.core.v1.NodePatch(
                f"{name}-{node}",
                metadata=k8s.meta.v1.ObjectMetaPatchArgs(name=node, labels=dict(labels)),
                opts=self.child(),
            )
            for node, labels in args.labels.items()
        ]
        nodes = list(args.labels)
        self.outputs(nodes=pulumi.Output.all(*(patch.id for patch in patches)).apply(lambda _: nodes))
