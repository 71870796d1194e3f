"""Which jobs start first when GPUs are short, and whether they preempt others."""

from typing import Annotated, Literal

import pulumi
import pulumi_kubernetes as k8s
from pydantic import AfterValidator, Field

from components.base.component import Component
from components.base.model import DnsName, Model
from core.apis.names import labels


def _unreserved_name(name: str) -> str:
    if name.startswith("system-"):
        raise ValueError(f"{name} starts with system-, reserved for Kubernetes' own classes; give another name")
    return name


ClassName = Annotated[DnsName, AfterValidator(_unreserved_name)]
"""Name of a priority class."""


class PriorityClassArgs(Model):
    """One PriorityClass."""

    class_name: ClassName = Field(description="name that pods give in priorityClassName; cluster-wide")
    value: int = Field(
        ge=-1_000_000_000, le=1_000_000_000, description="higher values go first; pods without a class have 0"
    )
    preemption: Literal["Never", "PreemptLowerPriority"] = Field(
        default="Never",
        description="Never moves a pod ahead in the queue but preempts none; a killed worker ends its whole job",
    )
    purpose: str = Field(min_length=1, description="who should use it; the description of the class")


class PriorityClass(Component):
    """One PriorityClass, never the default of pods that name none. Outputs: `class_name`, known when it exists."""

    class_name: pulumi.Output[str]

    def __init__(self, name: str, args: PriorityClassArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("tenants:PriorityClass", name, args, opts)
        priority_class = k8s.scheduling.v1.PriorityClass(
            f"{name}-class",
            metadata=k8s.meta.v1.ObjectMetaArgs(name=args.class_name, labels=labels(args.class_name, "tenant")),
            value=args.value,
            preemption_policy=args.preemption,
            global_default=False,
            description=args.purpose,
            opts=self.child(),
        )
        self.outputs(class_name=priority_class.metadata.name)
