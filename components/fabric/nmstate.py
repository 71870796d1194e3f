"""NMState: the agents on nodes that carry out network policies, such as Bond's.

Its operator starts no agent before this object exists, and a policy without agents waits for ever.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
from pulumi_kubernetes import meta
from pydantic import Field

from components.base import waits
from components.base.component import Component, CustomObject, cluster_wide
from components.base.model import DnsName, Installable, NumberOrShare, Seconds, int_or_share
from components.base.scheduling import GPU_TAINT, Toleration
from components.base.timeouts import DEFAULTS
from core.apis import kinds
from core.apis.names import labels

NAME = "nmstate"
"""The operator acts on no other name."""
CONFIGURED = (
    waits.condition("Available"),
    waits.equals('.status.conditions[?(@.type=="Available")].reason', "SuccessfullyConfigured"),
)
"""When a policy holds on its nodes. Older versions call one Available, too, that has no node yet (NoMatchingNode)."""


class NmStateArgs(Installable):
    """Where the agents run."""

    node_selector: dict[str, str] = Field(
        default_factory=dict, max_length=8, description="labels of nodes with an agent; none: all Linux nodes"
    )
    tolerations: tuple[Toleration, ...] = Field(
        default=(GPU_TAINT,),
        max_length=8,
        description="taints that agents tolerate: by default those of nodes reserved for GPUs",
    )
    probe_host: DnsName | None = Field(
        default=None,
        description="name that must still resolve after a change, or it is rolled back; None: root-servers.net, which "
        "a disconnected network cannot resolve",
    )
    ready_timeout: Seconds | None = Field(
        default=DEFAULTS.operator,
        description="seconds until agents are on all nodes; None: no wait, for operators that report no condition",
    )


def spec(args: NmStateArgs) -> dict[str, Any]:
    """Return the `spec` of the object."""
    fields: dict[str, Any] = {}
    if args.node_selector:
        fields["nodeSelector"] = args.node_selector
    if args.tolerations:
        fields["tolerations"] = [toleration.manifest() for toleration in args.tolerations]
    if args.probe_host is not None:
        fields["probeConfiguration"] = {"dns": {"host": args.probe_host}}
    return fields


class NmState(Component):
    """One NMState object. Outputs: `instance`, its name, known when policies are carried out."""

    instance: pulumi.Output[str]

    def __init__(self, name: str, args: NmStateArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("nodes:NmState", name, args, opts)
        wait = None
        if args.ready_timeout is not None:
            wait = waits.wait_for([waits.condition("Available")], timeout=args.ready_timeout)
        if args.installed:
            self.outputs(instance=pulumi.Output.from_input(NAME))
            return
        instance = CustomObject(
            f"{name}-instance",
            kinds.NMSTATE,
            meta.v1.ObjectMetaArgs(name=NAME, labels=labels("nmstate", "nodes"), annotations=wait),
            {"spec": spec(args)},
            self.child(),
        )
        self.outputs(instance=instance.id.apply(lambda _: NAME))


def ethernet(port: str, mtu: int) -> dict[str, Any]:
    """Return a port in the form of the policy: up, with this MTU; its addresses stay as they are."""
    return {"name": port, "type": "ethernet", "state": "up", "mtu": mtu}


def node_network_configuration_policy(
    owner: Component,
    name: str,
    interfaces: Sequence[Mapping[str, Any]],
    *,
    policy_name: str,
    node_selector: Mapping[str, str],
    at_once: NumberOrShare,
    timeout: int,
) -> CustomObject:
    """Declare a NodeNetworkConfigurationPolicy that waits until all selected nodes have these interfaces.

    It rolls itself back on a node that it cuts off. `timeout` is in seconds.
    """
    return CustomObject(
        f"{name}-policy",
        kinds.NODE_NETWORK_CONFIGURATION_POLICY,
        cluster_wide(policy_name, "nodes", waits.wait_for(CONFIGURED, timeout=timeout)),
        {
            "spec": {
                "nodeSelector": node_selector,
                "maxUnavailable": int_or_share(at_once),
                "desiredState": {"interfaces": interfaces},
            }
        },
        owner.child(),
    )
