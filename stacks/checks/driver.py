"""What is wrong between the GPUs, their driver and their division by MIG."""

from collections.abc import Iterator
from itertools import chain

from components.gpu.gpu_operator import undivided, unfit
from core.apis.operators import OPERATORS
from stacks.checks import Unlisted
from stacks.checks.operator import subscriptions
from stacks.gpu_drivers import gpu_drivers
from stacks.layers.gpus import drivers_differ, gpudirect
from stacks.releases import either
from stacks.resolved.versions import version_of
from stacks.settings.fabric import RdmaFabric
from stacks.settings.gpu import GpuOperatorSettings
from stacks.settings.platform import Settings
from stacks.settings.resolved_pool import Pool
from stacks.settings.workloads import Unstarted


def problems(settings: Settings) -> Iterator[str]:
    """Yield what the GPU Operator does not support on these machines; nothing without that operator."""
    gpu = settings.gpu
    if not isinstance(gpu, GpuOperatorSettings):
        return
    yield from _unfit(settings, gpu)
    yield from _common_driver(settings, gpu)
    if gpu.operator.installed:
        yield from _of_others(settings, gpu)
    for pool in settings.gpu_pools:
        yield from _peer_memory(pool)
    brought = any(pool.driver for pool in settings.gpu_pools)
    if gpu.gdrcopy and not brought:
        yield (
            "gpu.gdrcopy true has no effect without gpu.driver, in whose pods it is loaded; give the driver, or turn "
            "it off and have the nodes' image bring it"
        )
    if gpu.gds and not brought:
        yield (
            "gpu.gds true has no effect without gpu.driver, in whose pods its module is loaded; give the driver, or "
            "turn it off and have the nodes' image bring nvidia-fs"
        )
    if gpu.gds_file_systems and not gpu.gds:
        yield f"gpu.gds_file_systems {', '.join(gpu.gds_file_systems)}: gpu.gds is off; turn it on, or leave them out"
    for name in sorted(settings.scale_classes & {*gpu.gds_file_systems}):
        yield f"gpu.gds_file_systems {name}: the stack makes this class, of Storage Scale; leave it out"
    if gpu.mig != "none" and any(map(_counts_on_all, settings.gpu_pools)) and _has_jobs(settings):
        yield (
            f"gpu.mig {gpu.mig}: the jobs of `stages` count on whole GPUs, all that the nodes have; set with "
            "`free_gpus` which GPUs of a node stay whole, or turn gpu.mig to none"
        )


def unlisted(settings: Settings) -> Iterator[Unlisted]:
    """Yield a driver that the operator's version does not list and the GPUs support.

    Nothing for a channel without a version.
    """
    gpu = settings.gpu
    if not isinstance(gpu, GpuOperatorSettings):
        return
    if not any(".driver.version " in problem for problem in _unfit(settings, gpu)):
        brought = [(pool, pool.driver.version) for pool in settings.gpu_pools if pool.driver]
        # Pools with the driver of the stack say the same of it.
        yield from dict.fromkeys(chain.from_iterable(_unlisted(pool, settings, driver) for pool, driver in brought))


def _unfit(settings: Settings, gpu: GpuOperatorSettings) -> Iterator[str]:
    pools = settings.gpu_pools
    problems_by_pool = [_problem_with_path(pool, problem) for pool in pools for problem in _of_pool(pool, gpu)]
    problems_by_pool += [f"gpu.{problem}" for problem in undivided(gpu, [pool.machine.gpu for pool in pools])]
    yield from dict.fromkeys(problems_by_pool)


def _of_pool(pool: Pool, gpu: GpuOperatorSettings) -> Iterator[str]:
    return unfit(gpu.model_copy(update={"driver": pool.driver}), pool.machine.gpu, gpudirect(pool))


def _problem_with_path(pool: Pool, problem: str) -> str:
    """Return a problem with its path; a stack's driver that a pool does not support may stay that of the others."""
    if not problem.startswith("driver."):
        return f"gpu.{problem}"
    if pool.own_driver or not pool.declared:
        return pool.driver_place.removesuffix("driver") + problem
    return f"gpu.{problem}, or give pool {pool.name} one of its own, pools.{pool.name}.driver"


def _of_others(settings: Settings, gpu: GpuOperatorSettings) -> Iterator[str]:
    """Yield drivers of pools that the owner of the operator does not get from here.

    Where the stack's driver does not support the pool's GPUs, the pool's says what they have.
    """
    for pool in settings.gpu_pools:
        if not pool.own_driver or pool.driver is None or any(unfit(gpu, pool.machine.gpu, gpudirect(pool))):
            continue
        yield (
            f"{pool.driver_place}.version {pool.driver.version} has no effect with gpu.operator.installed: "
            "who installed the operator brings the drivers; leave it out, or set gpu.operator.installed to false"
        )


def _common_driver(settings: Settings, gpu: GpuOperatorSettings) -> Iterator[str]:
    """Yield that pools have several drivers, and the operator one for all; of a channel without a version nothing."""
    version, drivers = version_of(gpu.operator), gpu_drivers()
    if not drivers_differ(settings) or gpu.operator.installed or version is None or drivers.differ_with(version):
        return
    shown = ", ".join(
        f"{pool.name} {pool.driver.version if pool.driver else 'that of the host'}" for pool in settings.gpu_pools
    )
    yield (
        f"pools: their drivers differ ({shown}), and GPU Operator {version} of gpu.operator has one for all pools "
        f"({drivers.by_pool.source}); make them the same, or use GPU Operator {drivers.by_pool.since} or later"
    )


def _unlisted(pool: Pool, settings: Settings, driver: str) -> Iterator[Unlisted]:
    drivers, architecture = gpu_drivers(), pool.machine.architecture
    for place, operator in subscriptions(settings):
        version = version_of(operator)
        if (
            operator.package != OPERATORS["gpu_operator"].package
            or version is None
            or drivers.supports(version, driver)
        ):
            continue
        fitting = [release for release in drivers.newest(version) if architecture.accepts_driver(release)]
        whole = [str(branch) for branch in drivers.active_with(version) if architecture.accepts_driver(f"{branch}.0")]
        others = [
            release
            for product in settings.version.operators
            if product.package == operator.package
            for release in product.versions
            if release in drivers.operators and drivers.supports(release, driver)
        ]
        use = ([f"use {either(fitting)}"] if fitting else []) + (
            [f"another of branch {either(whole)}"] if whole else []
        )
        use += [f"GPU Operator {either(others)} in {place}"] if others else []
        reason = f"GPU Operator {version} does not list it ({drivers.source})"
        yield Unlisted(f"{pool.driver_place}.version", driver, reason, ", or ".join(use) or "use another")


def _peer_memory(pool: Pool) -> Iterator[str]:
    machine, fabric = pool.machine, pool.fabric
    if (
        not isinstance(fabric, RdmaFabric)
        or pool.driver is None
        or machine.architecture.peer_memory != "nvidia-peermem"
    ):
        return
    if not (pool.brings_adapter_driver or fabric.plugin.host_ofed):
        yield (
            f"fabric.plugin: GPUDirect with {machine.gpu.model} needs Mellanox's own driver on the nodes; give "
            "fabric.plugin.driver (network-operator), or set host_ofed: true where the host has it"
        )


def _counts_on_all(pool: Pool) -> bool:
    """Say whether jobs may have all GPUs of a pool, which could be divided."""
    return pool.machine.gpu.mig_instances > 0 and all(node.gpus == pool.machine.gpus for node in pool.nodes)


def _has_jobs(settings: Settings) -> bool:
    return any(not isinstance(job, Unstarted) for stage in settings.stages for job in stage.workloads)
