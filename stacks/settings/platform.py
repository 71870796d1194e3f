"""One environment as a frozen tree of settings, and what follows from it."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Self

from pydantic import PrivateAttr

from components.nodes.node_pool import BUILT_IN
from core.hardware import profiles
from core.hardware.profiles import Hca, Profile
from stacks.programs import PROGRAMS, Program
from stacks.releases import RELEASES, Release
from stacks.settings import stack
from stacks.settings.cluster import NodeSettings
from stacks.settings.environment_fields import EnvironmentFields
from stacks.settings.fabric import FabricSettings, InfiniBand
from stacks.settings.gpu import GpuOperatorSettings
from stacks.settings.origins import Places
from stacks.settings.pools import PoolSettings
from stacks.settings.resolved_pool import Pool
from stacks.settings.storage import ContainerNativeStorage, DirectoryVolume, Volume
from stacks.settings.tenants import TenantSettings


class Settings(EnvironmentFields):
    """The settings of one environment: a cluster, its platform and its tenants."""

    _places: Places = PrivateAttr(default_factory=Places)

    def __copy__(self) -> Self:
        """Return a copy without the stored pools and limits, which follow from fields that `model_copy` replaces."""
        copy = super().__copy__()
        for name in ("gpu_pools", "gpu_limits"):
            copy.__dict__.pop(name, None)
        return copy

    @property
    def places(self) -> Places:
        """How messages name places of the settings."""
        return self._places

    def from_files(self, shown: Callable[[Sequence[str | int]], str]) -> Self:
        """Let messages about the settings have places in their files, and return them."""
        self._places = Places(shown)
        return self

    @property
    def rule_folders(self) -> tuple[str, ...]:
        """Folders with policy rules of the stack's own."""
        return stack.rule_folders(self.policies)

    @property
    def rule_parameters(self) -> dict[str, dict[str, Any]]:
        """What is set for policies, by rule."""
        return stack.rule_parameters(self.policies)

    @property
    def has_platform(self) -> bool:
        """Whether the stack declares what all tenants depend on; a stack of tenants alone does not."""
        return True

    @property
    def has_tenants(self) -> bool:
        """Whether the stack declares tenants, and what is theirs; a stack of the platform alone does not."""
        return True

    @property
    def others(self) -> tuple[tuple[str, TenantSettings], ...]:
        """Tenants of other stacks on the same platform, each with the file that it is in."""
        return ()

    @property
    def everyone(self) -> tuple[TenantSettings, ...]:
        """All tenants of the cluster, those of other stacks, too."""
        return (*self.tenants, *(tenant for _, tenant in self.others))

    @property
    def version(self) -> Release:
        """What the release means."""
        return RELEASES[self.release]

    @property
    def gpu_nodes(self) -> tuple[NodeSettings, ...]:
        """The nodes with GPUs."""
        return tuple(node for node in self.nodes if node.machine)

    @cached_property
    def gpu_pools(self) -> tuple[Pool, ...]:
        """The pools of the GPU nodes; raise ValidationError for ports that a machine does not have."""
        if not self.pools:
            return (self._pool(None, _AS_THE_STACK, self.gpu_nodes),) if self.gpu_nodes else ()
        nodes = {name: tuple(node for node in self.gpu_nodes if node.pool == name) for name in self.pools}
        return tuple(self._pool(name, pool, nodes[name]) for name, pool in self.pools.items() if nodes[name])

    def _pool(self, name: str | None, own: PoolSettings, nodes: tuple[NodeSettings, ...]) -> Pool:
        """Return a pool, with the stack's settings where it has none of its own."""
        fabric = own.fabric_beside(self.fabric)
        ports = self.ports if own.ports is None else own.ports
        return Pool(
            name=name or nodes[0].hardware.name,
            first=name is None or name == next(iter(self.pools)),
            declared=name is not None,
            machine=_machine(nodes[0].hardware, ports, fabric),
            named_ports=bool(ports),
            nodes=nodes,
            fabric=fabric,
            gpu=self.gpu,
            driver=own.driver_beside(self.gpu.driver) if isinstance(self.gpu, GpuOperatorSettings) else None,
            own_driver=own.differs_in("driver"),
            tuning=own.tuning if own.differs_in("tuning") else self.tuning,
            machine_config_pool=own.machine_config_pool or self.machine_config_pool,
            reserve=own.reserve if own.differs_in("reserve") else self.reserve,
            labels=own.labels,
            taints=own.taints,
            scale_pods=self.scale_pods,
        )

    def pool_with(self, node: str) -> Pool | None:
        """Return the pool of a GPU node; None for another node."""
        return next((pool for pool in self.gpu_pools if node in pool.free), None)

    @property
    def scale_pods(self) -> ContainerNativeStorage | None:
        """Container-native Storage Scale, which runs a client's pod on every worker; None: the cluster has none."""
        return self.storage if isinstance(self.storage, ContainerNativeStorage) else None

    @property
    def has_plain_workers(self) -> bool:
        """Whether a stack with `pools` has nodes without GPUs, on which launchers run."""
        return bool(self.pools) and any(not node.machine for node in self.workers)

    @property
    def workers(self) -> tuple[NodeSettings, ...]:
        """The nodes on which jobs' pods run, masters that are workers, too, among them."""
        return tuple(node for node in self.nodes if "worker" in node.roles)

    def machine_config_pool_of(self, node: NodeSettings) -> str:
        """Return the MachineConfigPool of a node: of a master that is a worker, too, the masters'."""
        pool = self.pool_with(node.name)
        if pool and pool.own_machine_config_pool:
            return pool.machine_config_pool
        return BUILT_IN[0] if BUILT_IN[0] in node.roles else BUILT_IN[1]

    @property
    def uses_rdma(self) -> bool:
        """Whether pods of some jobs need RDMA devices and locked memory."""
        return any(pool.uses_rdma for pool in self.gpu_pools)

    @property
    def scale_classes(self) -> frozenset[str]:
        """Storage classes that the stack makes, all of them of Storage Scale."""
        return (
            frozenset(storage_class.class_name for storage_class in self.storage.classes)
            if self.storage
            else frozenset()
        )

    def on_scale(self, volume: Volume) -> bool:
        """Say whether a tenant's volume is known to be on Storage Scale."""
        return isinstance(volume, DirectoryVolume) or volume.storage_class in self.scale_classes

    @property
    def foreign_classes(self) -> tuple[str, ...]:
        """Storage classes that tenants' volumes name and the stack does not make: the cluster has them."""
        volumes = (volume for tenant in self.tenants for volume in tenant.all_volumes.values())
        named = {volume.storage_class for volume in volumes if not isinstance(volume, DirectoryVolume)}
        return tuple(sorted(named - self.scale_classes))

    @property
    def rdma_resources(self) -> tuple[str, ...]:
        """Resource names of the device plugins of all pools; none without RDMA."""
        return tuple(dict.fromkeys(resource for pool in self.gpu_pools for resource in pool.rdma_resources))

    def program(self, name: str) -> Program:
        """Return the program of a name, the stack's own or one of the files; raise KeyError where there is none."""
        return self.programs[name] if name in self.programs else PROGRAMS[name]

    def tenant(self, namespace: str) -> TenantSettings:
        """Return the tenant of `namespace`."""
        return next(tenant for tenant in self.tenants if tenant.namespace == namespace)

    def gpu_quota(self, tenant: TenantSettings, pool: Pool) -> int:
        """Return the GPUs of a pool that a tenant's quota has; with one pool a number needs no name."""
        quota = tenant.gpu_quota
        return quota if isinstance(quota, int) else quota.get(pool.name, 0)

    def shares(self, tenant: TenantSettings, pool: Pool) -> bool:
        """Say whether a tenant may hold anything of a pool, its own or lent: not of one that its quotas leave out."""
        quota, sizes = tenant.gpu_quota, tenant.instance_quota
        if isinstance(quota, int) or pool.name in quota:
            return True
        return any(size in sizes for node in pool.nodes for size in node.instances)

    @cached_property
    def gpu_limits(self) -> Mapping[tuple[str, str], int]:
        """GPUs that a tenant may hold at most, by its namespace and the pool's name.

        Where tenants lend GPUs to each other, those of all tenants, unless the tenant's quota leaves the pool out: GPUs
        outside all quotas are not lent, as Kueue admits no more than the quotas of the cohort together.
        """
        lends = self.queues is not None and self.queues.cohort is not None
        limits: dict[tuple[str, str], int] = {}
        for pool in self.gpu_pools:
            total = sum(self.gpu_quota(tenant, pool) for tenant in self.everyone)
            for tenant in self.tenants:
                borrows = lends and self.shares(tenant, pool)
                limits[tenant.namespace, pool.name] = total if borrows else self.gpu_quota(tenant, pool)
        return limits

    def most_gpus(self, namespace: str) -> int:
        """Return the GPUs of all pools that a tenant may hold at most."""
        return sum(self.gpu_limits[namespace, pool.name] for pool in self.gpu_pools)


_AS_THE_STACK = PoolSettings.model_construct(machine="")
"""The one pool of a stack without `pools`."""


def _machine(machine: Profile, ports: tuple[Hca, ...], fabric: FabricSettings) -> Profile:
    """Return a machine with the ports that the settings name, or with its own in the mode of the fabric."""
    if ports:
        return profiles.with_hcas(machine, ports)
    return machine if isinstance(fabric, InfiniBand) else profiles.on_ethernet(machine)
