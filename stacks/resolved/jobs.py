"""What workloads become, resolved once: pool, layout, name, share, image, devices, transport.

Components, placement, checks, reviews and verification all read these records. Pure, and known without an engine.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from components.jobs.layout import Layout
from components.jobs.outcome import Wait
from components.jobs.resilience import Resilience, overridden
from core.apis import names
from core.apis.nccl import Transport
from core.hardware import placement
from core.hardware.placement import Demand, Plan, Share
from core.hardware.profiles import Hca
from core.model import by_identity
from stacks.programs import Program
from stacks.resolved import images, instances, resilience, topology
from stacks.settings.builds import BuildSettings
from stacks.settings.platform import Settings
from stacks.settings.resolved_pool import Pool
from stacks.settings.tenants import TenantSettings
from stacks.settings.topology import TopologyRequest
from stacks.settings.workloads import (
    IndexedWorkload,
    JobWorkload,
    RdmaTestWorkload,
    SpanningWorkload,
    Stage,
    Started,
    Unstarted,
    Workload,
)

ON_NODE = "node/"
"""A resource that only the node of this name has, so that pods that are bound to it fit nowhere else."""


@dataclass(frozen=True, eq=False)
class PlainJob:
    """The job of a workload that takes no GPU: an RDMA test, or a staging."""

    workload: Unstarted
    tenant: TenantSettings
    pool: Pool
    name: str
    """On the cluster; that of a staging is longer there, by a part of the lock's digest (`locked_data.job_name`)."""
    wait: Wait

    layout: None = None
    instance: None = None
    closeness: None = None

    @property
    def id(self) -> str:
        """Namespace/name."""
        return f"{self.tenant.namespace}/{self.name}"

    @property
    def demands(self) -> list[Demand]:
        """What each pod takes of its node: RDMA devices are shared and never run short first."""
        return []


@dataclass(frozen=True, eq=False)
class ProgramJob:
    """The job of a workload that starts a program on GPUs."""

    workload: Started
    tenant: TenantSettings
    pool: Pool
    name: str
    """On the cluster; of a job of several pods it contains pods x GPUs x nodes."""
    wait: Wait
    program: Program
    layout: Layout
    free: Mapping[str, int]
    """GPUs that it may have, by node; of one with a MIG instance, such instances."""
    share: Share
    """CPUs and memory of each pod: the part of the machine that goes with its GPUs, or the program's own."""
    build: BuildSettings | None
    image: str | None
    """None where the workload names none, and the program has none that fits."""
    transport: Transport
    closeness: TopologyRequest | None
    """How close to each other its pods run; None: anywhere."""
    resilience: Resilience
    """What it does about the loss of a rank, a pod or a node."""
    spare_nodes: int
    """Nodes that must be there beyond those that it runs on, for the pods of a lost one."""
    domains: tuple[Mapping[str, int], ...]
    """Free GPUs of the domains of which one must hold all its pods; none: it may have all nodes."""

    @property
    def id(self) -> str:
        """Namespace/name."""
        return f"{self.tenant.namespace}/{self.name}"

    @property
    def instance(self) -> str | None:
        """Size of its pods' MIG instances; None: whole GPUs."""
        return self.workload.instance

    @cached_property
    def uses_rdma(self) -> bool:
        """Whether its pods get RDMA devices: of jobs of several pods on a fabric with RDMA, and of some programs."""
        if isinstance(self.workload, SpanningWorkload):
            return self.pool.uses_rdma
        return isinstance(self.workload, JobWorkload) and self.program.rdma and self.pool.uses_rdma and self.tenant.rdma

    @property
    def in_compute_domain(self) -> bool:
        """Whether its GPUs on several nodes of a rack share memory over NVLink."""
        workload = self.workload
        if not isinstance(workload, SpanningWorkload) or workload.compute_domain is False:
            return False
        return self.pool.joined_by_nvlink and self.layout.pods > 1

    @property
    def hcas(self) -> tuple[Hca, ...]:
        """The ports of a machine that its pods have."""
        return self.pool.hcas if self.uses_rdma else ()

    @property
    def rdma_resources(self) -> tuple[str, ...]:
        """Device plugins' resources that each of its pods requests, with their prefix."""
        return tuple(names.RDMA_PREFIX + name for name in self.pool.rdma_resources) if self.uses_rdma else ()

    @cached_property
    def demands(self) -> list[Demand]:
        """What each pod takes of its node; RDMA devices are shared and never run short first."""
        bound = {ON_NODE + self.workload.node: self.layout.gpus} if self.workload.node else {}
        devices = {names.GPU_RESOURCE: self.layout.gpus}
        if self.instance:
            devices = {names.GPU_RESOURCE: 0, instances.resource(self.instance): 1}
        pod = {**devices, "cpu": self.share.cpus, "memory": self.share.memory_gib, **bound}
        return [pod] * self.layout.pods

    def placed(self, free: Mapping[str, int]) -> Plan:
        """Return where its layout fits on free GPUs, by node; in one domain of the fabric where it requires that."""
        left = tuple({node: free[node] for node in domain if node in free} for domain in self.domains)
        return _plan(self.layout.total_gpus, self.layout.gpus, free, self.closeness, left)


Job = PlainJob | ProgramJob


@by_identity(results=4)
def by_stage(settings: Settings) -> tuple[tuple[Stage, tuple[Job, ...]], ...]:
    """Return each stage with its jobs, in order; raise ValueError for a workload that `checks.workload` refuses."""
    return tuple(
        (stage, tuple(resolve(workload, settings) for workload in stage.workloads)) for stage in settings.stages
    )


def every(settings: Settings) -> Iterator[Job]:
    """Yield the jobs of all stages, in order."""
    for _, jobs in by_stage(settings):
        yield from jobs


def resolve(workload: Workload, settings: Settings) -> Job:
    """Return the job of a workload.

    Raises ValueError with the reason for a tenant or a pool that the stack does not have, and where the workload names
    a number of GPUs for which nothing fits.
    """
    tenant = next((tenant for tenant in settings.tenants if tenant.namespace == workload.tenant), None)
    if tenant is None:
        namespaces = ", ".join(sorted(tenant.namespace for tenant in settings.tenants))
        raise ValueError(f"tenant {workload.tenant!r} is unknown; known: {namespaces}")
    pool = _pool(workload, tenant, settings)
    if isinstance(workload, Unstarted):
        return PlainJob(workload, tenant, pool, workload.name, workload.wait or Wait.FINISHED)
    program = settings.program(workload.program)
    closeness = topology.request(workload, pool, settings) if isinstance(workload, SpanningWorkload) else None
    free = _free(workload, pool)
    required = closeness.required if closeness else None
    domains = tuple(topology.within(required, free, pool, settings)) if required else ()
    layout = _layout(workload, free, closeness, domains)
    built = images.build(workload, settings)
    choices = overridden(program.resilience, workload.resilience)
    return ProgramJob(
        workload=workload,
        tenant=tenant,
        pool=pool,
        name=f"{workload.name}-{layout}{workload.suffix}" if isinstance(workload, SpanningWorkload) else workload.name,
        wait=workload.wait or (Wait.STARTED if program.trains else Wait.FINISHED),
        program=program,
        layout=layout,
        free=free,
        share=_share(workload, layout, program, pool),
        build=built,
        image=images.image(workload, built, pool.machine, settings),
        transport=_transport(workload, tenant, pool),
        closeness=closeness,
        resilience=resilience.resolved(choices, workload, program, layout, trainer=settings.trainer is not None),
        spare_nodes=choices.spare_nodes or 0,
        domains=domains,
    )


def _pool(workload: Workload, tenant: TenantSettings, settings: Settings) -> Pool:
    """Return the pool of a workload; those without GPUs have one, too, for their nodes or none in particular."""
    if isinstance(workload, Unstarted):
        node = workload.client_node if isinstance(workload, RdmaTestWorkload) else ""
        return settings.pool_with(node) or settings.gpu_pools[0]
    of_node = settings.pool_with(workload.node) if workload.node else None
    if of_node and workload.pool in (None, of_node.name):
        return of_node
    named = pool_of(workload.pool, tenant, settings)
    if of_node:
        raise ValueError(f"pool {named.name}: node {workload.node} is in pool {of_node.name}; leave one of them out")
    return named


def pool_of(name: str | None, tenant: TenantSettings | None, settings: Settings) -> Pool:
    """Return the pool of a name, or the only one that no name can mean: of the stack, or with a tenant's quota.

    Raises ValueError with the reason where there is none, or several.
    """
    pools = settings.gpu_pools
    if name is not None:
        declared = [pool for pool in pools if pool.declared]
        if pool := next((pool for pool in declared if pool.name == name), None):
            return pool
        names = ", ".join(pool.name for pool in declared) or "none"
        raise ValueError(f"pool {name!r} is none of `pools`: {names}; correct it, or leave it out")
    usable = [pool for pool in pools if settings.gpu_quota(tenant, pool)] if tenant and len(pools) > 1 else pools
    if len(usable) == 1:
        return usable[0]
    among = ", ".join(pool.name for pool in usable) or "none"
    several = f"tenant {tenant.namespace} has a gpu_quota of {among}" if tenant else f"the stack has {among}"
    raise ValueError(f"pool is missing, and {several}; name the one whose machines the job is for")


def _free(workload: Started, pool: Pool) -> Mapping[str, int]:
    offered = instances.by_node(workload.instance, pool) if workload.instance else pool.free
    return {name: count for name, count in offered.items() if workload.node in (None, name)}


def _layout(
    workload: Started,
    free: Mapping[str, int],
    closeness: TopologyRequest | None,
    domains: tuple[Mapping[str, int], ...],
) -> Layout:
    """Return pods and GPUs of a workload: those that it names, or the fewest pods that fit on the free GPUs."""
    if isinstance(workload, IndexedWorkload):
        return Layout(pods=workload.slices, gpus=workload.gpus)
    if not isinstance(workload, SpanningWorkload):
        return Layout(pods=1, gpus=workload.gpus)
    if workload.layout is not None:
        return workload.layout
    assert workload.gpus is not None  # noqa: S101 - one of the two is given
    plan = _plan(workload.gpus, workload.gpus_per_pod, free, closeness, domains)
    if plan.reason is not None:
        raise ValueError(plan.reason)
    best = plan.options[0]
    return Layout(pods=best.pods, gpus=best.gpus, nodes=best.nodes)


def _plan(
    gpus: int,
    gpus_per_pod: int | None,
    free: Mapping[str, int],
    closeness: TopologyRequest | None,
    domains: tuple[Mapping[str, int], ...],
) -> Plan:
    if closeness and closeness.required and domains:
        return placement.plan_within(domains, gpus, gpus_per_pod, level=closeness.required)
    return placement.plan(free, gpus, gpus_per_pod)


def _share(workload: Started, layout: Layout, program: Program, pool: Pool) -> Share:
    part = (
        instances.share(workload.instance, pool)
        if workload.instance
        else placement.share(pool.machine, layout.gpus, pool.reserved)
    )
    own = program.resources
    return Share(cpus=own.cpus or part.cpus, memory_gib=own.memory_gib or part.memory_gib)


def _transport(workload: Started, tenant: TenantSettings, pool: Pool) -> Transport:
    """Return the transport that a workload names, else the best that the tenant may use on the pool's fabric."""
    named = workload.transport if isinstance(workload, SpanningWorkload) else None
    return named or (pool.transport if tenant.rdma else Transport.TCP)
