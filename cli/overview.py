"""What runs on a cluster, as rows: platform parts, tenants, jobs and nodes. Pure functions over plain objects."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from apis import kinds
from apis.kinds import Kind
from apis.names import GPU_RESOURCE, RDMA_PREFIX, SCC_UID_RANGE
from components.labels import PART_OF
from policies.values import read
from simulator.plugins.provider.hindrances import cause, concerns, key, latest

Object = Mapping[str, Any]
List = Callable[[Kind], Sequence[Object]]

OURS = f"app.kubernetes.io/part-of={PART_OF}"
PENDING = "Pending"
FAILED = "Failed"
_ENDS = ("Succeeded", "Complete")
_OWNED = (kinds.STATEFUL_SET, kinds.JOB, kinds.POD)
_HINDRANCES = 2  # of a job, the latest
_SECONDS = len("2026-01-01T00:00:00")  # what follows differs between events and objects


@dataclass(frozen=True)
class Part:
    """One part of the platform; `good` is False while it is not what it should be."""

    kind: str
    name: str
    state: str
    good: bool


@dataclass(frozen=True)
class Tenant:
    """One tenant's namespace: ids, the state of its claims, and GPUs used of its quota."""

    namespace: str
    uid_range: str
    claims: str
    gpus: str


@dataclass(frozen=True)
class Job:
    """One MPIJob or batch Job; `hindrances` is why its pods do not come, by the latest Warning events."""

    kind: str
    namespace: str
    name: str
    state: str
    nodes: tuple[str, ...]
    seconds: float | None
    hindrances: tuple[str, ...] = ()


@dataclass(frozen=True)
class Node:
    """One node: what it offers."""

    name: str
    roles: str
    ready: bool
    gpus: int
    rdma: Mapping[str, int]


@dataclass(frozen=True)
class Overview:
    """All of it."""

    parts: tuple[Part, ...]
    tenants: tuple[Tenant, ...]
    jobs: tuple[Job, ...]
    nodes: tuple[Node, ...]


def overview(ours: List, everything: List, mpi_job: Kind | None, pool: str) -> Overview:
    """Return the rows; `ours` lists a kind's objects with our label, `everything` all of them."""
    return Overview(
        parts=tuple(_parts(ours, everything, pool)),
        tenants=tuple(_tenants(ours(kinds.NAMESPACE), everything)),
        jobs=tuple(_jobs(ours, everything, mpi_job)),
        nodes=tuple(_nodes(everything(kinds.NODE))),
    )


def _parts(ours: List, everything: List, pool: str) -> Iterable[Part]:
    for kind, state in _STATES:
        for item in ours(kind):
            yield Part(kind.kind, _name(item), *state(item))
    for item in everything(kinds.MACHINE_CONFIG_POOL):
        if item["metadata"]["name"] == pool:
            updated = _condition(item, "Updated")
            yield Part("MachineConfigPool", pool, "Updated" if updated else "Updating", updated)


def _subscription(item: Object) -> tuple[str, bool]:
    installed = read(item, "status", "installedCSV")
    return (str(installed), True) if installed else (str(read(item, "status", "state") or PENDING), False)


def _replicas(*keys: str) -> Callable[[Object], tuple[str, bool]]:
    ready, wanted = keys

    def state(item: Object) -> tuple[str, bool]:
        have, want = (int(read(item, *key.split(".")) or 0) for key in (ready, wanted))
        return f"{have}/{want} ready", have >= want > 0

    return state


def _volume(item: Object) -> tuple[str, bool]:
    phase = str(read(item, "status", "phase") or PENDING)
    return phase, phase == "Bound"


def _present(_: Object) -> tuple[str, bool]:
    return "present", True


_STATES: tuple[tuple[Kind, Callable[[Object], tuple[str, bool]]], ...] = (
    (kinds.MACHINE_CONFIG, _present),
    (kinds.SUBSCRIPTION, _subscription),
    (kinds.NODE_FEATURE_DISCOVERY_V1ALPHA1, _present),
    (kinds.SPECIAL_RESOURCE_V1ALPHA1, _present),
    (kinds.CSI_SCALE_OPERATOR, _present),
    (kinds.DAEMON_SET, _replicas("status.numberReady", "status.desiredNumberScheduled")),
    (kinds.DEPLOYMENT, _replicas("status.availableReplicas", "spec.replicas")),
    (kinds.SECURITY_CONTEXT_CONSTRAINTS, _present),
    (kinds.PERSISTENT_VOLUME, _volume),
)


def _tenants(namespaces: Iterable[Object], everything: List) -> Iterable[Tenant]:
    claims, quotas = everything(kinds.PERSISTENT_VOLUME_CLAIM), everything(kinds.RESOURCE_QUOTA)
    key = f"requests.{GPU_RESOURCE}"
    for item in namespaces:
        if read(item, "metadata", "labels", "app.kubernetes.io/component") != "tenant":
            continue
        name = item["metadata"]["name"]
        used = [(read(quota, "status", "used", key), read(quota, "status", "hard", key)) for quota in _in(name, quotas)]
        yield Tenant(
            namespace=name,
            uid_range=str(read(item, "metadata", "annotations", SCC_UID_RANGE) or ""),
            claims=", ".join(f"{claim['metadata']['name']} {_volume(claim)[0]}" for claim in _in(name, claims)),
            gpus=", ".join(f"{now or 0} of {limit}" for now, limit in used if limit is not None),
        )


def _jobs(ours: List, everything: List, mpi_job: Kind | None) -> Iterable[Job]:
    events = everything(kinds.EVENT)
    placed = list(_placements(events))
    warnings = sorted((event for event in events if event.get("type") == "Warning"), key=latest)
    owned = {item["metadata"].get("uid"): item for kind in _OWNED if warnings for item in everything(kind)}
    found = [(kind.kind, item) for kind in (mpi_job, kinds.JOB) if kind for item in ours(kind)]
    for kind, item in sorted(found, key=lambda pair: str(read(pair[1], "metadata", "creationTimestamp"))):
        if read(item, "metadata", "ownerReferences"):
            continue
        namespace, name = item["metadata"]["namespace"], item["metadata"]["name"]
        since = str(read(item, "metadata", "creationTimestamp") or "")[:_SECONDS]
        mine = {
            node
            for inside, pod, node, when in placed
            if inside == namespace and when >= since and _belongs(pod, name, kind)
        }
        state = job_state(item)
        why = () if state in (FAILED, "Succeeded") else _hindrances(item, warnings, owned)
        yield Job(kind, namespace, name, state, tuple(sorted(mine)), _duration(item), why)


def job_state(item: Object) -> str:
    """Return one word for a job's state, from its conditions."""
    met = [entry["type"] for entry in read(item, "status", "conditions") or () if entry.get("status") == "True"]
    for word in (FAILED, *_ENDS, "Running", "Created"):
        if word in met:
            return "Succeeded" if word in _ENDS else word
    return "Running" if read(item, "status", "active") else PENDING


def _hindrances(item: Object, warnings: Iterable[Object], owned: Mapping[str, Object]) -> tuple[str, ...]:
    uid = str(read(item, "metadata", "uid"))
    met = [event for event in warnings if concerns(event, uid, lambda reference: owned.get(reference.get("uid", "")))]
    return tuple({key(event): cause(event) for event in met}.values())[-_HINDRANCES:]


def _placements(events: Iterable[Object]) -> Iterable[tuple[str, str, str, str]]:
    """Where and when pods were put: the operator removes the workers of a job that has ended; only events remain.

    A job that runs again has pods of the same names, so that the time tells the one run from the other.
    """
    for event in events:
        if event.get("reason") == "Scheduled" and read(event, "involvedObject", "kind") == "Pod":
            node = str(event.get("message", "")).rsplit(" to ", 1)[-1]
            where = event["involvedObject"]
            yield where.get("namespace", ""), where.get("name", ""), node, latest(event)[:_SECONDS] or "now"


def _belongs(pod: str, job: str, kind: str) -> bool:
    """Whether a pod is one of the job's, by name: `<job>-worker-3` of an MPIJob (not its launcher), `<job>-x7k2p`."""
    head, _, tail = pod.removeprefix(f"{job}-").rpartition("-")
    if not pod.startswith(f"{job}-"):
        return False
    return head == "worker" and tail.isdigit() if kind == "MPIJob" else not head


def _duration(item: Object) -> float | None:
    begin, end = (read(item, "status", key) for key in ("startTime", "completionTime"))
    if not begin or not end:
        return None
    return (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds()


def _nodes(items: Iterable[Object]) -> Iterable[Node]:
    role = "node-role.kubernetes.io/"
    for item in items:
        offered = read(item, "status", "allocatable") or {}
        labels = read(item, "metadata", "labels") or {}
        yield Node(
            name=item["metadata"]["name"],
            roles=",".join(sorted(key.removeprefix(role) for key in labels if key.startswith(role))),
            ready=_condition(item, "Ready"),
            gpus=int(offered.get(GPU_RESOURCE, 0)),
            rdma={
                key.removeprefix(RDMA_PREFIX): int(offered[key])
                for key in sorted(offered)
                if key.startswith(RDMA_PREFIX)
            },
        )


def _condition(item: Object, kind: str) -> bool:
    conditions = read(item, "status", "conditions") or ()
    return any(entry["type"] == kind and entry["status"] == "True" for entry in conditions)


def _name(item: Object) -> str:
    namespace = read(item, "metadata", "namespace")
    return f"{namespace}/{item['metadata']['name']}" if namespace else str(item["metadata"]["name"])


def _in(namespace: str, items: Iterable[Object]) -> list[Object]:
    return [item for item in items if item["metadata"]["namespace"] == namespace]


def by_value(rdma: Mapping[str, int]) -> str:
    """Write the RDMA resources of a node shortly: `shared_ib0, shared_ib1: 100`."""
    groups: dict[int, list[str]] = defaultdict(list)
    for name, number in rdma.items():
        groups[number].append(name)
    return "; ".join(f"{', '.join(names)}: {number}" for number, names in groups.items())
