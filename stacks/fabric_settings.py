"""Settings of the network between the GPU nodes: one model for each kind of fabric."""

from ipaddress import IPv4Network
from typing import Annotated, Literal

from pydantic import Field

from components.bond import Interface
from components.model import Image, Model
from components.network_operator import ROCE_MOST_PODS, DocaDriver, SharedDevicePlugin
from components.olm_operator import OlmOperatorArgs


class DaemonSetPlugin(Model):
    """The shared RDMA device plugin by itself, as in the Redpaper (R-3.4.2)."""

    kind: Literal["daemon-set"]
    image: Image = Field(description="of the plugin (R-3.4.2-1)")
    host_ofed: bool = Field(
        default=False, description="the nodes have Mellanox's own driver, which GPUDirect by nvidia-peermem needs"
    )


class NetworkOperatorPlugin(Model):
    """The Network Operator, with the same plugin and, where wanted, the adapters' driver."""

    kind: Literal["network-operator"]
    operator: OlmOperatorArgs
    shared: SharedDevicePlugin
    driver: DocaDriver | None = Field(description="None: the node's own driver")
    host_ofed: bool = Field(
        default=False, description="without `driver`: the nodes have Mellanox's own, which nvidia-peermem needs"
    )


Plugin = Annotated[DaemonSetPlugin | NetworkOperatorPlugin, Field(discriminator="kind")]
"""Who makes resources of the ports."""


class InfiniBand(Model):
    """InfiniBand: every port of the machines is a resource that all pods of a node share."""

    kind: Literal["infiniband"]
    plugin: Plugin = Field(description="what makes resources of the ports: the plugin alone, or the Network Operator")
    hca_max: int = Field(default=100, ge=1, description="pods of one node that may share an HCA (R-3.4.2-3)")
    sharp: bool = Field(
        default=False,
        description="reductions in the switches (SHARP, D-3.8): NCCL uses CollNet, whose plugin the image must have",
    )


class PortNetworks(Model):
    """Second networks of pods: one over each port, so that RoCE has an address there (B-7.2)."""

    subnets: tuple[IPv4Network, ...] = Field(min_length=1, description="of the ports, in the order of the rails")
    exclude: tuple[IPv4Network, ...] = Field(
        default=(), description="parts of the subnets that nodes and switches have"
    )


class PortSettings(Model):
    """What the ports of the machines are set to; needs the NMState operator."""

    operator: OlmOperatorArgs
    mtu: int = Field(default=9216, ge=1280, le=9216, description="bytes; the switches' ports have 9216 (N-1.3)")


class Roce(Model):
    """RDMA over Ethernet, on a network that loses nothing in one class (N-1)."""

    kind: Literal["roce"]
    plugin: Plugin = Field(description="what makes resources of the ports: the plugin alone, or the Network Operator")
    hca_max: int = Field(
        default=ROCE_MOST_PODS, ge=1, le=ROCE_MOST_PODS, description="pods of one node that may share a port"
    )
    ports: PortSettings | None = Field(default=None, description="None: the hosts' ports stay as they are")
    gid_index: int = Field(default=3, ge=0, le=255, description="NCCL_IB_GID_INDEX; 3 is RoCE v2 over IPv4 by custom")
    traffic_class: int = Field(
        default=106,
        ge=0,
        le=255,
        description="NCCL_IB_TC: the class that the switches do not drop; 106 is DSCP 26, their default (N-1.1)",
    )
    networks: PortNetworks | None = Field(default=None, description="None: pods use the nodes' own addresses")


class BondSettings(Model):
    """All ports of a machine as one link (B-2.3); needs the NMState operator."""

    operator: OlmOperatorArgs
    ports: tuple[Interface, ...] | None = Field(
        default=None, min_length=2, description="interfaces of the GPU nodes; None: all compute ports of the machine"
    )
    interface: Interface = Field(default="bond0", description="name of the bond")
    mtu: int = Field(default=9000, ge=1280, le=9216, description="bytes; the switch's ports take at least as much")


class Ethernet(Model):
    """No RDMA: NCCL uses sockets, and pods need neither IPC_LOCK nor devices beside GPUs (B-6.3)."""

    kind: Literal["ethernet"]
    bond: BondSettings | None = Field(default=None, description="None: the hosts' network stays as it is")
    interface: str = Field(
        default="eth0", min_length=1, description="NCCL_SOCKET_IFNAME: interface inside the pods (B-7.1)"
    )


FabricSettings = Annotated[InfiniBand | Roce | Ethernet, Field(discriminator="kind")]
"""One kind of fabric."""
