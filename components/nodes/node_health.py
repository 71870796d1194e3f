"""Which GPU nodes count as lost, and how they are remedied: Node Health Check with Self Node Remediation.

Node Health Check compares conditions of nodes with its list, and makes an object of a template for each node that has
one of them for long enough, unless too many have: a switch that fails is no reason to restart its nodes. Self Node
Remediation then has the node restart itself, waits until it must have, and frees its pods, which would else stay
Terminating for ever on a node that nobody hears of.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, Self

import pulumi
from pulumi_kubernetes import apiextensions, meta
from pydantic import Field, model_validator

from components.base import waits
from components.base.component import Component, CustomObject, cluster_wide
from components.base.model import DnsLabel, Model, NumberOrShare, Seconds, int_or_share
from components.base.scheduling import LabelKey, Toleration
from components.base.timeouts import DEFAULTS
from core.apis import kinds
from core.apis.names import labels
from core.wording import duplicates

NAME = "gpu-nodes"
"""Of the NodeHealthCheck and of the template."""
CONFIG = "self-node-remediation-config"
"""The one SelfNodeRemediationConfig that its operator makes and reads."""
READY = "Ready"

Status = Literal["True", "False", "Unknown"]

KNOWN: Mapping[str, tuple[tuple[str, Status], ...]] = {
    # The node controller: Unknown when it has heard nothing for 50 s, False when the kubelet says so itself.
    "kubelet": ((READY, "False"), (READY, "Unknown")),
    # Those of its own kernel monitor; a restart ends both.
    "node-problem-detector": (("KernelDeadlock", "True"), ("ReadonlyFilesystem", "True")),
    # Faults of GPUs after which a restart resets them. Not those of heat and of the InfoROM, which it does not end.
    "nvsentinel": tuple((f"Gpu{part}Watch", "True") for part in ("Driver", "Mem", "Nvlink", "Pcie")),
}
"""What sets conditions of nodes -> those by which a node counts as lost, each with its status then."""


class KnownSigns(Model):
    """Conditions of a well-known part of a cluster."""

    kind: Literal["kubelet", "node-problem-detector", "nvsentinel"] = Field(
        description="kubelet: the node is not Ready, or nothing has been heard of it for 50 s; node-problem-detector: "
        "KernelDeadlock, ReadonlyFilesystem; nvsentinel: GpuDriverWatch, GpuMemWatch, GpuNvlinkWatch, GpuPcieWatch. "
        "The latter two must be installed, and `oc get node NODE -o yaml` shows whether their conditions have these "
        "names"
    )
    seconds: Seconds = Field(default=300, description="how long a node must have one of them")

    def conditions(self) -> list[dict[str, str]]:
        """Return them as a NodeHealthCheck has them."""
        return [_condition(kind, status, self.seconds) for kind, status in KNOWN[self.kind]]


class ConditionSign(Model):
    """One condition of nodes, whatever sets it."""

    kind: Literal["condition"]
    type: LabelKey = Field(description="type of the condition, e.g. GpuXidWatch")
    bad: Status = Field(description="its status when the node is lost")
    seconds: Seconds = Field(default=300, description="how long a node must have it")

    def conditions(self) -> list[dict[str, str]]:
        """Return it as a NodeHealthCheck has it."""
        return [_condition(self.type, self.bad, self.seconds)]


Sign = Annotated[KnownSigns | ConditionSign, Field(discriminator="kind")]


def _condition(kind: str, status: Status, seconds: int) -> dict[str, str]:
    return {"type": kind, "status": status, "duration": f"{seconds}s"}


class NodeHealth(Model):
    """Which GPU nodes are remedied, and how many at the same time, as settings and the component have it."""

    signs: tuple[Sign, ...] = Field(
        default=(KnownSigns(kind="kubelet"),),
        min_length=1,
        description="by which a node counts as lost; one is enough. Labels are none: Node Health Check reads "
        "conditions alone",
    )
    min_healthy: NumberOrShare | None = Field(
        default=None,
        description="GPU nodes, a number or a share rounded up, that must be healthy for any to be remedied, so that a "
        "fault of a switch or of a rack restarts none; None: a tenth of them may be lost, at least one, and fewer than "
        "any switch has by `topology`",
    )
    max_unhealthy: NumberOrShare | None = Field(
        default=None, description="in place of `min_healthy`: GPU nodes, a number or a share, that may be lost at most"
    )
    cooldown: Seconds | None = Field(
        default=None,
        description="seconds after such a fault in which none is remedied, as nodes do not come back all at once; "
        "None: none",
    )
    strategy: Literal["Automatic", "ResourceDeletion", "OutOfServiceTaint"] = Field(
        default="Automatic",
        description="how pods of a restarted node are freed: by deleting them, or by the taint "
        "node.kubernetes.io/out-of-service, which also detaches volumes; Automatic: by the taint where the cluster "
        "supports it",
    )

    @model_validator(mode="after")
    def _one_limit(self) -> Self:
        if self.min_healthy is not None and self.max_unhealthy is not None:
            raise ValueError(
                f"min_healthy {self.min_healthy} and max_unhealthy {self.max_unhealthy} exclude each other; give one"
            )
        return self

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        if twice := duplicates(f"{entry['type']}={entry['status']}" for entry in self.conditions()):
            raise ValueError(f"signs: condition {twice[0]} is given twice; give it once")
        return self

    def conditions(self) -> list[dict[str, str]]:
        """Return the `unhealthyConditions` of the NodeHealthCheck."""
        return [entry for sign in self.signs for entry in sign.conditions()]

    def unheard_seconds(self) -> int | None:
        """Return for how many seconds a node may be Ready=Unknown before it is remedied; None: for ever."""
        unheard = (
            sign.seconds
            for sign in self.signs
            for entry in sign.conditions()
            if (entry["type"], entry["status"]) == (READY, "Unknown")
        )
        return min(unheard, default=None)


class NodeHealthCheckArgs(NodeHealth):
    """Which nodes are watched, and where the operators run."""

    node_labels: dict[str, str] = Field(min_length=1, description="labels of the nodes that are watched")
    remediation_namespace: DnsLabel = Field(description="where Self Node Remediation runs")
    tolerations: tuple[Toleration, ...] = Field(
        default=(), description="taints of the nodes: an agent on each is what restarts it"
    )
    timeout: Seconds = Field(default=DEFAULTS.object, description="seconds until the operator accepts the check")

    @model_validator(mode="after")
    def _limited(self) -> Self:
        if self.min_healthy is None and self.max_unhealthy is None:
            raise ValueError("min_healthy is missing: a fault of a switch would restart all nodes; give it")
        return self


class NodeHealthCheck(Component):
    """One NodeHealthCheck with its template, and what agents of Self Node Remediation must tolerate.

    Outputs: `check`, its name, known when the operator has enabled it.
    """

    check: pulumi.Output[str]

    def __init__(self, name: str, args: NodeHealthCheckArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("nodes:NodeHealthCheck", name, args, opts)
        own_labels = labels("node-health", "nodes")
        template = CustomObject(
            f"{name}-template",
            kinds.SELF_NODE_REMEDIATION_TEMPLATE,
            meta.v1.ObjectMetaArgs(name=NAME, namespace=args.remediation_namespace, labels=own_labels),
            {"spec": {"template": {"spec": {"remediationStrategy": args.strategy}}}},
            self.child(),
        )
        agents = self._agents(name, args)
        enabled = waits.exists('.status.conditions[?(@.type=="Disabled" && @.status=="False")].type')
        check = CustomObject(
            f"{name}-check",
            kinds.NODE_HEALTH_CHECK,
            cluster_wide(NAME, "nodes", waits.wait_for([enabled], timeout=args.timeout)),
            {"spec": _spec(args)},
            self.child(template, *agents),
        )
        self.outputs(check=check.id.apply(lambda _: NAME))

    def _agents(self, name: str, args: NodeHealthCheckArgs) -> Iterable[pulumi.Resource]:
        """Declare what agents tolerate, in the operator's own object: its other fields stay as they are."""
        if not args.tolerations:
            return []
        patch = apiextensions.CustomResourcePatch(
            f"{name}-agents",
            api_version=kinds.SELF_NODE_REMEDIATION_CONFIG.api_version,
            kind=kinds.SELF_NODE_REMEDIATION_CONFIG.kind,
            metadata=meta.v1.ObjectMetaArgs(name=CONFIG, namespace=args.remediation_namespace),
            spec={"customDsTolerations": [toleration.manifest() for toleration in args.tolerations]},
            opts=self.child(),
        )
        return [patch]


def _spec(args: NodeHealthCheckArgs) -> dict[str, Any]:
    template = kinds.SELF_NODE_REMEDIATION_TEMPLATE
    limits = {"minHealthy": args.min_healthy, "maxUnhealthy": args.max_unhealthy}
    return {
        "selector": {"matchLabels": args.node_labels},
        "unhealthyConditions": args.conditions(),
        **{field: int_or_share(limit) for field, limit in limits.items() if limit is not None},
        **({"stormCooldownDuration": f"{args.cooldown}s"} if args.cooldown else {}),
        "remediationTemplate": {
            "apiVersion": template.api_version,
            "kind": template.kind,
            "name": NAME,
            "namespace": args.remediation_namespace,
        },
    }
