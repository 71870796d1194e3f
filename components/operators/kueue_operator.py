"""Kueue, as Red Hat's operator installs it: one object defines which jobs it manages.

The operator makes nothing before the API cert-manager.io/v1 is served, for its webhooks have certificates of it; until
then the object has no conditions at all. So cert-manager's operator comes first. Names of fields and frameworks:
openshift/kueue-operator, manifests/kueue.openshift.io_kueues.yaml.
"""

from typing import Annotated, Any, Literal, Self

import pulumi
from pulumi_kubernetes import meta
from pydantic import Field, StringConstraints, model_validator

from components.base import waits
from components.base.component import Component, CustomObject
from components.base.model import DnsName, Installable, Model, Seconds
from components.base.timeouts import DEFAULTS
from core.apis import kinds
from core.apis.names import labels
from core.wording import duplicates

NAME = "cluster"
"""The definition allows no other name."""

Framework = Literal["BatchJob", "MPIJob", "JobSet", "PyTorchJob", "TrainJob", "Pod", "Deployment", "StatefulSet"]


ResourceName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9.-]+/[a-z0-9-]+$")]


READY_TIMES_SINCE = (1, 5)
"""Version of the operator from which on it passes times to Kueue; before it `ByWorkload` meant five minutes
(openshift/kueue-operator, pkg/configmap/configmap.go)."""


class PodsReady(Model):
    """When Kueue takes a job's place back because its pods are not ready, and how often it lets the job try again."""

    admission: Literal["Parallel", "Sequential"] = Field(
        default="Parallel", description="Sequential admits the next job only when the pods of the one before are ready"
    )
    start: int = Field(
        default=1800,
        ge=30,
        le=86400,
        description="seconds that all pods of an admitted job may take until they are ready; enough for the first pull "
        "of an image on every node",
    )
    recovery: int = Field(
        default=900,
        ge=0,
        le=86400,
        description="seconds that a running job may lack a pod, e.g. one of a lost node; then it is suspended, and "
        "admitted again on other nodes. 0: for ever",
    )
    requeues: int | None = Field(
        default=5,
        ge=1,
        le=200,
        description="how often such a job is admitted again without its pods becoming ready; then its Workload is "
        "deactivated, and waits for a person. None: without end",
    )
    backoff: int = Field(
        default=60,
        ge=30,
        le=3600,
        description="seconds until it may be admitted again; doubles each time",
    )
    longest_backoff: int = Field(default=3600, ge=30, le=7200, description="seconds that it grows to")

    @model_validator(mode="after")
    def _grows(self) -> Self:
        if self.backoff > self.longest_backoff:
            raise ValueError(f"backoff {self.backoff} is more than longest_backoff {self.longest_backoff}; lower it")
        return self


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
    pods_ready: PodsReady | None = Field(
        default=None,
        description="when an admitted job gives its place back because its pods are not ready. None: as the operator's "
        "version has it, never up to 1.4, and from 1.5 on after 30 minutes, without end",
    )
    device_classes: dict[ResourceName, tuple[DnsName, ...]] = Field(
        default={},
        description="resource of the queues -> DeviceClasses whose claims count as it; a claim of any other class is "
        "never admitted",
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
    mappings = [{"name": name, "deviceClassNames": list(classes)} for name, classes in args.device_classes.items()]
    return {
        "managementState": "Managed",
        "config": {
            "integrations": {"frameworks": list(args.frameworks)},
            "workloadManagement": {"labelPolicy": _POLICIES[args.unlabelled]},
            **({"gangScheduling": _gang(args.pods_ready)} if args.pods_ready else {}),
            **({"resources": {"deviceClassMappings": mappings}} if mappings else {}),
        },
    }


def _gang(ready: PodsReady) -> dict[str, Any]:
    requeuing = {"backoffBaseSeconds": ready.backoff, "backoffMaxSeconds": ready.longest_backoff}
    return {
        "policy": "ByWorkload",
        "byWorkload": {
            "admission": ready.admission,
            "timeoutSeconds": ready.start,
            "recoveryTimeoutSeconds": ready.recovery,
            "requeuingStrategy": requeuing | ({"retryLimit": ready.requeues} if ready.requeues else {}),
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
