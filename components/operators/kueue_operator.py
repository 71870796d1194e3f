"""Kueue, as Red Hat's operator installs it: one object defines which jobs it manages.

The operator makes nothing before the API cert-manager.io/v1 is served, for its webhooks have certificates of it; until
then the object has no conditions at all. So cert-manager's operator comes first. Names of fields and frameworks:
openshift/kueue-operator, manifests/kueue.openshift.io_kueues.yaml.
"""

from typing import Any, Literal, Self

import pulumi
from pulumi_kubernetes import meta
from pydantic import Field, model_validator

from components.base import waits
from components.base.component import Component, CustomObject
from components.base.model import Installable, Seconds
from components.base.timeouts import DEFAULTS
from core.apis import kinds
from core.apis.names import labels
from core.wording import duplicates

NAME = "cluster"
"""The definition allows no other name."""

Framework = Literal["BatchJob", "MPIJob", "JobSet", "PyTorchJob", "TrainJob", "Pod", "Deployment", "StatefulSet"]


class KueueOperatorArgs(Installable):
    """What Kueue manages, in namespaces with the label kueue.openshift.io/managed=true (Tenant: `queued`)."""

    frameworks: tuple[Framework, ...] = Field(
        default=("BatchJob", "MPIJob"),
        min_length=1,
        description="kinds of jobs; of MPIJob it manages v2beta1 only",
    )
    unlabelled: Literal["ignored", "held"] = Field(
        default="ignored",
        description="jobs without a queue name, in those namespaces: they run at once, or wait forever for a queue",
    )
    gang: Literal["Parallel", "Sequential"] | None = Field(
        default=None,
        description="evict and requeue a job whose pods do not all become ready; Sequential admits the next job only "
        "after that. None: a job that is admitted stays so",
    )
    ready_timeout: Seconds = Field(
        default=DEFAULTS.operator, description="seconds until all replicas of the controller are ready"
    )

    @model_validator(mode="after")
    def _distinct_frameworks(self) -> Self:
        if repeated := duplicates(self.frameworks):
            raise ValueError(f"frameworks: {repeated[0]} is given twice; name each once")
        return self


_POLICIES = {"ignored": "QueueName", "held": "None"}


def spec(args: KueueOperatorArgs) -> dict[str, Any]:
    """Return the `spec` of the object."""
    gang = {"policy": "ByWorkload", "byWorkload": {"admission": args.gang}} if args.gang else None
    return {
        "managementState": "Managed",
        "config": {
            "integrations": {"frameworks": list(args.frameworks)},
            "workloadManagement": {"labelPolicy": _POLICIES[args.unlabelled]},
            **({"gangScheduling": gang} if gang else {}),
        },
    }


class KueueOperator(Component):
    """One Kueue object. Outputs: `instance`, its name, known when jobs and queues can be sent."""

    instance: pulumi.Output[str]

    def __init__(self, name: str, args: KueueOperatorArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("operators:KueueOperator", name, args, opts)
        if args.installed:
            self.outputs(instance=pulumi.Output.from_input(NAME))
            return
        instance = CustomObject(
            f"{name}-instance",
            kinds.KUEUE,
            meta.v1.ObjectMetaArgs(
                name=NAME,
                labels=labels("kueue", "operators"),
                annotations=waits.wait_for([waits.condition("Available")], timeout=args.ready_timeout),
            ),
            {"spec": spec(args)},
            self.child(),
        )
        self.outputs(instance=instance.id.apply(lambda _: NAME))
