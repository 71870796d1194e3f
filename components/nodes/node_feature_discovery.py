"""Node Feature Discovery: labels nodes by the PCI devices that they have."""

import json
from typing import Annotated, Any, Self

import pulumi
import pulumi_kubernetes as k8s
from pydantic import Field, StringConstraints, model_validator

from components.base import waits
from components.base.component import Component, CustomObject
from components.base.model import DnsLabel, DnsName, Installable, Model, Seconds
from components.base.scheduling import Toleration
from components.base.timeouts import DEFAULTS
from core.apis import kinds
from core.apis.kinds import Kind
from core.apis.names import labels

PciClass = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{2}([0-9a-f]{2})?$")]
"""Class, or class and subclass, of a PCI device in hexadecimal digits."""


ADAPTER_CLASSES = {"Ethernet": "0200", "InfiniBand": "0207"}
"""Classes of an adapter's port, by what it speaks; the operator's own configuration has only the first."""


class NodeFeatureWorker(Model):
    """What the worker on every node looks for."""

    pci_classes: tuple[PciClass, ...] = Field(
        default=("0200", "0207", "03", "12"),
        min_length=1,
        description="classes whose vendors become labels: Ethernet, InfiniBand, display, accelerator. A port in "
        "InfiniBand mode is 0207, which the operator's own sample leaves out: its node has no pci-15b3.present",
    )
    tolerations: tuple[Toleration, ...] = Field(
        default=(), description="tolerations of NoExecute taints; workers tolerate every NoSchedule taint anyway"
    )


class NodeFeatureDiscoveryArgs(Installable):
    """The custom resource that the operator acts on."""

    kind: Kind = Field(description="API generation, from the release")
    namespace: DnsLabel = Field(description="namespace of the operator")
    instance: DnsName = Field(description="name of the custom resource: nfd-master-server in 2020")
    operand_image: str | None = Field(
        default=None,
        description="image of the operand; None leaves it to the operator, which then updates it with itself",
    )
    worker: NodeFeatureWorker | None = Field(
        default=None, description="of v1, where None means its defaults; v1alpha1 has no fields for it"
    )
    ready_timeout: Seconds = Field(
        default=DEFAULTS.operator,
        description="seconds until a worker is ready on every node; v1alpha1 reports nothing to wait for",
    )

    @model_validator(mode="after")
    def _of_the_generation(self) -> Self:
        if self.worker and self.kind == kinds.NODE_FEATURE_DISCOVERY_V1ALPHA1:
            raise ValueError(f"worker: {self.kind.api_version} has no fields for it; leave it out")
        return self


def spec_v1alpha1(args: NodeFeatureDiscoveryArgs) -> dict[str, Any]:
    """Return the `spec` of generation v1alpha1, whose operator has the classes built in."""
    image = {"image": args.operand_image} if args.operand_image else {}
    return {"namespace": args.namespace, **image}


def spec_v1(args: NodeFeatureDiscoveryArgs) -> dict[str, Any]:
    """Return the `spec` of generation v1."""
    worker = args.worker or NodeFeatureWorker()
    image = {"image": args.operand_image} if args.operand_image else {}
    bears = (
        {"workerTolerations": [toleration.manifest() for toleration in worker.tolerations]}
        if worker.tolerations
        else {}
    )
    pci = {"deviceClassWhitelist": list(worker.pci_classes), "deviceLabelFields": ["vendor"]}
    # JSON is YAML in which every text is quoted: 0200 without quotes is a number there.
    configuration = json.dumps({"sources": {"pci": pci}}, indent=2) + "\n"
    return {"operand": image | bears, "workerConfig": {"configData": configuration}}


def spec(args: NodeFeatureDiscoveryArgs) -> dict[str, Any]:
    """Return the `spec` of the arguments' API generation."""
    return (spec_v1alpha1 if args.kind == kinds.NODE_FEATURE_DISCOVERY_V1ALPHA1 else spec_v1)(args)


class NodeFeatureDiscovery(Component):
    """One NodeFeatureDiscovery object. Outputs: `instance`, its name; of v1 when the workers are ready."""

    instance: pulumi.Output[str]

    def __init__(
        self, name: str, args: NodeFeatureDiscoveryArgs, *, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("nodes:NodeFeatureDiscovery", name, args, opts)
        if args.installed:
            self.outputs(instance=pulumi.Output.from_input(args.instance))
            return
        resource = CustomObject(
            f"{name}-instance",
            args.kind,
            k8s.meta.v1.ObjectMetaArgs(
                name=args.instance,
                namespace=args.namespace,
                labels=labels("nfd", "nodes"),
                annotations=_wait(args),
            ),
            {"spec": spec(args)},
            # The operator's parts have fixed names: of two objects the one that goes would take the other's along.
            self.child(delete_before_replace=True),
        )
        self.outputs(instance=resource.id.apply(lambda _: args.instance))


def _wait(args: NodeFeatureDiscoveryArgs) -> dict[str, str] | None:
    if args.kind == kinds.NODE_FEATURE_DISCOVERY_V1ALPHA1:
        return None
    return waits.wait_for([waits.condition("Available")], timeout=args.ready_timeout)
