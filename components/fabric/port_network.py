"""A second network of pods, over one port of the nodes, for RoCE."""

import json
from collections.abc import Iterable
from ipaddress import IPv4Network, collapse_addresses
from typing import Annotated, Any, Literal, Self

import pulumi
import pulumi_kubernetes as k8s
from pydantic import Field, model_validator

from components.base import waits
from components.base.component import Component, CustomObject
from components.base.model import DnsLabel, DnsName, Model, Seconds
from components.base.timeouts import DEFAULTS
from core.apis import kinds
from core.apis.kinds import Kind
from core.apis.names import labels


class Macvlan(Model):
    """Each pod gets an interface of its own on a port that all share, with rdma/<name> beside it."""

    kind: Literal["macvlan"] = "macvlan"
    master: str = Field(min_length=1, description="network interface of the nodes, e.g. ens1f0np0")
    mode: Literal["bridge", "private", "vepa", "passthru"] = Field(
        default="bridge", description="bridge lets two pods of one node communicate; the mode of the operator's sample"
    )
    mtu: int = Field(default=0, ge=0, description="bytes; 0 for that of the port, which bounds it")


class HostDevice(Model):
    """A single pod gets the whole port, and requests nvidia.com/<resource_name>."""

    kind: Literal["host-device"] = "host-device"
    resource_name: str = Field(
        pattern=r"^[a-zA-Z0-9_]+$", description="as host_devices of NetworkOperator name it, without nvidia.com/"
    )


_FEWEST = 2
"""Pods that a network is for at least."""


def require_room(field: str, subnet: IPv4Network, exclude: Iterable[IPv4Network]) -> None:
    """Raise ValueError, naming the field, unless the subnet has addresses for two pods beside its first and last."""
    taken = sum(part.num_addresses for part in collapse_addresses(p for p in exclude if p.subnet_of(subnet)))
    if max(subnet.num_addresses - 2, 0) - taken < _FEWEST:
        raise ValueError(f"{field}: {subnet} has no addresses for {_FEWEST} pods; give a larger one")


class AddressPool(Model):
    """Addresses that whereabouts assigns, unique in the cluster; OpenShift includes it."""

    range: IPv4Network = Field(description="subnet of the port, e.g. 192.168.10.0/24; every port needs its own")
    exclude: tuple[IPv4Network, ...] = Field(default=(), description="parts of it that nodes and switches use")

    @model_validator(mode="after")
    def _exclusions_in_range(self) -> Self:
        outside = [subnet for subnet in self.exclude if not subnet.subnet_of(self.range)]
        if outside:
            raise ValueError(f"exclude: {outside[0]} is not part of {self.range}; take it out")
        require_room("range", self.range, self.exclude)
        return self


class PortNetworkArgs(Model):
    """One network for the pods of one namespace."""

    network: DnsName = Field(description="name, which pods give in k8s.v1.cni.cncf.io/networks")
    namespace: DnsLabel = Field(
        description="namespace of the pods; the operator creates the NetworkAttachmentDefinition there"
    )
    attachment: Annotated[Macvlan | HostDevice, Field(discriminator="kind", description="how pods get the port")]
    addresses: AddressPool
    ready_timeout: Seconds = Field(
        default=DEFAULTS.object, description="seconds until the operator has created the definition"
    )


_KINDS: dict[str, Kind] = {"macvlan": kinds.MACVLAN_NETWORK, "host-device": kinds.HOST_DEVICE_NETWORK}


def spec(args: PortNetworkArgs) -> dict[str, Any]:
    """Return the `spec` of a MacvlanNetwork or HostDeviceNetwork."""
    pool = args.addresses
    addresses = {"type": "whereabouts", "range": str(pool.range)}
    exclude = {"exclude": [str(subnet) for subnet in pool.exclude]} if pool.exclude else {}
    common = {"networkNamespace": args.namespace, "ipam": json.dumps(addresses | exclude)}
    if isinstance(args.attachment, HostDevice):
        return common | {"resourceName": args.attachment.resource_name}
    port = args.attachment
    return common | {"master": port.master, "mode": port.mode, "mtu": port.mtu}


class PortNetwork(Component):
    """One MacvlanNetwork or HostDeviceNetwork. Outputs: `network`, its name, known when pods can join it."""

    network: pulumi.Output[str]

    def __init__(self, name: str, args: PortNetworkArgs, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("network:PortNetwork", name, args, opts)
        network = CustomObject(
            f"{name}-network",
            _KINDS[args.attachment.kind],
            k8s.meta.v1.ObjectMetaArgs(
                name=args.network,
                labels=labels(args.network, "network"),
                annotations=waits.wait_for([waits.state_ready()], timeout=args.ready_timeout),
            ),
            {"spec": spec(args)},
            self.child(),
        )
        self.outputs(network=network.id.apply(lambda _: args.network))
