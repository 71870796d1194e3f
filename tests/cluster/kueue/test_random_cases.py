"""`./hpc hardware fit` and the scheduler with Kueue agree whether a job of a pool can start now.

Every case has nodes of two pools, a queue with a flavor of each, and a job of one of them; the cases of a batch are
tried at the same time. A run tries 60 cases of one seed; HPC_PLACEMENT_CASES sets another number.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from components.base.scheduling import TopologyLevel, topology_name, topology_spec
from components.queues.kueue import Flavor, flavor_spec
from core.apis import kinds, names
from core.apis.topology import HOSTNAME, REQUIRED
from core.hardware import profiles
from tests.cluster.kueue.cases import NODES, POOLS, Case, cases, stack
from tests.cluster.kueue.site import ELSEWHERE, LEAF, Manifest, Site
from tests.support import platform
from toolkit.simulator import names as simulated
from toolkit.simulator import pods

pytestmark = pytest.mark.cluster

COUNT = int(os.environ.get("HPC_PLACEMENT_CASES", "60"))
SEED = 20260
BATCH = 30
CASE = "hpc.example.com/case"
AMOUNTS = {"cpu": "256", "memory": "2000Gi", "pods": "250"}
MACHINES: Mapping[str, Mapping[str, str]] = {
    pool.name: {
        simulated.PROFILE: name,
        simulated.HOST_DRIVER: "true",
        **({} if name in profiles.PROFILES else {simulated.MACHINE: profiles.to_json(pool.nodes[0].hardware)}),
    }
    for pool in stack().settings.gpu_pools
    for name in [pool.nodes[0].hardware.name]
}
PLUGIN = "nvcr.io/nvidia/k8s-device-plugin:v0.17.0"
COVERED = ("cpu", "memory", names.GPU_RESOURCE)
IMAGE = "registry.example.com/tool:1"
LEVELS: Mapping[str | None, Mapping[str, str]] = {None: {}, "leaf": {REQUIRED: LEAF}, "host": {REQUIRED: HOSTNAME}}
"""What a job requests, by the level of the fabric."""
FLAVORS = {
    pool: Flavor(
        name=pool,
        node_labels={names.POOL: pool},
        levels=(TopologyLevel(name="leaf"),) if "leaf" in machines.levels else (),
    )
    for pool, machines in POOLS.items()
}


@pytest.fixture(scope="module")
def slots(near: Site) -> Iterator[list[str]]:
    """Make the nodes of a batch, and for each case flavors of its own nodes and a queue without limits."""
    for flavor in FLAVORS.values():
        levels = flavor.levels or ()
        spec = topology_spec(levels)
        near.api.apply(kinds.TOPOLOGY, platform.obj(kinds.TOPOLOGY, topology_name(levels), spec=spec))
    found = [f"case{number:02}" for number in range(min(BATCH, COUNT))]
    _each(lambda slot: _prepare(near, slot), found)
    gpus = {f"{slot}-{host}": POOLS[pool].gpus for slot in found for host, pool in NODES.items()}
    near.api.eventually(lambda: all(near.api.offers(node, names.GPU_RESOURCE) == gpus[node] for node in gpus))
    yield found
    _each(lambda node: near.api.delete(kinds.NODE, node), gpus)


def _each(do: Callable[[str], object], slots: Iterable[str]) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(do, slots))


def _prepare(near: Site, slot: str) -> None:
    for host, pool in NODES.items():
        node, leaf = f"{slot}-{host}", POOLS[pool].leaves[host]
        labels = {HOSTNAME: node, CASE: slot, names.POOL: pool, **({LEAF: f"{slot}-{leaf}"} if leaf else {})}
        machine = platform.obj(kinds.NODE, node)
        machine["metadata"] |= {"labels": labels, "annotations": MACHINES[pool]}
        near.api.apply(kinds.NODE, machine)
        status = {"capacity": AMOUNTS, "allocatable": AMOUNTS}
        near.api.patch(kinds.NODE, node, {"status": status}, sub="status")
        spec = {"nodeName": node, "containers": [{"name": "plugin", "image": PLUGIN}]}
        near.api.apply(kinds.POD, platform.obj(kinds.POD, f"plugin-{node}", "kube-system", spec=spec))
    for pool, flavor in FLAVORS.items():
        spec = flavor_spec(flavor.model_copy(update={"node_labels": {**flavor.node_labels, CASE: slot}}))
        near.api.apply(kinds.RESOURCE_FLAVOR, platform.obj(kinds.RESOURCE_FLAVOR, f"{slot}-{pool}", spec=spec))
    quotas = [{"name": resource, "nominalQuota": "100Ti"} for resource in COVERED]
    flavors = [{"name": f"{slot}-{pool}", "resources": quotas} for pool in FLAVORS]
    group = {"coveredResources": COVERED, "flavors": flavors}
    queue: Manifest = {"namespaceSelector": {}, "resourceGroups": [group]}
    near.api.apply(kinds.CLUSTER_QUEUE, platform.obj(kinds.CLUSTER_QUEUE, slot, spec=queue))
    near.api.apply(kinds.LOCAL_QUEUE, platform.obj(kinds.LOCAL_QUEUE, slot, near.tenant, spec={"clusterQueue": slot}))


def _occupy(near: Site, slot: str, case: Case) -> None:
    """Run pods beside Kueue on the nodes of a case, so that only its free GPUs are left."""
    for host, free in case.free.items():
        if taken := POOLS[NODES[host]].gpus - free:
            node = f"{slot}-{host}"
            limits = {"limits": {names.GPU_RESOURCE: str(taken)}}
            spec = {"nodeName": node, "containers": [{"name": "main", "image": IMAGE, "resources": limits}]}
            pod = platform.obj(kinds.POD, node, ELSEWHERE, spec=spec)
            pod["metadata"]["labels"] = {CASE: slot}
            near.api.create(kinds.POD, pod, ELSEWHERE)


def _start(near: Site, slot: str, case: Case) -> None:
    limits = {"limits": {"cpu": "1", "memory": "1Gi", names.GPU_RESOURCE: str(case.gpus)}}
    container = {"name": "main", "image": IMAGE, "resources": limits}
    pod = {"restartPolicy": "Never", "nodeSelector": {names.POOL: case.pool}, "containers": [container]}
    template = {"metadata": {"labels": {CASE: slot}, "annotations": LEVELS[case.level]}, "spec": pod}
    counts = {"parallelism": case.pods, "completions": case.pods, "completionMode": "Indexed"}
    job = platform.obj(kinds.JOB, slot, near.tenant, spec={**counts, "template": template})
    job["metadata"]["labels"] = {names.QUEUE_NAME: slot}
    near.api.create(kinds.JOB, job, near.tenant)


def _outcomes(near: Site, slots: Sequence[str], batch: Sequence[Case]) -> list[bool | str]:
    """Return for each case whether its job has started whole or waits without a pod; else what is seen of it."""
    found = near.api.list(kinds.WORKLOAD, near.tenant)["items"]
    workloads = {each["metadata"]["ownerReferences"][0]["name"]: each for each in found}
    nodes: dict[str, list[str]] = {slot: [] for slot in slots}
    for pod in near.api.pods(near.tenant, CASE):
        nodes[pods.labels(pod)[CASE]].append(pods.node_name(pod))
    return [_outcome(case, workloads.get(slot, {}), nodes[slot]) for slot, case in zip(slots, batch, strict=False)]


def _outcome(case: Case, workload: Manifest, nodes: Sequence[str]) -> bool | str:
    used = Counter(node.partition("-")[2] for node in nodes)
    admitted = pods.condition(workload, "Admitted")
    if admitted and len(nodes) == case.pods and all(nodes):
        own = all(host in case.own for host in used)
        close = own and len({POOLS[case.pool].domain(host, case.level) for host in used}) == 1
        if close and all(number * case.gpus <= case.own[host] for host, number in used.items()):
            return True
    held = [one for one in (workload.get("status") or {}).get("conditions") or [] if one["type"] == "QuotaReserved"]
    # With several flavors the message is about the flavor that was tried last.
    if not nodes and any(one["status"] == "False" and "couldn't assign flavors" in one["message"] for one in held):
        return False
    return f"admitted {admitted}, pods on {dict(used)}, {[one['message'] for one in held]}"


def _run(near: Site, slots: Sequence[str], batch: Sequence[Case], *, alone: bool) -> list[str]:
    """Try cases at the same time; return those in which Kueue does not do what place says, and then `alone`, too."""
    by_slot = dict(zip(slots, batch, strict=False))
    _each(lambda slot: _occupy(near, slot, by_slot[slot]), by_slot)
    near.api.eventually(lambda: all(map(pods.runs, near.api.pods(ELSEWHERE, CASE))))
    _each(lambda slot: _start(near, slot, by_slot[slot]), by_slot)
    wrong = _disagreements(near, slots, batch)
    _each(lambda slot: _vacate(near, slot), by_slot)
    if alone:
        wrong += _disagreements(near, slots, [case.alone for case in batch])
    _each(lambda slot: near.api.delete(kinds.JOB, slot, near.tenant), by_slot)
    near.api.eventually(lambda: not near.api.pods(ELSEWHERE, CASE) and not near.api.pods(near.tenant, CASE))
    near.api.eventually(lambda: not [slot for slot in by_slot if near.workloads(slot)])
    return wrong


def _disagreements(near: Site, slots: Sequence[str], batch: Sequence[Case]) -> list[str]:
    wanted = [case.fits for case in batch]
    try:
        near.api.eventually(lambda: _outcomes(near, slots, batch) == wanted, seconds=120)
    except AssertionError:
        found = zip(batch, wanted, _outcomes(near, slots, batch), strict=True)
        return [f"{case}: place {fits}, Kueue {done}" for case, fits, done in found if done is not fits]
    return []


def _vacate(near: Site, slot: str) -> None:
    for host in NODES:
        near.api.delete(kinds.POD, f"{slot}-{host}", ELSEWHERE)


def test_place_and_kueue_agree(near: Site, slots: list[str]) -> None:
    """A job that fits its pool is admitted and its pods run there as requested; any other waits without a pod.

    One of the first batch that waits for GPUs of its pool starts when others free them.
    """
    tried = list(cases(COUNT, SEED))
    wrong = [
        each
        for first in range(0, COUNT, len(slots))
        for each in _run(near, slots, tried[first : first + len(slots)], alone=first == 0)
    ]
    assert wrong == []
    # Both outcomes are frequent, or the test would prove little.
    fitting = sum(case.fits for case in tried[:BATCH])
    assert len(slots) // 5 < fitting < len(slots) * 4 // 5
