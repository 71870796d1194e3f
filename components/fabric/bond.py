"""All ports of a machine as one link: the fabric of Robotic Drive, which is Ethernet.

The switch has the same ports in one group with LACP, and the adapters are set to Ethernet (LINK_TYPE_P1=2) before.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, Self

import pulumi
from pydantic import Field, StringConstraints, model_validator

from components.base.component import Component
from components.base.model import DnsName, Model, Mtu, NumberOrShare, Seconds
from components.base.timeouts import DEFAULTS
from components.fabric.nmstate import ethernet, node_network_configuration_policy
from core.wording import duplicates

Interface = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,14}$")]
"""Name of a network interface; the kernel takes at most 15 characters."""


class BondLink(Model):
    """The link of a bond, as settings and the component have it."""

    interface: Interface = Field(default="bond0", description="name of the bond")
    mtu: Mtu = Field(default=9000, description="bytes; the switch ports must support at least as much")


def unfit(interface: str, ports: Sequence[str]) -> Iterator[str]:
    """Yield ports that are given twice or are the bond; every problem starts with the field."""
    for port in duplicates(ports):
        yield f"ports: {port!r} is given twice; give each its own"
    if interface in ports:
        yield f"interface {interface} is one of its ports; give it a name of its own, e.g. bond0"


class BondArgs(BondLink):
    """One bond, on every selected node."""

    policy_name: DnsName = Field(default="fabric-bond", description="name of the policy")
    node_selector: dict[str, str] = Field(
        min_length=1, description="labels of the machines with these ports; without any, masters would get it, too"
    )
    ports: tuple[Interface, ...] = Field(min_length=2, description="interfaces that it is made of (all)")
    hashing: Literal["layer2", "layer2+3", "layer3+4"] = Field(
        default="layer3+4", description="what decides over the port: with layer3+4 two nodes use more than one"
    )
    dhcp: bool = Field(default=True, description="an address by DHCP; False leaves the bond without an IPv4 address")
    at_once: NumberOrShare = Field(
        default="1", description="nodes that may be without network at the same time, a number or a share"
    )
    timeout: Seconds = Field(
        default=DEFAULTS.network_policy, description="seconds until all nodes have it, one after another"
    )

    @model_validator(mode="after")
    def _valid_ports(self) -> Self:
        if problems := [*unfit(self.interface, self.ports)]:
            raise ValueError("; ".join(problems))
        return self


def interfaces(args: BondArgs) -> list[dict[str, Any]]:
    """Return the bond and its ports, in the form of the policy."""
    aggregation = {
        "mode": "802.3ad",
        "options": {"miimon": "100", "lacp_rate": "fast", "xmit_hash_policy": args.hashing},
        "port": list(args.ports),
    }
    bond = {
        "name": args.interface,
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
        policy = node_network_configuration_policy(
            self,
            name,
            interfaces(args),
            policy_name=args.policy_name,
            node_selector=args.node_selector,
            at_once=args.at_once,
            timeout=args.timeout,
        )
        self.outputs(interface=policy.id.apply(lambda _: args.interface))
