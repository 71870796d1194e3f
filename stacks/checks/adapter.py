"""What pools may differ in between their adapters' drivers and plugins."""

from collections.abc import Iterator, Sequence

from components.fabric.nic_node_policy import MOST_LENGTH
from stacks.checks.version import version_of
from stacks.layers.fabric import adapters_differ
from stacks.settings.fabric import DaemonSetPlugin, NetworkOperatorPlugin, Plugin, RdmaFabric
from stacks.settings.platform import Settings
from stacks.settings.resolved_pool import Pool

SINCE = (26, 4)
"""Version of the Network Operator that brought NicNodePolicies."""
SOURCE = "Mellanox/network-operator, docs/heterogeneous-cluster-support.md"


def without_effect(settings: Settings) -> Iterator[str]:
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
    if version is None or tuple(map(int, version.split("."))) >= SINCE:
        return
    drivers = {pool.name: plugin.driver.version if plugin.driver else "none" for pool, plugin in plugins.items()}
    versions = {pool.name: plugin.shared.version for pool, plugin in plugins.items()}
    field, values = ("drivers", drivers) if len({*drivers.values()}) > 1 else ("plugins", versions)
    shown = ", ".join(f"{name} {value}" for name, value in values.items())
    yield (
        f"pools: their adapter {field} differ ({shown}), and Network Operator {version} of fabric.plugin.operator has "
        f"one NicClusterPolicy for all ({SOURCE}); make them the same, or use Network Operator "
        f"{'.'.join(map(str, SINCE))} or later"
    )
