"""The fabric layer: what the ports between the GPU nodes become, and the variables that jobs need for them."""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi

from apis import names
from apis.kinds import MPI_JOB_V2BETA1
from components.bond import Bond, BondArgs, BondLink
from components.model import fields_of
from components.network_operator import AdapterStack, NetworkOperator, NetworkOperatorArgs
from components.nmstate import NmState, NmStateArgs
from components.olm_operator import OlmOperatorArgs
from components.port_network import AddressPool, Macvlan, PortNetwork, PortNetworkArgs
from components.ports import Ports, PortsArgs
from components.rdma_device_plugin import RdmaDevice, RdmaDevicePlugin, RdmaDevicePluginArgs
from stacks.fabric_settings import BondSettings, Ethernet, InfiniBand, NetworkOperatorPlugin, PortNetworks, Roce
from stacks.operators import OfTenant, after, install
from stacks.platform import Settings
from stacks.pools import Pool

GPU_NODE = {names.GPU_NODE: "true"}
"""Selector of the stack's own GPU nodes."""

Part = Bond | NetworkOperator | Ports | RdmaDevicePlugin
"""A component of a fabric."""


def known(part: Part) -> pulumi.Output[Any]:
    """Return what is known when jobs can use a part."""
    match part:
        case Bond():
            return part.interface
        case Ports():
            return part.policy
        case NetworkOperator() | RdmaDevicePlugin():
            return part.resources


def build(settings: Settings, opts: pulumi.ResourceOptions) -> list[Part]:
    """Declare the ports' resources, or the bond."""
    (pool,) = settings.gpu_pools
    if isinstance(pool.fabric, Ethernet):
        return [_bond(pool, settings, pool.fabric.bond, opts)] if pool.fabric.bond else []
    devices = tuple(
        RdmaDevice(resource_name=resource, hca_max=pool.fabric.hca_max, devices=(interface,))
        for resource, interface in zip(pool.rdma_resources, pool.interfaces, strict=True)
    )
    plugin = pool.fabric.plugin
    resources: NetworkOperator | RdmaDevicePlugin
    if isinstance(plugin, NetworkOperatorPlugin):
        resources = _network_operator(pool, settings, plugin, devices, opts)
    else:
        args = RdmaDevicePluginArgs(
            devices=devices, image=plugin.image, ready_timeout=settings.timeouts.plugins(len(settings.gpu_nodes))
        )
        resources = RdmaDevicePlugin("rdma-device-plugin", args, opts=opts)
    # A driver that is loaded takes the interfaces away and brings them back as they were at first.
    return [resources, *_ports(pool, settings, pool.fabric, after(opts, resources))]


def _network_operator(
    pool: Pool,
    settings: Settings,
    plugin: NetworkOperatorPlugin,
    devices: tuple[RdmaDevice, ...],
    opts: pulumi.ResourceOptions,
) -> NetworkOperator:
    installed = install("network-operator", plugin.operator, settings, opts)
    args = NetworkOperatorArgs(
        installed=plugin.operator.installed,
        link_layer="InfiniBand" if isinstance(pool.fabric, InfiniBand) else "Ethernet",
        devices=devices,
        **fields_of(AdapterStack, plugin),
        ready_timeout=settings.timeouts.drivers(
            len(pool.nodes), one_by_one=plugin.driver is not None and plugin.driver.auto_upgrade
        ),
    )
    # The name of the Redpaper's plugin: either offers the same resources, and a change of the one for the other is one.
    return NetworkOperator("rdma-devices", args, opts=after(opts, installed))


def _bond(pool: Pool, settings: Settings, bond: BondSettings, opts: pulumi.ResourceOptions) -> Bond:
    ports = bond.ports or pool.port_names
    args = BondArgs(
        node_selector=GPU_NODE,
        **fields_of(BondLink, bond),
        ports=ports,
        timeout=settings.timeouts.network_policies(len(pool.nodes)),
    )
    return Bond("fabric-bond", args, opts=after(opts, _agents(settings, bond.operator, opts)))


def _ports(pool: Pool, settings: Settings, fabric: InfiniBand | Roce, opts: pulumi.ResourceOptions) -> list[Ports]:
    wanted = fabric.ports if isinstance(fabric, Roce) else None
    if wanted is None:
        return []
    args = PortsArgs(
        node_selector=GPU_NODE,
        ports=pool.interfaces,
        mtu=wanted.mtu,
        timeout=settings.timeouts.network_policies(len(pool.nodes)),
    )
    return [Ports("fabric-ports", args, opts=after(opts, _agents(settings, wanted.operator, opts)))]


def _agents(settings: Settings, operator: OlmOperatorArgs, opts: pulumi.ResourceOptions) -> NmState:
    installed = install("nmstate-operator", operator, settings, opts)
    return NmState(
        "nmstate",
        NmStateArgs(installed=operator.installed, ready_timeout=settings.timeouts.agents),
        opts=after(opts, installed),
    )


def port_networks(
    settings: Settings, parts: Sequence[Part], namespaces: Mapping[str, pulumi.Resource], opts: pulumi.ResourceOptions
) -> list[OfTenant]:
    """Declare each tenant's networks over the ports; return their names, known when they are.

    They come after namespaces, and after `parts`: the operator brings their kind, and ports have their MTU.
    """
    (pool,) = settings.gpu_pools
    wanted = _port_networks(pool)
    if wanted is None:
        return []
    ports = list(zip(pool.interfaces, wanted.subnets, strict=True))
    return [
        OfTenant(
            namespace,
            PortNetwork(
                _network(namespace, interface),
                PortNetworkArgs(
                    network=_network(namespace, interface),
                    namespace=namespace,
                    # An MTU of 0 is that of the port.
                    attachment=Macvlan(master=interface),
                    ready_timeout=settings.timeouts.network,
                    addresses=AddressPool(
                        range=subnet, exclude=tuple(part for part in wanted.exclude if part.subnet_of(subnet))
                    ),
                ),
                opts=after(opts, *parts, tenant),
            ).network,
        )
        for namespace, tenant in namespaces.items()
        for interface, subnet in ports
    ]


def networks(pool: Pool, namespace: str) -> tuple[str, ...]:
    """Return the names of the secondary networks that a tenant's pods join."""
    if _port_networks(pool) is None:
        return ()
    return tuple(_network(namespace, interface) for interface in pool.interfaces)


def environment(pool: Pool, settings: Settings) -> dict[str, str]:
    """Return NCCL's variables for the fabric, beside those of the transport."""
    fabric = pool.fabric
    match fabric:
        case InfiniBand():
            return _planes(pool, settings) | ({"NCCL_COLLNET_ENABLE": "1"} if fabric.sharp else {})
        case Roce():
            return _planes(pool, settings) | {"NCCL_IB_TC": str(fabric.traffic_class)}
        case Ethernet():
            return {"NCCL_SOCKET_IFNAME": fabric.interface}


def _planes(pool: Pool, settings: Settings) -> dict[str, str]:
    """Return the variables that keep a ring on one port of all machines, whose ports are separate planes (D-3.6).

    Jobs of v1alpha2 have the Redpaper's own command lines, with which its results were measured (R-4.3-4).
    """
    several = len(pool.interfaces) > 1 and settings.version.mpi_job == MPI_JOB_V2BETA1
    return {"NCCL_CROSS_NIC": "0"} if several else {}


def _port_networks(pool: Pool) -> PortNetworks | None:
    return pool.fabric.networks if isinstance(pool.fabric, Roce) else None


def _network(namespace: str, interface: str) -> str:
    return f"{namespace}-{interface}"
