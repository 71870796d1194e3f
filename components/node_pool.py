"""A machine config pool of its own for GPU nodes.

What they are tuned to (reserved CPUs, kernel arguments) is not for other workers: a kubelet whose machine has not the
CPUs that are reserved does not start, and its pool never finishes.
"""

from typing import Annotated

import pulumi
import pulumi_kubernetes as k8s
from pydantic import Field, StringConstraints

from apis import kinds, names
from components.component import Component, stateful
from components.custom_resources import CustomObject
from components.labels import labels
from components.model import DnsLabel, DnsName, Model

BUILT_IN = ("master", "worker")
"""Pools that OpenShift has by itself."""


class NodePoolArgs(Model):
    """Which nodes are in the pool; they stay workers, and get the workers' configuration as well."""

    pool: DnsLabel = Field(description="name of the pool and, after node-role.kubernetes.io/, of the nodes' label")
    nodes: tuple[DnsName, ...] = Field(min_length=1)
    at_once: Annotated[str, StringConstraints(pattern=r"^([1-9][0-9]*|[1-9][0-9]?%|100%)$")] = Field(
        default="1", description="nodes that may drain and reboot at the same time, a number or a share"
    )
    protect: bool = Field(default=False, description="refuse to delete the pool: its nodes would reboot as workers")


class NodePool(Component):
    """Labels on the nodes, and the MachineConfigPool that selects them.

    Outputs: `pool`, its name, known when pool and labels exist; who waits for its configuration is PoolRollout.
    """

    pool: pulumi.Output[str]

    def __init__(self, name: str, args: NodePoolArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("nodes:NodePool", name, args, opts)
        role = f"{names.NODE_ROLE}{args.pool}"
        made = CustomObject(
            f"{name}-pool",
            kinds.MACHINE_CONFIG_POOL,
            k8s.meta.v1.ObjectMetaArgs(
                name=args.pool,
                labels={**labels(args.pool, "nodes"), f"{names.MACHINE_CONFIG_POOL}{args.pool}": ""},
            ),
            {"spec": _spec(args, role)},
            self.child(**stateful(protect=args.protect)),
        )
        labelled = [
            k8s.core.v1.NodePatch(
                f"{name}-{node}",
                metadata=k8s.meta.v1.ObjectMetaPatchArgs(name=node, labels={role: ""}),
                opts=self.child(made),
            )
            for node in args.nodes
        ]
        self.outputs(pool=pulumi.Output.all(*(node.id for node in labelled)).apply(lambda _: args.pool))


def _spec(args: NodePoolArgs, role: str) -> dict[str, object]:
    roles = {"key": names.MACHINE_CONFIG_ROLE, "operator": "In", "values": ["worker", args.pool]}
    return {
        "machineConfigSelector": {"matchExpressions": [roles]},
        "nodeSelector": {"matchLabels": {role: ""}},
        "maxUnavailable": int(args.at_once) if args.at_once.isdecimal() else args.at_once,
    }
