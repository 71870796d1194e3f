"""Rules that span settings: each problem names the setting, the value and the remedy."""

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any

from stacks import release_problems, workload_problems
from stacks.fabric_settings import DaemonSetPlugin, Ethernet, NetworkOperatorPlugin, Roce
from stacks.gpu_settings import DevicePluginSettings, GpuOperatorSettings
from stacks.storage_settings import ClaimData, DirectoryData

if TYPE_CHECKING:
    from stacks.platform import Settings


def problems(settings: "Settings") -> Iterator[str]:
    """Yield what is wrong between the settings; machines that differ hide the rest, which is about them."""
    if len({node.profile for node in settings.gpu_nodes}) != 1:
        yield "nodes: give all GPU nodes one and the same profile"
        return
    yield from _repeated("nodes", (node.name for node in settings.nodes))
    yield from release_problems.problems(settings)
    ports = list(_ports(settings))
    yield from ports
    yield from _enablement(settings)
    yield from _tenants(settings)
    yield from _data(settings)
    if settings.queues:
        yield from _queues(settings)
    if not ports:
        yield from workload_problems.problems(settings)


def _ports(settings: "Settings") -> Iterator[str]:
    try:
        profile = settings.profile
    except ValueError as error:
        yield f"ports: {_first_line(error)}"
        return
    rails = bool(settings.tuning and settings.tuning.rail_names)
    if rails and not all(hca.pci for hca in profile.hcas):
        yield f"tuning.rail_names: no PCI addresses of the ports of {profile.name} are known; turn it off"
    fabric = settings.fabric
    if isinstance(fabric, Ethernet):
        if fabric.bond and not fabric.bond.ports and not profile.hcas:
            yield f"fabric.bond.ports: no document names the ports of {profile.name}; name them here or in `ports`"
        return
    if not profile.hcas:
        yield (
            f"fabric: {settings.fabric.kind}, and no document names the {profile.ports.count} ports of {profile.name}; "
            "name them in `ports`, or choose ethernet"
        )
    elif isinstance(fabric, Roce) and profile.link_layer == "InfiniBand" and not (rails or settings.ports):
        yield (
            f"fabric: roce, and {profile.hcas[0].netdev} of {profile.name} is the name of a port in InfiniBand mode; "
            "turn tuning.rail_names on, or name the ports in `ports`"
        )


def _first_line(error: ValueError) -> str:
    return str(error).splitlines()[0]


def _enablement(settings: "Settings") -> Iterator[str]:
    gpu, fabric = settings.gpu, settings.fabric
    plugin = None if isinstance(fabric, Ethernet) else fabric.plugin
    if settings.node_feature_discovery is None and (plugin or not isinstance(gpu, DevicePluginSettings)):
        yield "node_feature_discovery is missing, and GPU and RDMA plugins run where it has labelled nodes; give it"
    if isinstance(fabric, Roce) and fabric.networks:
        if not isinstance(plugin, NetworkOperatorPlugin):
            yield "fabric.networks: the Network Operator makes them; choose fabric.plugin.kind network-operator"
        if len(fabric.networks.subnets) != len(settings.interfaces):
            yield (
                f"fabric.networks.subnets: {len(fabric.networks.subnets)} are given for {len(settings.interfaces)} "
                "ports; give one each"
            )
    if isinstance(gpu, GpuOperatorSettings):
        yield from _gpu_operator(settings, gpu, plugin)
    others = [node.name for node in settings.nodes if "worker" in node.roles and not node.profile]
    if settings.tuning and settings.machine_config_pool == "worker" and others:
        yield (
            f"machine_config_pool worker has {others[0]} in it, too, which is not tuned like a GPU node; give the "
            "GPU nodes a pool of their own, e.g. gpu"
        )
    if settings.tuning and settings.tuning.kubelet and not settings.profile.numa:
        yield f"tuning.kubelet: no document gives the NUMA nodes of {settings.profile.name}; set it to null"


def _gpu_operator(
    settings: "Settings", gpu: GpuOperatorSettings, plugin: DaemonSetPlugin | NetworkOperatorPlugin | None
) -> Iterator[str]:
    machine = settings.profile
    known = machine.architecture
    if gpu.driver and not known.accepts_driver(gpu.driver.version):
        yield (
            f"gpu.driver.version {gpu.driver.version} does not know {machine.gpu.model}; give one of branch "
            f"{known.last_driver_branch}"
        )
    if gpu.mig != "none" and not machine.gpu.mig_instances:
        yield f"gpu.mig {gpu.mig}: {machine.gpu.model} cannot be divided; give none"
    brings = isinstance(plugin, NetworkOperatorPlugin) and plugin.driver is not None
    if plugin and gpu.driver and known.peer_memory == "nvidia-peermem" and not (brings or plugin.host_ofed):
        yield (
            f"fabric.plugin: GPUDirect with {machine.gpu.model} needs Mellanox's own driver on the nodes; give "
            "fabric.plugin.driver (network-operator), or say host_ofed: true where the host has it"
        )


def _tenants(settings: "Settings") -> Iterator[str]:
    tenants = settings.tenants
    yield from _repeated("tenants: namespace", (tenant.namespace for tenant in tenants))
    yield from _repeated("tenants: mcs", (tenant.mcs for tenant in tenants))
    directories = [tenant.data for tenant in tenants if isinstance(tenant.data, DirectoryData)]
    yield from _repeated("tenants: data.volume", (data.volume for data in directories))
    for tenant in tenants:
        if tenant.reachable_from and not tenant.isolated:
            yield f"tenants: reachable_from of {tenant.namespace} has no effect without isolated; set that, too"
    yield from _repeated("builds", (f"{build.tenant}/{build.name}" for build in settings.builds))
    known = {tenant.namespace for tenant in tenants}
    for build in settings.builds:
        if build.tenant not in known:
            yield f"builds: {build.name} has tenant {build.tenant!r}; known: {', '.join(sorted(known))}"
    for one, other in combinations(tenants, 2):
        if one.uid_range.overlaps(other.uid_range):
            yield (
                f"tenants: uid_range {one.uid_range} of {one.namespace} overlaps {other.uid_range} of "
                f"{other.namespace}; give each tenant a block of its own"
            )


def _data(settings: "Settings") -> Iterator[str]:
    storage = settings.storage
    if storage:
        yield from _repeated("storage.classes", (each.class_name for each in storage.classes))
    for tenant in settings.tenants:
        data = tenant.data
        if isinstance(data, DirectoryData):
            if storage is None:
                yield f"tenants: data of {tenant.namespace} is a directory, and storage is missing; give it, or a claim"
            elif isinstance(data.fileset, int) and data.long_handle:
                yield f"tenants: data.fileset {data.fileset} of {tenant.namespace}: the long handle wants its name"
        elif isinstance(data, ClaimData) and data.storage_class == "static":
            yield f"tenants: data.storage_class static of {tenant.namespace} stands for no class; name one"


def _queues(settings: "Settings") -> Iterator[str]:
    wanted, there = sum(tenant.gpu_quota for tenant in settings.tenants), sum(settings.free.values())
    if wanted > there:
        yield (
            f"queues: the tenants' gpu_quota add up to {wanted} GPUs, and there are {there}: admitted jobs would wait "
            "for nodes; lower them"
        )
    if settings.queues and settings.queues.reclaim != "Never" and settings.queues.cohort is None:
        yield f"queues.reclaim {settings.queues.reclaim} has no effect without queues.cohort; name one"
    if settings.mpi_operator is None:
        yield "queues: Kueue is made for MPI jobs here, and mpi_operator is missing; give it"


def _repeated(what: str, values: Iterable[Any]) -> Iterator[str]:
    seen: set[str] = set()
    for value in values:
        if value in seen:
            yield f"{what} {value!r} is given twice; give each its own"
        seen.add(value)
