"""A machine config pool of its own for GPU nodes.

What they are tuned to (reserved CPUs, kernel arguments) is not for other workers: a kubelet whose machine does not have
the reserved CPUs does not start, and its pool never finishes.
"""

import pulumi
import pulumi_kubernetes as k8s
from pydantic import Field

from components.base.component import Component, stateful
from components.base.custom_resources import CustomObject
from components.base.model import DnsLabel, Model, NumberOrShare, int_or_share
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
    """The MachineConfigPool that selects the nodes by their role; NodeLabels gives them that.

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
