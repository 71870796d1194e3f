"""All ports of a machine as one link: the fabric of document 007, which is Ethernet (B-2.2, B-2.3).

The switch has the same ports in one group with LACP, and the adapters are set to Ethernet (LINK_TYPE_P1=2) before.
"""

from typing import Annotated, Any, Literal, Self

import pulumi
from pydantic import Field, StringConstraints, model_validator

from components.component import Component
from components.model import DnsName, Model, NumberOrShare, Seconds
from components.network_policy import ethernet, network_policy

Interface = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,14}$")]
"""Name of a network interface; the kernel takes at most 15 characters."""


class BondArgs(Model):
    """One bond, on every selected node."""

    policy_name: DnsName = Field(default="fabric-bond", description="name of the policy")
    node_selector: dict[str, str] = Field(
        min_length=1, description="labels of the machines with these ports; without any, masters would get it, too"
    )
    bond: Interface = Field(default="bond0", description="name of the new interface")
    ports: tuple[Interface, ...] = Field(min_length=2, description="interfaces that it is made of (B-2.3: all)")
    mtu: int = Field(default=9000, ge=1280, le=9216, description="bytes; the switch's ports take at least as much")
    hashing: Literal["layer2", "layer2+3", "layer3+4"] = Field(
        default="layer3+4", description="what decides over the port: with layer3+4 two nodes use more than one"
    )
    dhcp: bool = Field(default=True, description="an address by DHCP; False leaves the bond without an IPv4 address")
    at_once: NumberOrShare = Field(
        default="1", description="nodes that may be without network at the same time, a number or a share"
    )
    timeout: Seconds = Field(default=1800, description="seconds until all nodes have it, one after another")

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        repeated = sorted({port for port in self.ports if self.ports.count(port) > 1 or port == self.bond})
        if repeated:
            raise ValueError(f"ports: {', '.join(repeated)} is there twice or is the bond; name each port once")
        return self


def interfaces(args: BondArgs) -> list[dict[str, Any]]:
    """Return the bond and its ports, as the policy wants them."""
    aggregation = {
        "mode": "802.3ad",
        "options": {"miimon": "100", "lacp_rate": "fast", "xmit_hash_policy": args.hashing},
        "port": list(args.ports),
    }
    bond = {
        "name": args.bond,
        "type": "bond",
        "state": "up",
        "mtu": args.mtu,
        "ipv4": {"enabled": args.dhcp, **({"dhcp": True} if args.dhcp else {})},
        "ipv6": {"enabled": False},
        "link-aggregation": aggregation,
    }
    return [bond, *(ethernet(port, args.mtu) for port in args.ports)]


class Bond(Component):
    """One NodeNetworkConfigurationPolicy, which rolls itself back on a node that it cuts off.

    Outputs: `interface`, the bond's name, known when every node has it.
    """

    interface: pulumi.Output[str]

    def __init__(self, name: str, args: BondArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("nodes:Bond", name, args, opts)
        policy = network_policy(
            self,
            name,
            interfaces(args),
            policy_name=args.policy_name,
            node_selector=args.node_selector,
            at_once=args.at_once,
            timeout=args.timeout,
        )
        self.outputs(interface=policy.id.apply(lambda _: args.bond))
