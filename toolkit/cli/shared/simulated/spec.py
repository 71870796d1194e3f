"""The simulated cluster that a stack's settings describe."""

from components.storage.storage_class import Cache
from core.datasets.source import DiscoverSource
from core.hardware import profiles
from stacks.settings.cluster import NodeSettings
from stacks.settings.platform import Settings
from stacks.settings.resolved_pool import Pool
from stacks.settings.trainer import UpstreamTrainer
from toolkit.cli.shared.simulated import backend
from toolkit.cli.shared.stack import Stack
from toolkit.simulator.cluster import ClusterSpec, NodeSpec
from toolkit.simulator.spec import ScaleGui


def of(stack: Stack) -> ClusterSpec:
    """Return the simulated cluster of a stack; raise Problem where none can be."""
    stack.require_served()
    settings = stack.settings
    release, trainer = settings.version, isinstance(settings.trainer, UpstreamTrainer)
    controllers = {"kueue": settings.queues, "jobset": settings.operators.jobset, "trainer": trainer}
    return ClusterSpec.model_validate(
        {
            "name": stack.home.name,
            "nodes": nodes(settings),
            "release": release.simulated_as,
            "kubernetes": release.simulated_kubernetes,
            "openshift": settings.release,
            "hosted": settings.cluster.hosted,
            "storage_classes": settings.foreign_classes,
            "storage_scale": settings.scale_pods is not None,
            "job_controllers": tuple(name for name, used in controllers.items() if used),
            "suite": settings.suite is not None,
            "scale_gui": _scale_gui(settings),
            "discover": _discover(settings),
            "object_store": backend.recorded(stack.home) == backend.SIMULATED,
            **({} if release.mpi_job is None else {"mpi": release.mpi_job.version}),
        }
    )


def nodes(settings: Settings) -> tuple[NodeSpec, ...]:
    """Return the nodes of settings, with their machines and the names of their ports."""
    return tuple(_node(node, settings.pool_with(node.name), settings) for node in settings.nodes)


def _node(node: NodeSettings, pool: Pool | None, settings: Settings) -> NodeSpec:
    if pool is None:
        return NodeSpec(name=node.name, roles=node.roles)
    return NodeSpec(
        name=node.name,
        roles=node.roles,
        profile=node.machine,
        machine=profiles.to_json(node.hardware) if settings.machines else None,
        ports=pool.machine.hcas if pool.machine.hcas != node.hardware.hcas else (),
        host_driver=pool.host_driver,
        taints=tuple(taint.manifest() for taint in pool.taints),
    )


def _discover(settings: Settings) -> bool:
    sets = (data_set for tenant in settings.tenants for data_set in tenant.data_sets)
    return any(isinstance(data_set.source, DiscoverSource) for data_set in sets)


def _scale_gui(settings: Settings) -> ScaleGui | None:
    """Return the GUI of the first cluster that has caches by the storage classes of a stack; None without caches."""
    caches = (
        [storage_class for storage_class in settings.storage.classes if isinstance(storage_class.volumes, Cache)]
        if settings.storage
        else []
    )
    if not caches:
        return None
    cluster = caches[0].cluster_id
    own = sorted({cache.file_system for cache in caches if cache.cluster_id == cluster})
    return ScaleGui(cluster_id=cluster, file_systems=tuple(own))
