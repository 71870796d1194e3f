"""Labels on nodes that other people's controllers own."""

from collections.abc import Mapping

import pulumi
import pulumi_kubernetes as k8s
from pydantic import Field

from components.component import Component
from components.model import DnsName, Model


class NodeLabelsArgs(Model):
    """Which labels to put on which nodes."""

    nodes: tuple[DnsName, ...] = Field(description="node names; Spectrum Scale clients carry scale=true (R-3.4.5-3)")
    labels: Mapping[str, str] = Field(description="labels that each of them gets")


class NodeLabels(Component):
    """Puts labels on nodes by server-side apply, and takes exactly those away again when it is deleted.

    Outputs: `nodes`.
    """

    nodes: pulumi.Output[list[str]]

    def __init__(self, name: str, args: NodeLabelsArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("nodes:NodeLabels", name, args, opts)
        for node in args.nodes:
            k8s.core.v1.NodePatch(
                f"{name}-{node}",
                metadata=k8s.meta.v1.ObjectMetaPatchArgs(name=node, labels=dict(args.labels)),
                opts=self.child(),
            )
        self.outputs(nodes=pulumi.Output.from_input(list(args.nodes)))
