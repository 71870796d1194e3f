"""What is wrong between the GPU nodes, their pool and what they are tuned to."""

from collections.abc import Iterator

from components.nodes.node_pool import BUILT_IN
from core.hardware import topology
from core.hardware.placement import share
from core.hardware.profiles import Profile
from stacks.settings.platform import Settings
from stacks.settings.pools import KubeletSettings
from stacks.settings.resolved_pool import Pool

_MASTER, _WORKER = BUILT_IN
_MASTERS, _WORKERS = 3, 2
"""What an OpenShift cluster of several nodes has at least."""


def problems(settings: Settings) -> Iterator[str]:
    """Yield what no pool's nodes, or no pods on them, can be given."""
    yield from _roles(settings)
    yield from _hosted(settings)
    for pool in settings.gpu_pools:
        kubelet = pool.tuning.kubelet if pool.tuning else None
        refused = list(_kubelet(pool.machine, kubelet)) if kubelet else []
        # What jobs have left follows from what the kubelet reserves.
        yield from refused or _reserve(pool, kubelet.reserved if kubelet else 0)


def _hosted(settings: Settings) -> Iterator[str]:
    if not settings.cluster.hosted:
        return
    needs = {
        "tuning": any(pool.tuning for pool in settings.gpu_pools),
        "machine_config_pool": any(pool.own_machine_config_pool for pool in settings.gpu_pools),
        "storage": settings.scale_pods,
    }
    for field, value in needs.items():
        if value:
            yield (
                f"{field} needs MachineConfigs, which a cluster with a hosted control plane (cluster.hosted) does not "
                "have: configure its NodePools, and leave it out"
            )


def _roles(settings: Settings) -> Iterator[str]:
    for pool in settings.gpu_pools:
        yield from _roles_of(pool, settings)


def _roles_of(gpus: Pool, settings: Settings) -> Iterator[str]:
    pool = gpus.machine_config_pool
    for node in gpus.nodes:
        if _WORKER not in node.roles:
            yield f"nodes: roles {', '.join(node.roles)} of {node.name} keep jobs away from its GPUs; add {_WORKER}"
            return
    masters = [node.name for node in gpus.nodes if _MASTER in node.roles]
    if pool == _MASTER and len(masters) < len(gpus.nodes):
        yield (
            f"machine_config_pool {_MASTER} has no machine that is a worker only, as {gpus.nodes[-1].name}; "
            f"give {_WORKER}, or the GPU nodes a pool of their own, e.g. gpu"
        )
    elif pool != _MASTER and masters and settings.version.ignition_version:
        yield (
            f"machine_config_pool {pool}: {masters[0]} is a {_MASTER}, too, and gets its configuration from pool "
            f"{_MASTER} alone; leave that role out, or give {_MASTER}"
        )
    plain = (node for node in settings.nodes if not node.machine)
    others = [node.name for node in plain if settings.machine_config_pool_of(node) == pool]
    if gpus.tuning and others:
        yield (
            f"machine_config_pool {pool} has {others[0]} in it, too, which is not tuned like a GPU node; give the "
            "GPU nodes a pool of their own, e.g. gpu"
        )


def _kubelet(machine: Profile, kubelet: KubeletSettings) -> Iterator[str]:
    if not machine.numa:
        yield f"tuning.kubelet: no document gives the NUMA nodes of {machine.name}; set it to null"
        return
    try:
        topology.reserved_cpus(machine, kubelet.reserved)
    except ValueError as error:
        yield f"tuning.kubelet.reserved {kubelet.reserved}: {error}"


def _reserve(pool: Pool, kubelet_reserved: int) -> Iterator[str]:
    """Yield why pods get no share of a GPU node, or one that is never free."""
    reserve, minimum = pool.reserved, topology.least_reserve(pool.machine, kubelet_reserved)
    for field, unit in (("cpus", "CPUs"), ("memory_gib", "GiB")):
        reserved, needed = getattr(reserve, field), getattr(minimum, field)
        if reserved < needed:
            yield (
                f"reserve.{field} {reserved}: system and DaemonSets of {pool.machine.name} need {needed} {unit}, and "
                "pods with all its GPUs would never fit; raise it, or leave `reserve` out"
            )
    try:
        share(pool.machine, 1, reserve)
    except ValueError as error:
        yield f"reserve: {error}"


def warnings(settings: Settings) -> Iterator[str]:
    """Yield what a cluster lacks nodes for, where the settings list its masters: else they may be a part of it."""
    masters, workers = ([node for node in settings.nodes if role in node.roles] for role in BUILT_IN)
    if not masters:
        return
    if len(masters) < _MASTERS:
        yield (
            f"nodes: {len(masters)} of the listed nodes are masters, and etcd needs {_MASTERS} to survive the loss of "
            "one; list all, or add some"
        )
    if len(workers) < _WORKERS:
        yield (
            f"nodes: {len(workers)} of the listed nodes are workers, and ingress and monitoring need {_WORKERS} to "
            "survive the loss of one; list all, or add some"
        )
