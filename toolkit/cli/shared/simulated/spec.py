"""The simulated cluster that a stack's settings describe, and how the one that exists fits it or gets there."""

from components.storage.storage_class import Cache
from core.datasets.choice import DiscoverSource
from core.hardware import profiles
from stacks.checks.allocation import RACK
from stacks.resolved.versions import version_of
from stacks.settings.cluster import NodeSettings
from stacks.settings.gpu import GpuOperatorSettings
from stacks.settings.operators import UpstreamTrainer
from stacks.settings.platform import Settings
from stacks.settings.resolved_pool import Pool
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.simulated import backend
from toolkit.cli.shared.stack import Stack
from toolkit.engine.tools.versions import GPU_OPERATOR, KUBERNETES
from toolkit.simulator import state as states
from toolkit.simulator.cluster import NodeSpec
from toolkit.simulator.home import Layout
from toolkit.simulator.state import ClusterSpec, ScaleGui

_PAGE = "docs/guide/upgrade.md"


def of(stack: Stack) -> ClusterSpec:
    """Return the simulated cluster of a stack; raise Problem where none can be."""
    stack.require_served()
    settings = stack.settings
    release, trainer = settings.version, isinstance(settings.trainer, UpstreamTrainer)
    operators = settings.operators
    controllers = {
        "kueue": settings.queues,
        "jobset": operators.jobset,
        "trainer": trainer,
        "cert_manager": operators.cert_manager,
    }
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
            "gpu_operator": _has_real_gpu_operator(settings),
            "compute_domains": isinstance(settings.gpu, GpuOperatorSettings)
            and settings.gpu.compute_domains is not None,
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
        nvlink_domain=_rack(node, pool),
    )


def _rack(node: NodeSettings, pool: Pool) -> str | None:
    """Return what joins a node's GPUs to those of others by NVLink: its rack, or the one of all nodes of the pool."""
    if pool.machine.nvlink.machines == 1:
        return None
    return node.topology.get(RACK, pool.name)


def _has_real_gpu_operator(settings: Settings) -> bool:
    """Return whether a stack has a GPU Operator of the version that there is a real one of."""
    gpu = settings.gpu
    return isinstance(gpu, GpuOperatorSettings) and version_of(gpu.operator) == GPU_OPERATOR.rpartition(".")[0]


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


def fitting(stack: Stack) -> ClusterSpec:
    """Return the simulated cluster that a stack wants, or the one that has been raised to that.

    Raises Problem when the cluster is there and was created for another release: what admits its pods and runs its jobs
    would change under what is on it, and its API server.
    """
    needed, made = of(stack), _created(stack)
    if made is None:
        return needed
    if _same_generation(made, kept := _kept(made, needed)):
        return kept
    remedy = (
        f"`./hpc sim clean --name {stack.cluster_name}` removes it with all that is on it, or work on another cluster "
        "(`--name`)."
    )
    if _leads_up(made, needed):
        remedy = (
            f"`./hpc sim up {stack.options} --raise` brings it there with all that is on it: see {_PAGE}, "
            f"there are steps before that. Else {remedy}"
        )
    raise Problem(_difference(stack, made, needed), remedy)


def raised(stack: Stack) -> tuple[ClusterSpec, str]:
    """Return the stack's simulated cluster at the stack's release, and a line about what becomes of it.

    Raises Problem where there is no way up: no cluster, one of that release already, or one of a later release.
    """
    needed, made = of(stack), _created(stack)
    if made is None:
        raise Problem(
            f"there is no simulated cluster {stack.cluster_name} to raise",
            f"`./hpc up {stack.options}` creates one of release {stack.settings.release}.",
        )
    if not _leads_up(made, needed):
        raise Problem(
            f"{_difference(stack, made, needed)}: that is not an upgrade",
            "A cluster can be raised from release 4.4, or to a later Kubernetes, when its stack has changed to such a "
            f"release: {_PAGE}.",
        )
    gets, stay = "API server, controllers and scheduler of that version", "objects, data, port and Pulumi state stay"
    if made.release != (kept := _kept(made, needed)).release:
        gets, stay = "SCCs, roles and MPI operator of that release", f"{stay}, the old SCC restricted too"
    return kept, (
        f"raising simulated cluster {stack.cluster_name} from {_generation(made)} to {_generation(needed)}: it gets "
        f"{gets}; {stay}"
    )


def kubernetes_note(stack: Stack) -> str:
    """Return a line that names the simulated Kubernetes where that of the stack's release is another; else nothing."""
    own, served = stack.settings.version.kubernetes, of(stack).kubernetes
    if served == own:
        return ""
    return f"it serves Kubernetes {KUBERNETES[served]} and its APIs; OpenShift {stack.settings.release} has {own}"


def _created(stack: Stack) -> ClusterSpec | None:
    if not stack.simulated and stack.chosen is None:
        return None
    state = states.load(Layout(stack.home))
    return state.spec if state else None


def _kept(made: ClusterSpec, needed: ClusterSpec) -> ClusterSpec:
    """Return a cluster of today as what it was created as: OpenShift leaves SCCs that are there as they are."""
    old = made.release != "current" and needed.release == "current"
    return needed.model_copy(update={"release": "upgraded"}) if old else needed


def _leads_up(made: ClusterSpec, needed: ClusterSpec) -> bool:
    newer, former = _minor(needed), _minor(made)
    if made.release == "4.4" and needed.release == "current":
        return newer >= former
    kept = _kept(made, needed)
    return (made.release, made.mpi) == (kept.release, kept.mpi) and newer > former


def _minor(spec: ClusterSpec) -> tuple[int, ...]:
    return tuple(map(int, spec.kubernetes.split(".")))


def _same_generation(spec: ClusterSpec, other: ClusterSpec) -> bool:
    return (spec.release, spec.mpi, spec.kubernetes) == (other.release, other.mpi, other.kubernetes)


def _difference(stack: Stack, made: ClusterSpec, needed: ClusterSpec) -> str:
    return (
        f"the simulated cluster {stack.cluster_name} was created with {_generation(made)}; stack {stack.name} (release "
        f"{stack.settings.release}) needs {_generation(needed)}"
    )


def _generation(spec: ClusterSpec) -> str:
    return f"the constraints of release {spec.release}, MPIJob {spec.mpi} and Kubernetes {spec.kubernetes}"
