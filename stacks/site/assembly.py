"""The facts that files around the cluster are written from, as the settings have them."""

from collections.abc import Iterable

from stacks.resolved import topology
from stacks.settings.fabric import Ethernet, NetworkOperatorPlugin, NoFabric, RdmaFabric, Roce
from stacks.settings.gpu import SpecialResourceSettings
from stacks.settings.origins import SettingsError
from stacks.settings.platform import Settings
from stacks.settings.resolved_pool import Pool
from stacks.settings.site import SiteSettings
from stacks.settings.site.mirror import NOTHING, Content
from stacks.settings.storage import HostClientStorage
from stacks.site.site import BatchJob, Host, HostFacts, PodJob, ScaleFacts, Site


def of(settings: Settings, stack: str, content: Content = NOTHING, jobs: Iterable[BatchJob | PodJob] = ()) -> Site:
    """Return what `./hpc site` writes files from; `content` is what the manifests name, and `jobs` the workloads."""
    pool = of_fabric(settings)
    return Site(
        stack=stack,
        release=settings.release,
        systems={str(name): minors for name, minors in settings.version.systems.items()},
        fabric=pool.fabric.kind,
        hosts=tuple(
            Host(
                name=node.name,
                roles=node.roles,
                # With the names of ports that the stack gives, and in the mode of its fabric.
                machine=own.machine if (own := settings.pool_with(node.name)) else None,
                scale_client=node.scale_client,
            )
            for node in settings.nodes
        ),
        on_hosts=_on_hosts(pool, settings),
        traffic_class=pool.fabric.traffic_class if isinstance(pool.fabric, Roce) else None,
        bonded=bonded(pool),
        one_switch=topology.planned_switch(pool, settings),
        image_mirrors=settings.version.image_mirrors,
        content=content,
        jobs=tuple(jobs),
        scale=_scale(pool, settings),
        settings=settings.site or SiteSettings(),
    )


def of_fabric(settings: Settings) -> Pool:
    """Return the pool whose fabric the hosts and switches are configured for; SettingsError where there are several."""
    joined = [pool for pool in settings.gpu_pools if not isinstance(pool.fabric, NoFabric)]
    if len(joined) > 1:
        raise SettingsError(
            "files for hosts and switches are written for one fabric, and this stack has pools "
            f"{' and '.join(pool.name for pool in joined)} with a fabric each"
        )
    return (joined or settings.gpu_pools)[0]


def _scale(pool: Pool, settings: Settings) -> ScaleFacts | None:
    storage = settings.storage
    if not isinstance(storage, HostClientStorage):
        return None
    others = [cluster.gui_host for cluster in storage.clusters if cluster.id != storage.own_cluster]
    return ScaleFacts(
        cluster_id=storage.own_cluster,
        file_system=storage.file_system.name,
        owner_gui=others[0] if len(others) == 1 else None,
        reserved_gib=pool.reserved.memory_gib,
    )


def _on_hosts(pool: Pool, settings: Settings) -> HostFacts:
    by_recipe = isinstance(pool.gpu, SpecialResourceSettings)
    plugin = pool.fabric.plugin if isinstance(pool.fabric, RdmaFabric) else None
    return HostFacts(
        driver="host" if pool.host_driver else "special-resource-operator" if by_recipe else "gpu-operator",
        pool=settings.machine_config_pool_of(pool.nodes[0]),
        interfaces=pool.port_names,
        network_operator=plugin.operator.namespace if isinstance(plugin, NetworkOperatorPlugin) else None,
        memlock_by_host=pool.uses_rdma and settings.version.ignition_version is None,
    )


def bonded(pool: Pool) -> tuple[str, ...]:
    """Return the HCAs of each GPU node that are one link by LACP, in the order of the rails; none without a bond."""
    bond = pool.fabric.bond if isinstance(pool.fabric, Ethernet) else None
    if bond is None:
        return ()
    hcas, names = pool.machine.hcas, pool.port_names
    interfaces = names if len(names) == len(hcas) else [hca.netdev for hca in hcas]
    return tuple(
        hca.name for hca, name in zip(hcas, interfaces, strict=True) if bond.ports is None or name in bond.ports
    )
