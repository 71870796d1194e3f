"""Data that is not on Spectrum Scale: a claim that a class of the cluster fulfils."""

from typing import Literal, Self

import pulumi
import pulumi_kubernetes as k8s
from pydantic import Field, model_validator

from components.base import waits
from components.base.component import Component
from components.base.model import DnsName, Model, Quantity, Seconds
from components.storage.static_volume import STORAGE_CLASS
from core.apis.names import labels

AccessMode = Literal["ReadWriteMany", "ReadOnlyMany", "ReadWriteOnce"]


class ClaimArgs(Model):
    """One claim."""

    claim_name: DnsName = Field(description="what pods name as their volume")
    storage_class: DnsName = Field(
        description="class that provisions the volume, or of a manually created volume; never the cluster's default"
    )
    capacity: Quantity = Field(description="bytes that the volume has at least, e.g. 10Ti")
    access_mode: AccessMode = Field(
        default="ReadWriteMany", description="pods of a job are on several nodes: ReadWriteOnce is for one of them"
    )
    volume_name: DnsName | None = Field(default=None, description="existing volume; None: any that fits, or a new one")
    labels: dict[str, str] = Field(default_factory=dict, description="further labels of the claim, e.g. dept")
    bind_timeout: Seconds | None = Field(
        default=None,
        description="seconds until a volume is bound, where the class provisions volumes slowly, and before a pod "
        "comes. None: the provider reads the class; it waits five minutes, or not at all where the class binds at "
        "first use, for no pod would come before the wait ends",
    )
    protect: bool = Field(
        default=False,
        description="refuse to delete the claim, and leave it when it is no longer declared: with a class that deletes "
        "volumes, the data goes with its claim",
    )

    @model_validator(mode="after")
    def _of_a_class(self) -> Self:
        if self.storage_class == STORAGE_CLASS and self.volume_name is None:
            raise ValueError(
                f"storage_class {STORAGE_CLASS} is not a class, so the claim would stay Pending; "
                "name a class, or the volume"
            )
        return self


class Claim(Component):
    """One PersistentVolumeClaim.

    Outputs: `claim`, its name, known when it is bound, or at once where the class binds at first use.
    """

    claim: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        args: ClaimArgs,
        namespace: pulumi.Input[str],
        *,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("storage:Claim", name, args, opts)
        core = k8s.core.v1
        claim = core.PersistentVolumeClaim(
            f"{name}-claim",
            metadata=k8s.meta.v1.ObjectMetaArgs(
                name=args.claim_name,
                namespace=namespace,
                labels={**labels(args.claim_name, "storage"), **args.labels},
                annotations=_wait(args.bind_timeout),
            ),
            spec=core.PersistentVolumeClaimSpecArgs(
                storage_class_name=args.storage_class,
                access_modes=[args.access_mode],
                resources=core.VolumeResourceRequirementsArgs(requests={"storage": args.capacity}),
                volume_name=args.volume_name,
            ),
            opts=self.child(**({"protect": True, "retain_on_delete": True} if args.protect else {})),
        )
        self.outputs(claim=claim.metadata.name)


def _wait(timeout: int | None) -> dict[str, str] | None:
    """Return the annotations; the provider's own wait for claims does not heed a time that is given."""
    return None if timeout is None else waits.wait_for([waits.equals(".status.phase", "Bound")], timeout=timeout)
