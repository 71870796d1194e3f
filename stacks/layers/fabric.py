"""The fabric layer: what the ports between the GPU nodes become, and the variables that jobs need for them."""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi

from components.base.model import fields_of
from components.fabric.bond import Bond, BondArgs, BondLink
from components.fabric.network_operator import (
    AdapterPolicy,
    AdapterStack,
    NetworkOperator,
    NetworkOperatorArgs,
    NicNodePolicy,
    NicNodePolicyArgs,
)
from components.fabric.nmstate import NmState, NmStateArgs
from components.fabric.port_network import AddressPool, Macvlan, PortNetwork, PortNetworkArgs
from components.fabric.ports import Ports, PortsArgs
from components.fabric.rdma_device_plugin import RdmaDevice, RdmaDevicePlugin, RdmaDevicePluginArgs
from components.operators.olm_operator import OlmSubscription
from core.apis import names
from core.apis.kinds import MPI_JOB_V2BETA1
from stacks.layers.operators import OfTenant, after, install
from stacks.settings.fabric import (
    BondSettings,
    Ethernet,
    InfiniBand,
    NetworkOperatorPlugin,
    NoFabric,
    PortNetworks,
    PortSettings,
    RdmaFabric,
    Roce,
)
from stacks.settings.platform import Settings
from stacks.settings.resolved_pool import Pool, tolerations

GPU_NODE = {names.GPU_NODE: "true"}
"""Selector of the stack's own GPU nodes."""

Part = Bond | NetworkOperator | NicNodePolicy | Ports | RdmaDevicePlugin
"""A component of a fabric."""


def ready_name(part: Part) -> pulumi.Output[Any]:
    """Return what is known when jobs can use a part."""
    match part:
        case Bond():
            return part.interface
        case Ports():
            return part.policy
        case NetworkOperator() | NicNodePolicy() | RdmaDevicePlugin():
            return part.resources


def build(settings: Settings, opts: pulumi.ResourceOptions) -> list[Part]:
    """Declare the ports' resources, and what ports and bonds need of NMState."""
    pools = [pool for pool in settings.gpu_pools if pool.uses_rdma]
    resources = _resources(pools, settings, opts) if pools else []
    # A driver that is loaded takes the interfaces away and brings them back as they were at first.
    return [*resources, *_links(settings, after(opts, *resources))]


def _resources(pools: Sequence[Pool], settings: Settings, opts: pulumi.ResourceOptions) -> list[Part]:
    """Declare what makes resources of the ports: one for all pools, or a policy for each where they differ."""
    nodes = sum(len(pool.nodes) for pool in pools)
    plugin = next(pool.fabric.plugin for pool in pools if isinstance(pool.fabric, RdmaFabric))
    if isinstance(plugin, NetworkOperatorPlugin):
        return _network_operator(pools, plugin, nodes, settings, opts)
    args = RdmaDevicePluginArgs(
        devices=_devices(pools),
        image=plugin.image,
        **tolerations(RdmaDevicePluginArgs, pools),
        ready_timeout=settings.timeouts.plugins(nodes),
    )
    return [RdmaDevicePlugin("rdma-device-plugin", args, opts=opts)]


def _devices(pools: Sequence[Pool]) -> tuple[RdmaDevice, ...]:
    """Return the resources of all pools: ports with one name on several machines are one resource."""
    return tuple(
        {
            resource: RdmaDevice(resource_name=resource, hca_max=pool.fabric.hca_max, devices=(interface,))
            for pool in pools
            if isinstance(pool.fabric, RdmaFabric)
            for resource, interface in zip(pool.rdma_resources, pool.interfaces, strict=True)
        }.values()
    )


def _network_operator(
    pools: Sequence[Pool],
    plugin: NetworkOperatorPlugin,
    nodes: int,
    settings: Settings,
    opts: pulumi.ResourceOptions,
) -> list[Part]:
    installed = install("network-operator", plugin.operator, settings, opts)
    by_pool = adapters_differ(pools)
    args = NetworkOperatorArgs(
        installed=plugin.operator.installed,
        node_policies=by_pool,
        **_nodes(pools),
        **_adapters(pools, plugin, nodes, settings),
    )
    # The name of the Redpaper's plugin: either offers the same resources, and a change of the one for the other is one.
    policy = NetworkOperator("rdma-devices", args, opts=after(opts, installed))
    if not by_pool or plugin.operator.installed:
        return [policy]
    # The operator refuses a part in a NicNodePolicy while the NicClusterPolicy still has it.
    opts = after(opts, policy)
    return [policy, *(_node_policy(pool, settings, opts) for pool in pools)]


def _node_policy(pool: Pool, settings: Settings, opts: pulumi.ResourceOptions) -> NicNodePolicy:
    plugin = pool.network_operator
    assert plugin is not None  # noqa: S101 - `checks.pool` refuses plugins of several kinds
    args = NicNodePolicyArgs(
        policy_name=pool.name, node_selector=pool.selector, **_adapters([pool], plugin, len(pool.nodes), settings)
    )
    return NicNodePolicy(f"rdma-devices-{pool.name}", args, opts=opts)


def _adapters(pools: Sequence[Pool], plugin: NetworkOperatorPlugin, nodes: int, settings: Settings) -> dict[str, Any]:
    """Return what a policy has of the adapters of pools."""
    return {
        "link_layer": "InfiniBand" if any(isinstance(pool.fabric, InfiniBand) for pool in pools) else "Ethernet",
        "devices": _devices(pools),
        **fields_of(AdapterStack, plugin),
        **tolerations(AdapterPolicy, pools),
        "ready_timeout": settings.timeouts.drivers(
            nodes, one_by_one=plugin.driver is not None and plugin.driver.auto_upgrade
        ),
    }


def adapters_differ(pools: Sequence[Pool]) -> bool:
    """Say whether the Network Operator brings pools different drivers or plugins, or no driver to some of them."""
    plugins = [plugin for pool in pools if (plugin := pool.network_operator)]
    return len({(plugin.shared, plugin.driver) for plugin in plugins}) > 1


def _nodes(pools: Sequence[Pool]) -> dict[str, Any]:
    """Return the labels of the nodes of declared pools; without them the operator's own default is right."""
    names_of_pools = tuple(pool.name for pool in pools if pool.declared)
    return {"node_labels": {names.POOL: names_of_pools}} if names_of_pools else {}


def _links(settings: Settings, opts: pulumi.ResourceOptions) -> list[Part]:
    """Declare the bonds and the configuration of ports, after the one NMState that carries them out."""
    configured = {pool: link for pool in settings.gpu_pools if (link := _link(pool))}
    if not configured:
        return []
    opts = after(opts, _agents([*configured], next(iter(configured.values())).operator, settings, opts))
    return [_configured(pool, link, settings, opts) for pool, link in configured.items()]


def _link(pool: Pool) -> BondSettings | PortSettings | None:
    match pool.fabric:
        case Ethernet(bond=bond):
            return bond
        case Roce(ports=ports):
            return ports
        case _:
            return None


def _configured(
    pool: Pool, link: BondSettings | PortSettings, settings: Settings, opts: pulumi.ResourceOptions
) -> Part:
    timeout = settings.timeouts.network_policies(len(pool.nodes))
    if isinstance(link, BondSettings):
        bond = BondArgs(
            policy_name=pool.part("fabric-bond"),
            node_selector=pool.selector,
            **fields_of(BondLink, link),
            ports=link.ports or pool.port_names,
            timeout=timeout,
        )
        return Bond(pool.part("fabric-bond"), bond, opts=opts)
    ports = PortsArgs(
        policy_name=pool.part("fabric-ports"),
        node_selector=pool.selector,
        ports=pool.interfaces,
        mtu=link.mtu,
        timeout=timeout,
    )
    return Ports(pool.part("fabric-ports"), ports, opts=opts)


def _agents(
    pools: Sequence[Pool], operator: OlmSubscription, settings: Settings, opts: pulumi.ResourceOptions
) -> NmState:
    installed = install("nmstate-operator", operator, settings, opts)
    args = NmStateArgs(
        installed=operator.installed, ready_timeout=settings.timeouts.operator, **tolerations(NmStateArgs, pools)
    )
    return NmState("nmstate", args, opts=after(opts, installed))


def port_networks(
    settings: Settings, parts: Sequence[Part], namespaces: Mapping[str, pulumi.Resource], opts: pulumi.ResourceOptions
) -> list[OfTenant]:
    """Declare each tenant's networks over the ports; return their names, known when they are.

    They come after namespaces, and after `parts`: the operator brings their kind, and ports have their MTU.
    """
    return [
        OfTenant(
            namespace,
            PortNetwork(
                _network(pool, namespace, interface),
                PortNetworkArgs(
                    network=_network(pool, namespace, interface),
                    namespace=namespace,
                    # An MTU of 0 is that of the port.
                    attachment=Macvlan(master=interface),
                    ready_timeout=settings.timeouts.object,
                    addresses=AddressPool(
                        range=subnet, exclude=tuple(part for part in networks.exclude if part.subnet_of(subnet))
                    ),
                ),
                opts=after(opts, *parts, tenant),
            ).network,
        )
        for namespace, tenant in namespaces.items()
        for pool in settings.gpu_pools
        if (networks := _port_networks(pool))
        for interface, subnet in zip(pool.interfaces, networks.subnets, strict=True)
    ]


def networks(pool: Pool, namespace: str) -> tuple[str, ...]:
    """Return the names of the secondary networks that a tenant's pods join."""
    if _port_networks(pool) is None:
        return ()
    return tuple(_network(pool, namespace, interface) for interface in pool.interfaces)


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
        case NoFabric():
            return {}


def _planes(pool: Pool, settings: Settings) -> dict[str, str]:
    """Return the variables that keep a ring on one port of all machines, whose ports are separate planes.

    Jobs of v1alpha2 have the Redpaper's own command lines, with which its results were measured.
    """
    several = len(pool.interfaces) > 1 and settings.version.mpi_job == MPI_JOB_V2BETA1
    return {"NCCL_CROSS_NIC": "0"} if several else {}


def _port_networks(pool: Pool) -> PortNetworks | None:
    return pool.fabric.networks if isinstance(pool.fabric, Roce) else None


def _network(pool: Pool, namespace: str, interface: str) -> str:
    return f"{namespace}-{pool.name}-{interface}" if pool.declared else f"{namespace}-{interface}"
