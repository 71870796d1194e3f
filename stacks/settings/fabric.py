"""Settings of the network between the GPU nodes: one model for each kind of fabric."""

from ipaddress import IPv4Network
from itertools import combinations
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from components.base.model import Image, Model, Mtu
from components.fabric.bond import BondLink, Interface
from components.fabric.network_operator import ROCE_MOST_PODS, AdapterStack
from components.fabric.port_network import require_room
from components.jobs.containerfiles import OfedVersion
from components.operators.olm_operator import OlmSubscription


class HostOfed(Model):
    """Mellanox's own driver, where the nodes have it themselves."""

    host_ofed: bool = Field(
        default=False,
        description="the nodes have Mellanox's own driver installed, not by an operator; nvidia-peermem needs it",
    )
    host_ofed_version: OfedVersion | None = Field(
        default=None,
        description="with `host_ofed`: its version, as `ofed_info -n` prints it on a node; images of `builds` with "
        "another are refused. None: not compared",
    )

    @model_validator(mode="after")
    def _has_what_it_names(self) -> Self:
        if self.host_ofed_version and not self.host_ofed:
            raise ValueError(
                f"host_ofed_version {self.host_ofed_version}: host_ofed is off, and the nodes have no driver of their "
                "own; set it, or leave the version out"
            )
        return self


class DaemonSetPlugin(HostOfed):
    """The shared RDMA device plugin by itself, as in the Redpaper."""

    kind: Literal["daemon-set"]
    image: Image = Field(description="image of the plugin")


class NetworkOperatorPlugin(AdapterStack, HostOfed):
    """The Network Operator, with the same plugin and, optionally, the adapter driver."""

    kind: Literal["network-operator"]
    operator: OlmSubscription


Plugin = Annotated[DaemonSetPlugin | NetworkOperatorPlugin, Field(discriminator="kind")]
"""Who makes resources of the ports."""


class InfiniBand(Model):
    """InfiniBand: every port of the machines is a resource that all pods of a node share."""

    kind: Literal["infiniband"]
    plugin: Plugin = Field(description="what exposes the ports as resources: the plugin alone, or the Network Operator")
    hca_max: int = Field(default=100, ge=1, description="pods of one node that may share an HCA")
    sharp: bool = Field(
        default=False,
        description="reductions in the switches (SHARP): NCCL uses CollNet, whose plugin the image must have",
    )


class PortNetworks(Model):
    """Secondary networks of pods: one over each port, so that RoCE has an address there."""

    subnets: tuple[IPv4Network, ...] = Field(min_length=1, description="subnets of the ports, in rail order")
    exclude: tuple[IPv4Network, ...] = Field(default=(), description="parts of the subnets that nodes and switches use")

    @model_validator(mode="after")
    def _disjoint_subnets(self) -> Self:
        for first, second in combinations(self.subnets, 2):
            if first.overlaps(second):
                raise ValueError(f"subnets: {first} and {second} overlap, and every port needs its own; change one")
        for part in self.exclude:
            if not any(part.subnet_of(subnet) for subnet in self.subnets):
                raise ValueError(f"exclude: {part} is not part of one of the subnets; take it out or correct it")
        for subnet in self.subnets:
            require_room("subnets", subnet, self.exclude)
        return self


class PortSettings(Model):
    """Configuration of the machines' ports; needs the NMState operator."""

    operator: OlmSubscription
    mtu: Mtu = Field(default=9216, description="bytes; the switches' ports have 9216")


class Roce(Model):
    """RDMA over Ethernet, on a network with one lossless class.

    A pod needs an interface on every port besides the port's resource: without one it has no address there, and the
    port's GIDs all read as zero (k8s-rdma-shared-dev-plugin #72, #101). `networks` are therefore required; the Network
    Operator creates them. A pod finds its own entry among a port's GIDs by itself.
    """

    kind: Literal["roce"]
    plugin: NetworkOperatorPlugin = Field(
        description="what exposes the ports as resources, and creates the networks over them"
    )
    hca_max: int = Field(
        default=ROCE_MOST_PODS, ge=1, le=ROCE_MOST_PODS, description="pods of one node that may share a port"
    )
    ports: PortSettings | None = Field(default=None, description="None: the hosts' ports stay as they are")
    traffic_class: int = Field(
        default=106,
        ge=0,
        le=255,
        description="NCCL_IB_TC: the switches' lossless class; 106 is DSCP 26, their default",
    )
    networks: PortNetworks = Field(description="secondary networks of pods over the ports")


class BondSettings(BondLink):
    """Ports of a running machine, bonded into one link; needs the NMState operator.

    It gets an address by DHCP, and hosts use it to reach that network, e.g. storage. Jobs do not: pods have only the
    pod network, which uses the interface that br-ex was attached to at installation. A bond that is to carry jobs must
    be created then, in the installer's network configuration; omit `bond` here in that case.
    """

    operator: OlmSubscription
    ports: tuple[Interface, ...] | None = Field(
        default=None, min_length=2, description="interfaces of the GPU nodes; None: all compute ports of the machine"
    )


class Ethernet(Model):
    """No RDMA: NCCL uses sockets, and pods need neither IPC_LOCK nor devices beside GPUs."""

    kind: Literal["ethernet"]
    bond: BondSettings | None = Field(
        default=None,
        description="for host traffic, not for jobs; None: the hosts' network stays as installed",
    )
    interface: str = Field(
        default="eth0",
        min_length=1,
        description="NCCL_SOCKET_IFNAME: interface inside the pods; eth0 is the pod network",
    )
    pod_mtu: Mtu | None = Field(
        default=None,
        description="bytes; MTU that the pod network was installed with, 100 less than its links (OVN-Kubernetes): "
        "`./hpc verify` fails where it is lower; None: it warns below 9000",
    )


class NoFabric(Model):
    """No network between the nodes beside the cluster's own: jobs run on one node each."""

    kind: Literal["none"]


RdmaFabric = InfiniBand | Roce
FabricSettings = Annotated[InfiniBand | Roce | Ethernet | NoFabric, Field(discriminator="kind")]
"""One kind of fabric."""
