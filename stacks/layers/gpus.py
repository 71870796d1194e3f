"""The GPU layer: one of the ways in which nodes get nvidia.com/gpu."""

from collections.abc import Sequence
from typing import Any

import pulumi

from components.base.model import fields_of
from components.gpu import dcgm_exporter
from components.gpu.compute_domain_driver import ComputeDomainDriver, ComputeDomainDriverArgs, ComputeDomains
from components.gpu.dcgm_exporter import DcgmExporter, DcgmExporterArgs, DcgmExporterImage
from components.gpu.gpu_cluster import GpuCluster, GpuClusterArgs
from components.gpu.gpu_device_plugin import GpuDevicePlugin, GpuDevicePluginArgs
from components.gpu.gpu_operator import GpuDirect, GpuDriver, GpuKind, GpuOperator, GpuOperatorArgs, GpuStack
from components.gpu.nvidia_driver import NvidiaDriver, NvidiaDriverArgs
from components.gpu.special_resource import SpecialResource, SpecialResourceArgs
from components.monitoring.alerts import GpuThresholds, Limits, Thresholds
from components.monitoring.gpu_monitoring import EXPORTER_LIST, GpuMonitoring, GpuMonitoringArgs
from core.apis import names
from stacks.layers.fabric import GPU_NODE
from stacks.layers.operators import after, install
from stacks.settings.fabric import Roce
from stacks.settings.gpu import (
    DevicePluginSettings,
    ExporterSettings,
    GpuOperatorSettings,
    GpuSettings,
    MonitoringSettings,
    SpecialResourceSettings,
)
from stacks.settings.platform import Settings
from stacks.settings.resolved_pool import Pool, tolerations

GPU_PRESENT = {names.GPU_PRESENT: "true"}
"""Label that the GPU Operator gives nodes with GPUs."""
GPU_FOUND = {"feature.node.kubernetes.io/pci-10de.present": "true"}
"""Label that node feature discovery gives machines with NVIDIA's devices."""


def build(settings: Settings, opts: pulumi.ResourceOptions) -> pulumi.Output[str]:
    """Declare what gives nodes their GPUs; return a name that is known when it is there."""
    gpu: GpuSettings = settings.gpu
    match gpu:
        case SpecialResourceSettings():
            return _special_resource(settings, gpu, opts)
        case GpuOperatorSettings():
            return _gpu_operator(settings, gpu, opts)
        case DevicePluginSettings():
            timeout = settings.timeouts.plugins(len(settings.gpu_nodes))
            args = GpuDevicePluginArgs(
                image=gpu.image, ready_timeout=timeout, **tolerations(GpuDevicePluginArgs, settings.gpu_pools)
            )
            plugin = GpuDevicePlugin("gpus", args, opts=opts)
            if gpu.exporter:
                _exporter(settings, gpu.exporter, args.node_selector, timeout, after(opts, plugin))
            return plugin.resource


def _special_resource(
    settings: Settings, gpu: SpecialResourceSettings, opts: pulumi.ResourceOptions
) -> pulumi.Output[str]:
    kind = settings.version.special_resource
    assert kind is not None  # noqa: S101 - releases without it refuse this enablement
    installed = install("gpu-operator", gpu.operator, settings, opts)
    args = SpecialResourceArgs(kind=kind, namespace=gpu.operator.namespace)
    special = SpecialResource("gpus", args, opts=after(opts, installed))
    if gpu.exporter:
        # It starts where the recipe has loaded the driver, on the stack's own nodes.
        timeout = settings.timeouts.drivers(len(settings.gpu_nodes), one_by_one=False)
        _exporter(settings, gpu.exporter, {**GPU_FOUND, **GPU_NODE}, timeout, after(opts, special))
    return special.recipe


def _exporter(
    settings: Settings,
    exporter_settings: ExporterSettings,
    nodes: dict[str, str],
    timeout: int,
    opts: pulumi.ResourceOptions,
) -> None:
    args = DcgmExporterArgs(
        **fields_of(DcgmExporterImage, exporter_settings),
        node_selector=nodes,
        # The type of pods with GPUs may not connect to the kubelet; no confined type of the shipped policy may.
        selinux_type="spc_t" if settings.version.pod_resources else "nvidia_container_t",
        pod_resources=settings.version.pod_resources,
        service_monitor=settings.version.service_monitors,
        **tolerations(DcgmExporterArgs, settings.gpu_pools),
        ready_timeout=timeout,
        protect=settings.protect,
    )
    exporter = DcgmExporter("gpu-exporter", args, opts=opts)
    if settings.version.service_monitors:
        GpuMonitoring("gpu-monitoring", exporter_monitoring(settings, exporter_settings), opts=after(opts, exporter))


def _gpu_operator(settings: Settings, gpu: GpuOperatorSettings, opts: pulumi.ResourceOptions) -> pulumi.Output[str]:
    installed = install("gpu-operator", gpu.operator, settings, opts, cluster_monitoring=gpu.monitoring is not None)
    if gpu.monitoring:
        GpuMonitoring("gpu-monitoring", monitoring(settings, gpu, gpu.monitoring), opts=after(opts, installed))
    opts = after(opts, installed)
    ready = _by_claims(settings, gpu, opts) if gpu.allocation == "dra" else _by_plugin(settings, gpu, opts)
    if not gpu.operator.installed:
        ready += _drivers(settings, gpu, opts)
    return pulumi.Output.all(*ready).apply(lambda names: str(names[0])) if ready[1:] else ready[0]


def _by_claims(settings: Settings, gpu: GpuOperatorSettings, opts: pulumi.ResourceOptions) -> list[pulumi.Output[str]]:
    """Declare the GPUCluster; return what is known when nodes publish their GPUs."""
    pools = settings.gpu_pools
    args = GpuClusterArgs(
        installed=gpu.operator.installed,
        gpus=_kinds(pools),
        compute_domains=gpu.compute_domains is not None,
        monitoring=gpu.monitoring is not None,
        metrics=EXPORTER_LIST if gpu.monitoring else None,
        **tolerations(GpuClusterArgs, pools),
        ready_timeout=settings.timeouts.drivers(len(settings.gpu_nodes), one_by_one=False),
    )
    return [GpuCluster("gpus", args, opts=opts).gpu_cluster]


def _by_plugin(settings: Settings, gpu: GpuOperatorSettings, opts: pulumi.ResourceOptions) -> list[pulumi.Output[str]]:
    """Declare the ClusterPolicy, and beside it what ComputeDomains need; return what is known when both are there."""
    pools, by_pool = settings.gpu_pools, drivers_differ(settings)
    args = GpuOperatorArgs(
        installed=gpu.operator.installed,
        gpus=_kinds(pools),
        **fields_of(GpuStack, gpu) | {"driver": None if by_pool else pools[0].driver},
        driver_objects=by_pool,
        monitoring=gpu.monitoring is not None,
        metrics=EXPORTER_LIST if gpu.monitoring else None,
        **tolerations(GpuOperatorArgs, pools),
        ready_timeout=settings.timeouts.drivers(
            len(settings.gpu_nodes), one_by_one=any(pool.driver and pool.driver.auto_upgrade for pool in pools)
        ),
    )
    policy = GpuOperator("gpus", args, opts=opts)
    if gpu.compute_domains is None:
        return [policy.policy]
    racks = [pool for pool in pools if pool.joined_by_nvlink]
    domains = ComputeDomainDriverArgs(
        **fields_of(ComputeDomainDriver, gpu.compute_domains),
        node_selector=racks[0].selector if len(racks) == 1 else GPU_NODE,
        **tolerations(ComputeDomainDriverArgs, racks),
        ready_timeout=settings.timeouts.plugins(len(settings.gpu_nodes)),
        protect=settings.protect,
    )
    # The definitions of its objects are of the operator's bundle, and its plugin needs the GPUs' driver.
    return [policy.policy, ComputeDomains("compute-domains", domains, opts=after(opts, policy)).channel_class]


def _kinds(pools: Sequence[Pool]) -> tuple[GpuKind, ...]:
    return tuple(GpuKind(gpu=pool.machine.gpu, gpudirect=gpudirect(pool) if pool.driver else None) for pool in pools)


def _drivers(settings: Settings, gpu: GpuOperatorSettings, opts: pulumi.ResourceOptions) -> list[pulumi.Output[str]]:
    """Declare the drivers of pools that have objects of their own: under a GPUCluster, and where they differ."""
    if gpu.allocation != "dra" and not drivers_differ(settings):
        return []
    return [
        NvidiaDriver(f"gpu-driver-{pool.name}", _driver(pool, pool.driver, gpu, settings), opts=opts).nvidia_driver
        for pool in settings.gpu_pools
        if pool.driver
    ]


def drivers_differ(settings: Settings) -> bool:
    """Say whether the GPU Operator brings pools different drivers, or none to some of them."""
    return len({pool.driver for pool in settings.gpu_pools}) > 1


def _driver(pool: Pool, driver: GpuDriver, gpu: GpuOperatorSettings, settings: Settings) -> NvidiaDriverArgs:
    return NvidiaDriverArgs(
        driver_name=pool.name,
        node_selector=pool.selector,
        driver=driver,
        gpus=GpuKind(gpu=pool.machine.gpu, gpudirect=gpudirect(pool)),
        gdrcopy=gpu.gdrcopy,
        gds=gpu.gds,
        **tolerations(NvidiaDriverArgs, [pool]),
        ready_timeout=settings.timeouts.drivers(len(pool.nodes), one_by_one=driver.auto_upgrade),
    )


def monitoring(
    settings: Settings, gpu: GpuOperatorSettings, monitoring_settings: MonitoringSettings
) -> GpuMonitoringArgs:
    """Return what the GPU Operator's exporter monitors of the stack's machines."""
    return GpuMonitoringArgs(
        namespace=gpu.operator.namespace,
        machines=tuple(
            Limits(**fields_of(Thresholds, monitoring_settings), **_machine(pool)) for pool in settings.gpu_pools
        ),
        exporter_list=not gpu.operator.installed,
        dashboards=monitoring_settings.dashboards,
    )


def exporter_monitoring(settings: Settings, exporter: ExporterSettings) -> GpuMonitoringArgs:
    """Return what the exporter of our own monitors; dashboards are files, as consoles of its releases have none."""
    machines = tuple(
        Limits(
            **fields_of(GpuThresholds, exporter),
            **_machine(pool),
            generation=dcgm_exporter.GENERATION,
            pods=settings.version.pod_resources,
            port_states=settings.version.port_states,
        )
        for pool in settings.gpu_pools
    )
    return GpuMonitoringArgs(namespace=dcgm_exporter.NAME, machines=machines, exporter_list=False, dashboards=False)


def _machine(pool: Pool) -> dict[str, Any]:
    """Return the limits that follow from a pool's machine and fabric."""
    machine = pool.machine
    return {
        "nodes": tuple(pool.free) if pool.declared else (),
        "gpus_per_node": machine.gpus,
        "infiniband_devices": tuple(hca.name for hca in pool.hcas),
        "port_gbps": machine.ports.rate_gbps,
        "roce": isinstance(pool.fabric, Roce),
        "row_remapping": machine.architecture.remaps_rows,
        "node_watts": machine.power_watts,
    }


def gpudirect(pool: Pool) -> GpuDirect | None:
    """Return how HCAs reach the GPUs; None without RDMA."""
    if not pool.uses_rdma:
        return None
    return GpuDirect(mechanism=pool.machine.architecture.peer_memory, host_ofed=not pool.brings_adapter_driver)
