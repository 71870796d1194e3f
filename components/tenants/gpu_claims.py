"""By what a tenant's pods claim GPUs where those come by dynamic resource allocation: a template for each number.

Each pod of a job gets a claim of its own from the template that it names, so a template serves all jobs of a tenant.
"""

from typing import Any

import pulumi
import pulumi_kubernetes as k8s
from pydantic import Field

from components.base.component import Component, CustomObject
from components.base.model import DnsLabel, Model
from core.apis import devices, kinds
from core.apis.names import labels


class GpuClaimsArgs(Model):
    """The templates of one tenant."""

    namespace: DnsLabel = Field(description="of the tenant")
    most: int = Field(gt=0, le=64, description="most GPUs of a pod: those of a machine")


def spec(gpus: int) -> dict[str, Any]:
    """Return the `spec` of the ResourceClaimTemplate of so many whole GPUs.

    A number, not `All`: quotas count that as 32, and Kueue refuses it.
    """
    exactly = {"deviceClassName": devices.GPU_CLASS, "allocationMode": "ExactCount", "count": gpus}
    return {"spec": {"devices": {"requests": [{"name": devices.GPUS, "exactly": exactly}]}}}


class GpuClaims(Component):
    """A ResourceClaimTemplate for each number of GPUs of a pod.

    Outputs: `ready`, the namespace, known when all are there.
    """

    ready: pulumi.Output[str]

    def __init__(self, name: str, args: GpuClaimsArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("tenants:GpuClaims", name, args, opts)
        templates = [
            CustomObject(
                f"{name}-{gpus}",
                kinds.RESOURCE_CLAIM_TEMPLATE,
                k8s.meta.v1.ObjectMetaArgs(
                    name=devices.claim_template(gpus),
                    namespace=args.namespace,
                    labels=labels(args.namespace, "tenant"),
                ),
                {"spec": spec(gpus)},
                self.child(),
            )
            for gpus in range(1, args.most + 1)
        ]
        self.outputs(ready=pulumi.Output.all(*(template.id for template in templates)).apply(lambda _: args.namespace))
