"""`./hpc place` and the scheduler with Kueue agree whether a job can start now.

Every case has nodes, flavor and queue of its own, and the cases of a batch are tried at the same time. A run tries 60
cases of one seed; HPC_PLACEMENT_CASES sets another number.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from apis import kinds, names
from apis.topology import HOSTNAME, REQUIRED
from simulator import names as simulated
from simulator.actors import pods
from tests.cluster.kueue.cases import GPUS, NODES, Case, cases
from tests.cluster.kueue.site import ELSEWHERE, LEAF, Manifest, Site
from tests.support import platform

pytestmark = pytest.mark.cluster

COUNT = int(os.environ.get("HPC_PLACEMENT_CASES", "60"))
SEED = 20260
BATCH = 30
CASE = "hpc.example.com/case"
AMOUNTS = {"cpu": "256", "memory": "2000Gi", "pods": "250"}
MACHINE = {simulated.PROFILE: "dgx-a100", simulated.HOST_DRIVER: "true"}
PLUGIN = "nvcr.io/nvidia/k8s-device-plugin:v0.17.0"
COVERED = ("cpu", "memory", names.GPU_RESOURCE)
IMAGE = "registry.example.com/tool:1"
LEVELS: Mapping[str | None, Mapping[str, str]] = {None: {}, "leaf": {REQUIRED: LEAF}, "host": {REQUIRED: HOSTNAME}}
"""What a job requests, by the level of the fabric."""


@pytest.fixture(scope="module")
def slots(near: Site) -> Iterator[list[str]]:
    """Make the nodes of a batch, and for each case a flavor of its own nodes and a queue without limits."""
    found = [f"case{number:02}" for number in range(min(BATCH, COUNT))]
    _each(lambda slot: _prepare(near, slot), found)
    nodes = [f"{slot}-{host}" for slot in found for host in NODES]
    near.api.eventually(lambda: all(near.api.offers(node, names.GPU_RESOURCE) == GPUS for node in nodes))
    yield found
    _each(lambda node: near.api.delete(kinds.NODE, node), nodes)


def _each(do: Callable[[str], object], slots: Iterable[str]) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(do, slots))


def _prepare(near: Site, slot: str) -> None:
    for host, leaf in NODES.items():
        node = f"{slot}-{host}"
        labels = {HOSTNAME: node, LEAF: f"{slot}-{leaf}", CASE: slot}
        machine = platform.obj(kinds.NODE, node)
        machine["metadata"] |= {"labels": labels, "annotations": MACHINE}
        near.api.apply(kinds.NODE, machine)
        status = {"capacity": AMOUNTS, "allocatable": AMOUNTS}
        near.api.patch(kinds.NODE, node, {"status": status}, sub="status")
        spec = {"nodeName": node, "containers": [{"name": "plugin", "image": PLUGIN}]}
        near.api.apply(kinds.POD, platform.obj(kinds.POD, f"plugin-{node}", "kube-system", spec=spec))
    flavor = {"nodeLabels": {CASE: slot}, "topologyName": "leaf"}
    near.api.apply(kinds.RESOURCE_FLAVOR, platform.obj(kinds.RESOURCE_FLAVOR, slot, spec=flavor))
    quotas = [{"name": resource, "nominalQuota": "100Ti"} for resource in COVERED]
    group = {"coveredResources": COVERED, "flavors": [{"name": slot, "resources": quotas}]}
    queue: Manifest = {"namespaceSelector": {}, "resourceGroups": [group]}
    near.api.apply(kinds.CLUSTER_QUEUE, platform.obj(kinds.CLUSTER_QUEUE, slot, spec=queue))
    near.api.apply(kinds.LOCAL_QUEUE, platform.obj(kinds.LOCAL_QUEUE, slot, near.tenant, spec={"clusterQueue": slot}))


def _occupy(near: Site, slot: str, case: Case) -> None:
    """Run pods beside Kueue on the nodes of a case, so that only its free GPUs are left."""
    for host, free in case.free.items():
        if free < GPUS:
            node = f"{slot}-{host}"
            limits = {"limits": {names.GPU_RESOURCE: str(GPUS - free)}}
            spec = {"nodeName": node, "containers": [{"name": "main", "image": IMAGE, "resources": limits}]}
            pod = platform.obj(kinds.POD, node, ELSEWHERE, spec=spec)
            pod["metadata"]["labels"] = {CASE: slot}
            near.api.create(kinds.POD, pod, ELSEWHERE)


def _start(near: Site, slot: str, case: Case) -> None:
    limits = {"limits": {"cpu": "1", "memory": "1Gi", names.GPU_RESOURCE: str(case.gpus)}}
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": IMAGE, "resources": limits}]}
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
        domains = {"leaf": {NODES[host] for host in used}, "host": {*used}}
        close = case.level is None or len(domains[case.level]) == 1
        if close and all(number * case.gpus <= case.free[host] for host, number in used.items()):
            return True
    held = [one for one in (workload.get("status") or {}).get("conditions") or [] if one["type"] == "QuotaReserved"]
    if not nodes and any(one["status"] == "False" and "topology" in one["message"] for one in held):
        return False
    return f"admitted {admitted}, pods on {dict(used)}, {[one['message'] for one in held]}"


def _run(near: Site, slots: Sequence[str], batch: Sequence[Case]) -> list[str]:
    """Try cases at the same time; return those in which Kueue does not do what place says."""
    by_slot = dict(zip(slots, batch, strict=False))
    wanted = [case.fits for case in batch]
    _each(lambda slot: _occupy(near, slot, by_slot[slot]), by_slot)
    near.api.eventually(lambda: all(map(pods.runs, near.api.pods(ELSEWHERE, CASE))))
    _each(lambda slot: _start(near, slot, by_slot[slot]), by_slot)
    try:
        near.api.eventually(lambda: _outcomes(near, slots, batch) == wanted)
        wrong = []
    except AssertionError:
        found = zip(batch, wanted, _outcomes(near, slots, batch), strict=True)
        wrong = [f"{case}: place {fits}, Kueue {done}" for case, fits, done in found if done is not fits]
    _each(lambda slot: near.api.delete(kinds.JOB, slot, near.tenant), by_slot)
    _each(lambda slot: _vacate(near, slot), by_slot)
    near.api.eventually(lambda: not near.api.pods(ELSEWHERE, CASE) and not near.api.pods(near.tenant, CASE))
    near.api.eventually(lambda: not [slot for slot in by_slot if near.workloads(slot)])
    return wrong


def _vacate(near: Site, slot: str) -> None:
    for host in NODES:
        near.api.delete(kinds.POD, f"{slot}-{host}", ELSEWHERE)


def test_place_and_kueue_agree(near: Site, slots: list[str]) -> None:
    """A job that fits is admitted and all its pods are placed as requested; any other waits without a pod."""
    tried = list(cases(COUNT, SEED))
    wrong = [
        each for first in range(0, COUNT, len(slots)) for each in _run(near, slots, tried[first : first + len(slots)])
    ]
    assert wrong == []
    # Both outcomes are frequent, or the test would prove little.
    fitting = sum(case.fits for case in tried[:BATCH])
    assert len(slots) // 5 < fitting < len(slots) * 4 // 5
