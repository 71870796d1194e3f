"""The MTU of a fabric's ports on every machine: RoCE's is larger than what a port starts with.

A pod's interface cannot have a larger one than the port below it: the pod would not start.
"""

from typing import Self

import pulumi
from pydantic import Field, model_validator

from components.base.component import Component
from components.base.model import DnsName, Model, Mtu, NumberOrShare, Seconds
from components.base.timeouts import DEFAULTS
from components.fabric.bond import Interface
from components.fabric.nmstate import ethernet, node_network_configuration_policy
from core.wording import duplicates


class PortsArgs(Model):
    """The ports of one fabric, the same on every selected node."""

    policy_name: DnsName = Field(default="fabric-ports", description="name of the policy")
    node_selector: dict[str, str] = Field(min_length=1, description="labels of the machines with these ports")
    ports: tuple[Interface, ...] = Field(min_length=1, description="network interfaces, e.g. rail0")
    mtu: Mtu = Field(description="bytes; the switch ports must support at least as much")
    at_once: NumberOrShare = Field(
        default="1", description="nodes that are changed at the same time, a number or a share"
    )
    timeout: Seconds = Field(
        default=DEFAULTS.network_policy, description="seconds until all nodes have it, one after another"
    )

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        if repeated := duplicates(self.ports):
            raise ValueError(f"ports: {repeated[0]} is given twice; give each its own")
        return self


class Ports(Component):
    """One NodeNetworkConfigurationPolicy. Outputs: `policy`, its name, known when every node has it."""

    policy: pulumi.Output[str]

    def __init__(self, name: str, args: PortsArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("nodes:Ports", name, args, opts)
        policy = node_network_configuration_policy(
            self,
            name,
            [ethernet(port, args.mtu) for port in args.ports],
            policy_name=args.policy_name,
            node_selector=args.node_selector,
            at_once=args.at_once,
            timeout=args.timeout,
        )
        self.outputs(policy=policy.id.apply(lambda _: args.policy_name))
