"""Node Feature Discovery: labels nodes by the PCI devices that they have."""

from typing import Any

import pulumi
import pulumi_kubernetes as k8s
from pydantic import Field

from apis.kinds import Kind
from components.component import Component
from components.custom_resources import CustomObject
from components.labels import labels
from components.model import DnsLabel, DnsName, Model


class NodeFeatureDiscoveryArgs(Model):
    """The custom resource that the operator acts on."""

    kind: Kind = Field(description="API generation, from the release")
    namespace: DnsLabel = Field(description="namespace of the operator")
    instance: DnsName = Field(description="name of the custom resource: nfd-master-server in 2020 (R-3.4.1-2)")
    operand_image: str | None = Field(default=None, description="image of the operand; None leaves it to the operator")


def spec(args: NodeFeatureDiscoveryArgs) -> dict[str, Any]:
    """Return the `spec` of API generation v1alpha1."""
    image = {"image": args.operand_image} if args.operand_image else {}
    return {"namespace": args.namespace, **image}


class NodeFeatureDiscovery(Component):
    """One NodeFeatureDiscovery object. Outputs: `instance`, its name."""

    instance: pulumi.Output[str]

    def __init__(
        self, name: str, args: NodeFeatureDiscoveryArgs, *, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("nodes:NodeFeatureDiscovery", name, args, opts)
        resource = CustomObject(
            f"{name}-instance",
            args.kind,
            k8s.meta.v1.ObjectMetaArgs(name=args.instance, namespace=args.namespace, labels=labels("nfd", "nodes")),
            {"spec": spec(args)},
            self.child(),
        )
        self.outputs(instance=resource.id.apply(lambda _: args.instance))
