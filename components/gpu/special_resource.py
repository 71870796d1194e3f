"""The Special Resource Operator's recipe for NVIDIA GPUs: driver, runtime hook, device plugin, monitoring."""

import pulumi
import pulumi_kubernetes as k8s
from pydantic import Field

from components.base.component import Component, CustomObject
from components.base.model import DnsLabel, DnsName, Model
from core.apis.kinds import Kind
from core.apis.names import labels


class SpecialResourceArgs(Model):
    """The custom resource that the operator acts on."""

    kind: Kind = Field(description="API generation, from the release")
    namespace: DnsLabel = Field(description="namespace of the operator")
    recipe: DnsName = Field(default="nvidia-gpu", description="name of the recipe and of its namespace")


class SpecialResource(Component):
    """One SpecialResource object, without which no node has nvidia.com/gpu. Outputs: `recipe`, its name."""

    recipe: pulumi.Output[str]

    def __init__(self, name: str, args: SpecialResourceArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpu:SpecialResource", name, args, opts)
        resource = CustomObject(
            f"{name}-recipe",
            args.kind,
            k8s.meta.v1.ObjectMetaArgs(name=args.recipe, namespace=args.namespace, labels=labels(args.recipe, "gpu")),
            {"spec": {}},
            self.child(),
        )
        self.outputs(recipe=resource.id.apply(lambda _: args.recipe))
