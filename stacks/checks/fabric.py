"""What is wrong between the fabric, the machines' ports, their drivers and plugins, and what finds them."""

from collections.abc import Iterator, Sequence

from components.fabric.bond import unfit
from components.fabric.network_operator import MOST_LENGTH
from stacks.layers.fabric import adapters_differ
from stacks.resolved.versions import version_of
from stacks.settings.fabric import (
    DaemonSetPlugin,
    Ethernet,
    InfiniBand,
    NetworkOperatorPlugin,
    NoFabric,
    Plugin,
    RdmaFabric,
    Roce,
)
from stacks.settings.gpu import DevicePluginSettings
from stacks.settings.platform import Settings
from stacks.settings.resolved_pool import Pool
from stacks.settings.workloads import RdmaTestWorkload

_PODS_OF_A_TEST = 2  # server and client may land on one node


def ports(settings: Settings) -> Iterator[str]:
    """Yield what is wrong between the fabric and the ports of each pool."""
    for pool in settings.gpu_pools:
        yield from _ports(pool, hosted=settings.cluster.hosted)


def _ports(pool: Pool, *, hosted: bool) -> Iterator[str]:
    profile, fabric = pool.machine, pool.fabric
    rails = bool(pool.tuning and pool.tuning.rail_names)
    if rails and not (profile.hcas and all(hca.pci for hca in profile.hcas)):
        yield (
            f"tuning.rail_names: no PCI addresses of the ports of {profile.name} are known; turn it off, or give "
            "them in a machine file of your own (`machines`)"
        )
    if isinstance(fabric, Ethernet):
        if fabric.bond and not fabric.bond.ports and not profile.hcas:
            yield f"fabric.bond.ports: no document names the ports of {profile.name}; name them here or in `ports`"
        return
    if isinstance(fabric, NoFabric):
        return
    if isinstance(fabric, InfiniBand) and profile.link_layer == "Ethernet":
        yield (
            f"fabric: infiniband, and the ports of {profile.name} ({profile.ports.adapter}, {profile.ports.rate_gbps} "
            "Gb/s) are Ethernet's; use roce or ethernet"
        )
    elif not profile.hcas:
        yield (
            f"fabric: {fabric.kind}, and no document names the {profile.ports.count} ports of {profile.name}; "
            "name them in `ports`, or use ethernet"
        )
    elif not rails and (unknown := [hca.name for hca in profile.hcas if hca.netdev is None]):
        yield (
            f"fabric: {fabric.kind}, and hcas.netdev of {', '.join(unknown)} of {profile.name} is not known; "
            "name the ports in `ports`, or in a machine file of your own (`machines`)"
        )
    elif isinstance(fabric, Roce) and profile.link_layer == "InfiniBand" and not (rails or pool.named_ports):
        yield (
            f"fabric: roce, and {profile.hcas[0].netdev} of {profile.name} is the name of a port in InfiniBand mode; "
            "write `link_layer: Ethernet` in a machine file of your own (`machines`) where the ports are Ethernet's, "
            "or their names there as `ethernet`; or name them in `ports`"
            + ("" if hosted else ", or turn tuning.rail_names on")
        )


def shares(settings: Settings) -> Iterator[str]:
    """Yield a problem when more pods of one node may request a port than may share it."""
    for pool in settings.gpu_pools:
        if isinstance(pool.fabric, RdmaFabric):
            yield from _shares(pool, pool.fabric, settings)


def _shares(pool: Pool, fabric: InfiniBand | Roce, settings: Settings) -> Iterator[str]:
    tests = sum(isinstance(job, RdmaTestWorkload) for stage in settings.stages for job in stage.workloads)
    needed = pool.most_pods + _PODS_OF_A_TEST * tests
    if fabric.hca_max < needed:
        beside = f" and {_PODS_OF_A_TEST * tests} of RDMA tests" if tests else ""
        yield (
            f"fabric.hca_max {fabric.hca_max} is less than the {pool.most_pods} pods with GPUs{beside} "
            f"that a node can hold; give {needed} or more"
        )


def enablement(settings: Settings) -> Iterator[str]:
    """Yield what is missing that plugins and networks need."""
    for pool in settings.gpu_pools:
        yield from _enablement(pool, settings)


def _enablement(pool: Pool, settings: Settings) -> Iterator[str]:
    gpu, fabric = pool.gpu, pool.fabric
    bond = isinstance(fabric, Ethernet) and fabric.bond is not None
    selects = bond or (isinstance(fabric, RdmaFabric) and isinstance(fabric.plugin, NetworkOperatorPlugin))
    if settings.node_feature_discovery is None and (selects or not isinstance(gpu, DevicePluginSettings)):
        yield (
            "node_feature_discovery is missing, and the operators of GPUs and adapters and bonds need the node labels "
            "that it sets; give it"
        )
    if isinstance(fabric, Roce) and len(fabric.networks.subnets) != pool.machine.ports.count:
        yield (
            f"fabric.networks.subnets: {len(fabric.networks.subnets)} are given for {pool.machine.ports.count} "
            f"ports of {pool.machine.name}; give one each"
        )


def bonds(settings: Settings) -> Iterator[str]:
    """Yield ports that are given twice, or that are the bond."""
    for pool in settings.gpu_pools:
        bond = pool.fabric.bond if isinstance(pool.fabric, Ethernet) else None
        if bond:
            yield from (f"fabric.bond.{problem}" for problem in unfit(bond.interface, bond.ports or pool.port_names))


_NODE_POLICIES_SINCE = (26, 4)
"""Version of the Network Operator that brought NicNodePolicies."""
_NODE_POLICIES_SOURCE = "Mellanox/network-operator, docs/heterogeneous-cluster-support.md"


def drivers_without_effect(settings: Settings) -> Iterator[str]:
    """Yield pools with an adapter driver that nothing brings."""
    for pool in settings.gpu_pools:
        driver = settings.pools[pool.name].adapter_driver if pool.declared else None
        if driver and pool.network_operator is None:
            why = f"fabric {pool.fabric.kind} has no RDMA"
            if isinstance(pool.fabric, RdmaFabric):
                why = f"fabric.plugin {pool.fabric.plugin.kind} brings no driver"
            yield (
                f"pools.{pool.name}.adapter_driver {driver.version} has no effect: {why}; leave it out, or give the "
                "pool a fabric whose plugin is network-operator"
            )


def between(pools: Sequence[Pool]) -> Iterator[str]:
    """Yield in what the plugins of pools differ and may not."""
    fabrics = {pool: pool.fabric for pool in pools if isinstance(pool.fabric, RdmaFabric)}
    if not fabrics:
        return
    (first, fabric), *others = fabrics.items()
    for pool, other in others:
        if _shared_fields(other.plugin) != _shared_fields(fabric.plugin):
            yield (
                f"pools.{pool.name}.fabric.plugin differs from that of pool {first.name}, and the cluster has one "
                f"{'operator' if other.plugin.kind == fabric.plugin.kind else 'kind'} for all; make them the same"
            )
    if isinstance(fabric.plugin, DaemonSetPlugin) and len(fabrics) < len(pools):
        without = next(pool.name for pool in pools if pool not in fabrics)
        yield (
            f"pools.{first.name}.fabric.plugin: kind daemon-set runs on all GPU nodes, and pool {without} has no RDMA; "
            "use kind network-operator"
        )
    if adapters_differ(pools):
        yield from _by_pool([pool for pool in pools if pool.network_operator])


def _shared_fields(plugin: Plugin) -> object:
    """Return what the plugins of all pools have the same."""
    return plugin.operator if isinstance(plugin, NetworkOperatorPlugin) else plugin


def _by_pool(pools: Sequence[Pool]) -> Iterator[str]:
    plugins = {pool: plugin for pool in pools if (plugin := pool.network_operator)}
    operator = next(iter(plugins.values())).operator
    if operator.installed:
        return
    for pool in plugins:
        if len(pool.name) > MOST_LENGTH:
            yield (
                f"pools.{pool.name}: a NicNodePolicy is called like it, and the Network Operator accepts "
                f"{MOST_LENGTH} characters, not {len(pool.name)}; shorten the name, or make the pools' adapter drivers "
                "the same"
            )
    version = version_of(operator)
    # A channel without a version may have it.
    if version is None or tuple(map(int, version.split("."))) >= _NODE_POLICIES_SINCE:
        return
    drivers = {pool.name: plugin.driver.version if plugin.driver else "none" for pool, plugin in plugins.items()}
    versions = {pool.name: plugin.shared.version for pool, plugin in plugins.items()}
    field, values = ("drivers", drivers) if len({*drivers.values()}) > 1 else ("plugins", versions)
    shown = ", ".join(f"{name} {value}" for name, value in values.items())
    yield (
        f"pools: their adapter {field} differ ({shown}), and Network Operator {version} of fabric.plugin.operator has "
        f"one NicClusterPolicy for all ({_NODE_POLICIES_SOURCE}); make them the same, or use Network Operator "
        f"{'.'.join(map(str, _NODE_POLICIES_SINCE))} or later"
    )
