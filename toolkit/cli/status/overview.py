"""All of it, read in one go: platform parts, tenants, queues, jobs and nodes."""

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass

from core.apis import devices, kinds
from core.apis.names import GPU_RESOURCE, PART_OF, POOL, RDMA_PREFIX, SCC_UID_RANGE
from core.apis.quantity import whole
from core.apis.suite import SUITE
from policies.manifests.values import read
from stacks.releases import Release
from toolkit.cli.shared.hazards.hazard import Hazard
from toolkit.cli.shared.preflight.constraints import Constraint
from toolkit.cli.status.jobs import Job, jobs
from toolkit.cli.status.platform_parts import List, Object, Part, condition, parts, volume
from toolkit.cli.status.stuck import Stuck, stuck
from toolkit.cli.up.waits import pods

OURS = f"app.kubernetes.io/part-of={PART_OF},!{SUITE}"
"""Objects of the stack, without what a suite has started."""
RDMA = f"{RDMA_PREFIX}*"
POOLS = "pool"
"""What the column of the nodes' pools is called."""
_USED, _QUOTA = ("status", "flavorsUsage"), ("spec", "resourceGroups")
_VENDOR, _PART_OF_GPU = GPU_RESOURCE.split("/")[0] + "/", "mig-"


@dataclass(frozen=True)
class Tenant:
    """One tenant's namespace: ids, the state of its claims, and GPUs used of its quota."""

    namespace: str
    uid_range: str
    claims: str
    gpus: str


@dataclass(frozen=True)
class Queue:
    """One tenant's share: whether it takes jobs, GPUs of its quota that are in use, by pool, and jobs that wait.

    The last two are a question mark until Kueue reports them.
    """

    name: str
    active: bool
    gpus: str
    waiting: str


@dataclass(frozen=True)
class Node:
    """One node: what it offers."""

    name: str
    roles: str
    ready: bool
    gpus: int
    rdma: Mapping[str, int]
    slices: Mapping[str, int]
    """Parts of GPUs, by their size."""
    pool: str = ""
    """By its label; empty: the stack has no pools, or has not labelled the node."""


@dataclass(frozen=True)
class Overview:
    """All of it."""

    parts: tuple[Part, ...]
    tenants: tuple[Tenant, ...]
    queues: tuple[Queue, ...]
    jobs: tuple[Job, ...]
    nodes: tuple[Node, ...]
    expected: frozenset[str] = frozenset({GPU_RESOURCE})
    """Columns of nodes that are shown even where none has a value: `nvidia.com/gpu`, `rdma/*`, `pool`."""
    constraints: tuple[Constraint, ...] = ()
    """What others set for the stack's pods."""
    hazards: tuple[Hazard, ...] = ()
    """What of the site endangers the platform, and what of that could not be checked."""
    failing: tuple[str, ...] = ()
    """Pods of the platform that fail again and again, one of each workload: which, and why."""
    stuck: tuple[Stuck, ...] = ()
    """What waits for something that ends late or never, e.g. for a pod on a node that is lost."""


def overview(ours: List, everything: List, release: Release, pool: str) -> Overview:
    """Return the rows; `ours` lists a kind's objects with our label, `everything` all of them."""
    platform = tuple(parts(ours, everything, release, pool))
    return Overview(
        parts=platform,
        tenants=tuple(_tenants(ours(kinds.NAMESPACE), everything)),
        queues=tuple(_queues(ours(kinds.CLUSTER_QUEUE))),
        jobs=tuple(jobs(ours, everything, release.mpi_job)),
        nodes=tuple(_nodes(everything(kinds.NODE), devices.published(everything(kinds.RESOURCE_SLICE)))),
        failing=tuple(_failing({part.name.split("/")[0] for part in platform}, everything(kinds.POD))),
        stuck=tuple(stuck(everything)),
    )


def _failing(namespaces: Container[str], items: Iterable[Object]) -> Iterable[str]:
    own = [pod for pod in items if pod["metadata"]["namespace"] in namespaces]
    troubles = (pods.trouble([pod]) for pod in pods.alive(own))
    return {verdict.key: verdict.message for verdict in troubles if verdict}.values()


def _tenants(namespaces: Iterable[Object], everything: List) -> Iterable[Tenant]:
    claims, quotas = everything(kinds.PERSISTENT_VOLUME_CLAIM), everything(kinds.RESOURCE_QUOTA)
    # Where claims have a quota, that of the resource is 0.
    keys = (f"{devices.GPU_CLASS}{devices.QUOTA}", f"requests.{GPU_RESOURCE}")
    for item in namespaces:
        if read(item, "metadata", "labels", "app.kubernetes.io/component") != "tenant":
            continue
        name = item["metadata"]["name"]
        used = [
            (read(quota, "status", "used", key), read(quota, "status", "hard", key))
            for quota in _in(name, quotas)
            for key in [next((key for key in keys if key in (read(quota, "status", "hard") or {})), keys[-1])]
        ]
        yield Tenant(
            namespace=name,
            uid_range=str(read(item, "metadata", "annotations", SCC_UID_RANGE) or ""),
            claims=", ".join(f"{claim['metadata']['name']} {volume(claim)[0]}" for claim in _in(name, claims)),
            gpus=", ".join(f"{now or 0} of {limit}" for now, limit in used if limit is not None),
        )


def _queues(items: Iterable[Object]) -> Iterable[Queue]:
    for item in items:
        yield Queue(
            name=str(item["metadata"]["name"]),
            active=condition(item, "Active"),
            gpus=_gpus_in_use(item),
            waiting=str((item.get("status") or {}).get("pendingWorkloads", "?")),
        )


def _gpus_in_use(queue: Object) -> str:
    """Return how many GPUs of a queue's quota are in use, of each flavor where several have some: those of pools."""
    used = _gpus(queue, "total", *_USED) if read(queue, *_USED) else None
    quota = _gpus(queue, "nominalQuota", *_QUOTA)
    if len(quota) < 2:  # noqa: PLR2004 - one flavor needs no name
        return f"{'?' if used is None else sum(used.values())} of {sum(quota.values())}"
    shares = {flavor: ("?" if used is None else used.get(flavor, 0), amount) for flavor, amount in quota.items()}
    shown = {flavor: share for flavor, share in shares.items() if share[1] or share[0] not in ("?", 0)}
    return ", ".join(f"{flavor} {now} of {amount}" for flavor, (now, amount) in shown.items())


def _gpus(item: Object, key: str, *place: str) -> dict[str, int]:
    """Return GPUs by flavor: groups of resources have flavors, and what is in use has none."""
    groups = read(item, *place) or ()
    flavors = [flavor for group in groups for flavor in group.get("flavors") or [group]]
    return {
        str(flavor.get("name")): count(resource.get(key))
        for flavor in flavors
        for resource in flavor.get("resources") or ()
        if resource.get("name") == GPU_RESOURCE
    }


def count(quantity: object) -> int:
    """Return how many a quantity means: the API writes 1000 as 1k. What is not a whole number means 0."""
    return max(0, whole(quantity) or 0)


def _offered(offered: Mapping[str, str], prefix: str) -> dict[str, int]:
    return {key.removeprefix(prefix): count(offered[key]) for key in sorted(offered) if key.startswith(prefix)}


def _nodes(items: Iterable[Object], published: Mapping[str, list[devices.Attributes]]) -> Iterable[Node]:
    role = "node-role.kubernetes.io/"
    for item in items:
        by_claims = published.get(item["metadata"]["name"], ())
        offered = read(item, "status", "allocatable") or {}
        labels = read(item, "metadata", "labels") or {}
        yield Node(
            name=item["metadata"]["name"],
            roles=",".join(sorted(key.removeprefix(role) for key in labels if key.startswith(role))),
            ready=condition(item, "Ready"),
            gpus=count(offered.get(GPU_RESOURCE)) + devices.whole_gpus(by_claims),
            rdma=_offered(offered, RDMA_PREFIX),
            slices={
                name: number for name, number in _offered(offered, _VENDOR).items() if name.startswith(_PART_OF_GPU)
            },
            pool=labels.get(POOL, ""),
        )


def _in(namespace: str, items: Iterable[Object]) -> list[Object]:
    return [item for item in items if item["metadata"]["namespace"] == namespace]


def by_value(offered: Mapping[str, int]) -> str:
    """Write the resources of a node shortly: `shared_ib0, shared_ib1: 100`."""
    groups: dict[int, list[str]] = defaultdict(list)
    for name, number in offered.items():
        groups[number].append(name)
    return "; ".join(f"{', '.join(names)}: {number}" for number, names in groups.items())
