"""Topology-aware scheduling: jobs are admitted when their pods fit on nodes as they are, and as close as requested."""

import pytest

from components.base.scheduling import TopologyLevel, topology_name, topology_spec
from components.jobs.layout import Layout
from components.queues.kueue import Flavor, QueuesArgs, TenantQueue, cluster_queue_spec, flavor_spec
from components.queues.quota import Quota
from core.apis import kinds, names
from core.apis.nccl import Transport
from core.apis.topology import PREFERRED, REQUIRED
from tests.cluster.kueue.site import LEAF, MPI, NEAR, NODES, Site, mpi_job
from tests.support import platform

pytestmark = pytest.mark.cluster


def test_a_job_that_does_not_fit_the_nodes_waits_whole(near: Site) -> None:
    """8, 8 and 8 GPUs onto 7, 7 and 8 free ones: no pod is created, `./hpc status` says why, and room lets it go."""
    for node in NODES[:2]:
        near.occupy(node, 1)
    near.submit("whole", pods_=3, gpus=8)
    near.api.eventually(lambda: any("topology" in text for text in near.shown("whole").hindrances))
    assert near.pods_of("whole") == []
    assert near.shown("whole").state == "Suspended"
    for node in NODES[:2]:
        near.vacate(node)
    near.until_phases("whole", ["Running"] * 3)
    near.end(kinds.JOB, "whole")


def test_a_job_that_needs_one_leaf_waits_for_it(near: Site) -> None:
    """Two free nodes of different leaves are not enough; the job starts when two of one leaf are free."""
    near.occupy("dgx01", 1)
    near.submit("close", pods_=2, gpus=8, annotations={REQUIRED: LEAF})
    why = near.api.eventually(lambda: near.shown("close").hindrances)
    assert any("topology" in text for text in why), why
    near.submit("anywhere", pods_=2, gpus=8, seconds=3, annotations={PREFERRED: LEAF})
    near.api.eventually(lambda: near.on("anywhere") == ["dgx02", "dgx03"])
    assert near.pods_of("close") == []
    near.end(kinds.JOB, "anywhere")
    assert near.pods_of("close") == []
    near.vacate("dgx01")
    near.api.eventually(lambda: near.on("close") == ["dgx01", "dgx02"])
    near.end(kinds.JOB, "close")


def test_workers_of_an_mpi_job_are_on_one_leaf(near: Site) -> None:
    """Workers have the request and the launcher has none, and Kueue gives all of them nodes at once."""
    near.occupy("dgx03", 1)
    near.occupy("dgx02", 1)
    small = {"transport": Transport.TCP, "volumes": {}, "mounts": {}}
    job = mpi_job("mpi", NEAR, layout=Layout(pods=2, gpus=8), required_topology=LEAF, **small)
    near.api.create(MPI, job, NEAR)
    near.api.eventually(lambda: any("topology" in text for text in near.shown("mpi").hindrances))
    assert near.pods_of("mpi") == []
    near.vacate("dgx02")
    near.api.eventually(lambda: near.on("mpi-worker") == ["dgx01", "dgx02"])
    near.end(MPI, "mpi")
    near.vacate("dgx03")


def test_launcher_and_workers_are_of_different_flavors(near: Site) -> None:
    """Workers run on their pool's nodes and the launcher on one without GPUs; a job without a request is admitted."""
    for node in (*NODES, "worker01"):
        labels = {names.POOL: "cpu" if node == "worker01" else "training"}
        near.api.patch(kinds.NODE, node, {"metadata": {"labels": labels}})
    quota = Quota(gpus=8 * len(NODES), cpus=100, memory_gib=400)
    args = QueuesArgs(
        flavors=(
            Flavor(name="cpu", node_labels={names.POOL: "cpu"}, levels=()),
            Flavor(name="training", node_labels={names.POOL: "training"}, levels=(TopologyLevel(name="leaf"),)),
        ),
        tenants=(TenantQueue(namespace=NEAR, quotas={"cpu": quota.model_copy(update={"gpus": 0}), "training": quota}),),
    )
    for flavor in args.flavors:
        levels = flavor.levels or ()
        of_levels = platform.obj(kinds.TOPOLOGY, topology_name(levels), spec=topology_spec(levels))
        near.api.apply(kinds.TOPOLOGY, of_levels)
        of_flavor = platform.obj(kinds.RESOURCE_FLAVOR, flavor.flavor_name, spec=flavor_spec(flavor))
        near.api.apply(kinds.RESOURCE_FLAVOR, of_flavor)
    queue = platform.obj(kinds.CLUSTER_QUEUE, "pools", spec=cluster_queue_spec(args, args.tenants[0]))
    near.api.apply(kinds.CLUSTER_QUEUE, queue)
    near.api.apply(kinds.LOCAL_QUEUE, platform.obj(kinds.LOCAL_QUEUE, "pools", NEAR, spec={"clusterQueue": "pools"}))
    small = {"transport": Transport.TCP, "volumes": {}, "mounts": {}, "node_labels": {names.POOL: "training"}}
    job = mpi_job("both", NEAR, layout=Layout(pods=2, gpus=8), required_topology=LEAF, **small)
    job["metadata"]["labels"] = {names.QUEUE_NAME: "pools"}
    near.api.create(MPI, job, NEAR)
    near.api.eventually(lambda: near.on("both-worker") == ["dgx01", "dgx02"])
    (workload,) = near.workloads("both")
    assigned = workload["status"]["admission"]["podSetAssignments"]
    flavors = {pod_set["name"]: pod_set["flavors"]["cpu"] for pod_set in assigned}
    assert flavors == {"launcher": "cpu-host", "worker": "training-leaf"}
    near.submit("single", pods_=1, gpus=8, queue="pools")
    near.api.eventually(lambda: near.on("single") == ["dgx03"])
    near.end(kinds.JOB, "single")
    near.end(MPI, "both")
    near.api.delete(kinds.LOCAL_QUEUE, "pools", NEAR)
    near.api.delete(kinds.CLUSTER_QUEUE, "pools")
