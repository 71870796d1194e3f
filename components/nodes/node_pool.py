"""Pools of nodes: their labels, a pool of their own for GPU nodes, and the wait until nodes are configured."""

from collections.abc import Mapping

import pulumi
import pulumi_kubernetes as k8s
from pydantic import Field

from components.base.component import Component, CustomObject, stateful
from components.base.model import DnsLabel, DnsName, Model, NumberOrShare, Seconds, int_or_share
from components.nodes.machine_config import rollout
from core.apis import kinds, names
from core.apis.names import labels

BUILT_IN = ("master", "worker")
"""Pools that OpenShift has by itself."""


def at_once(limit: str, nodes: int) -> int:
    """Return how many of `nodes` a number or a share such as 10% means: at least one, as the operator takes it."""
    share = int(limit.removesuffix("%"))
    return max(1, nodes * share // 100 if limit.endswith("%") else share)


class NodePoolArgs(Model):
    """One pool; its nodes stay workers, and get the workers' configuration as well."""

    pool: DnsLabel = Field(description="name of the pool and, after node-role.kubernetes.io/, of the nodes' label")
    at_once: NumberOrShare = Field(
        default="1", description="nodes that may drain and reboot at the same time, a number or a share"
    )
    protect: bool = Field(default=False, description="refuse to delete the pool: its nodes would reboot as workers")


class NodePool(Component):
    """A machine config pool of its own for GPU nodes.

    What they are tuned to (reserved CPUs, kernel arguments) is not for other workers: a kubelet whose machine does
    not have
    the reserved CPUs does not start, and its pool never finishes.

    The MachineConfigPool that selects the nodes by their role; NodeLabels gives them that.

    Outputs: `pool`, its name, known when it exists; who waits for its configuration is PoolRollout.
    """

    pool: pulumi.Output[str]

    def __init__(self, name: str, args: NodePoolArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("nodes:NodePool", name, args, opts)
        pool = CustomObject(
            f"{name}-pool",
            kinds.MACHINE_CONFIG_POOL,
            k8s.meta.v1.ObjectMetaArgs(
                name=args.pool,
                labels={**labels(args.pool, "nodes"), f"{names.MACHINE_CONFIG_POOL}{args.pool}": ""},
            ),
            {"spec": _spec(args)},
            self.child(**stateful(protect=args.protect)),
        )
        self.outputs(pool=pool.id.apply(lambda _: args.pool))


def role(pool: str) -> dict[str, str]:
    """Return the label by which a node is in the pool."""
    return {f"{names.NODE_ROLE}{pool}": ""}


def _spec(args: NodePoolArgs) -> dict[str, object]:
    roles = {"key": names.MACHINE_CONFIG_ROLE, "operator": "In", "values": ["worker", args.pool]}
    return {
        "machineConfigSelector": {"matchExpressions": [roles]},
        "nodeSelector": {"matchLabels": role(args.pool)},
        "maxUnavailable": int_or_share(args.at_once),
    }


class PoolRolloutArgs(Model):
    """What to wait for; whoever makes the MachineConfigs comes before, through `depends_on`."""

    pool: DnsName = Field(default="worker", description="MachineConfigPool of the GPU nodes")
    parts: dict[str, str] = Field(
        min_length=1,
        description="names of MachineConfigs, each with a digest: `parts` of the components that make them",
    )
    rollout_timeout: Seconds = Field(default=3600, description="seconds; nodes drain and reboot one after another")


class PoolRollout(Component):
    """The wait until the nodes of a pool run with several MachineConfigs; each restarts with what there is by its turn.

    One patch of the pool that waits, again whenever a part changes. Outputs: `pool`, known when it is done.
    """

    pool: pulumi.Output[str]

    def __init__(self, name: str, args: PoolRolloutArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("nodes:PoolRollout", name, args, opts)
        patch = rollout(self, name, args.pool, args.parts, timeout=args.rollout_timeout)
        self.outputs(pool=patch.id.apply(lambda _: args.pool))


class NodeLabelsArgs(Model):
    """Which labels to put on which nodes."""

    labels: Mapping[DnsName, Mapping[str, str]] = Field(
        description="labels by node: scale=true for Spectrum Scale clients, the role of GPU nodes' pool, "
        "hpc.pulumi/gpu-node=true for selectors of the stack's own GPU nodes, openshift.com/gpu-accelerator=true where "
        "the host has the driver"
    )


class NodeLabels(Component):
    """Labels on nodes that other people's controllers own.

    Puts labels on nodes by server-side apply, and takes exactly those away again when it is deleted.

    There is one patch for a node, so that previews and policies see all its labels together. Outputs: `nodes`, known
    when they have them.
    """

    nodes: pulumi.Output[list[str]]

    def __init__(self, name: str, args: NodeLabelsArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("nodes:NodeLabels", name, args, opts)
        patches = [
            k8s.core.v1.NodePatch(
                f"{name}-{node}",
                metadata=k8s.meta.v1.ObjectMetaPatchArgs(name=node, labels=dict(labels)),
                opts=self.child(),
            )
            for node, labels in args.labels.items()
        ]
        nodes = list(args.labels)
        self.outputs(nodes=pulumi.Output.all(*(patch.id for patch in patches)).apply(lambda _: nodes))
