"""The real Kueue on a small simulated cluster: what it admits, what it preempts, and what it does not know."""

import pytest

from components.jobs.layout import Layout
from components.queues.kueue import QueuesArgs, cluster_queue_spec
from components.queues.quota import Quota
from core.apis import kinds
from core.apis.kinds import Kind
from tests.cluster.kueue.site import MPI, NODES, RDMA, TENANT, Site, mpi_job
from tests.support import platform
from tests.support.queues import queues_of
from toolkit.simulator import pods

pytestmark = pytest.mark.cluster


def test_its_kinds_are_served_in_both_versions(site: Site) -> None:
    """An object of v1beta2 is converted to v1beta1 by the manager's own webhook."""
    assert site.api.get(kinds.CLUSTER_QUEUE, TENANT)["spec"]["queueingStrategy"] == "BestEffortFIFO"
    older = Kind("kueue.x-k8s.io", "v1beta1", "ClusterQueue", "clusterqueues", "Cluster")
    assert site.api.get(older, TENANT)["apiVersion"] == "kueue.x-k8s.io/v1beta1"


def test_launcher_and_workers_are_admitted_together_or_not_at_all(site: Site) -> None:
    """A launcher without quota keeps the whole job waiting: no worker holds GPUs meanwhile."""
    job = mpi_job("large", rdma_resources=RDMA, layout=Layout(pods=2, gpus=8))
    launcher = job["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"][0]
    launcher["resources"] = {"requests": {"cpu": "101"}, "limits": {"cpu": "101"}}
    site.api.create(MPI, job, TENANT)
    why = "couldn't assign flavors to pod set launcher: insufficient quota for cpu in flavor dgx"
    site.api.eventually(lambda: any(why in text for text in site.shown("large").hindrances))
    assert site.pods_of("large") == []
    assert not site.met("large", "QuotaReserved")
    site.end(MPI, "large")


def test_a_resource_without_quota_is_named(site: Site) -> None:
    """A job that asks for a resource that no quota covers waits for ever, and `./hpc status` says for which."""
    job = mpi_job("uncovered", rdma_resources=(*RDMA, "rdma/rail1"), layout=Layout(pods=1, gpus=8))
    site.api.create(MPI, job, TENANT)
    why = "Kueue: couldn't assign flavors to pod set worker: resource rdma/rail1 unavailable in ClusterQueue"
    site.api.eventually(lambda: why in site.shown("uncovered").hindrances)
    assert site.shown("uncovered").state == "Suspended"
    site.end(MPI, "uncovered")


def test_a_job_that_fits_its_quota_may_not_fit_the_nodes(site: Site) -> None:
    """Kueue counts quotas, not nodes: 8, 8 and 8 GPUs are admitted onto 7, 7 and 8, and two pods wait."""
    for node in NODES[:2]:
        site.occupy(node, 1)
    site.submit("torn", pods_=3, gpus=8)
    site.api.eventually(lambda: site.met("torn", "Admitted"))
    site.until_phases("torn", ["Pending", "Pending", "Running"])
    for node in NODES[:2]:
        site.vacate(node)
    site.until_phases("torn", ["Running"] * 3)
    site.end(kinds.JOB, "torn")


def test_a_quota_of_nothing_borrows_unless_it_may_not(site: Site) -> None:
    """Of two queues without a quota the one holds what a third lends, and the other waits though all is idle."""
    quotas = {
        "lender": Quota(gpus=8, cpus=8, memory_gib=8),
        "borrower": Quota(gpus=0, cpus=0, memory_gib=0),
        "outsider": Quota(gpus=0, cpus=0, memory_gib=0, borrows=False),
    }
    fields = {"node_labels": {"kubernetes.io/os": "linux"}, "cohort": "lending"}
    args = QueuesArgs.model_validate(queues_of(quotas, **fields))
    for tenant in args.tenants:
        name, spec = tenant.namespace, cluster_queue_spec(args, tenant) | {"namespaceSelector": {}}
        site.api.apply(kinds.CLUSTER_QUEUE, platform.obj(kinds.CLUSTER_QUEUE, name, spec=spec))
        site.api.apply(kinds.LOCAL_QUEUE, platform.obj(kinds.LOCAL_QUEUE, name, TENANT, spec={"clusterQueue": name}))
    site.submit("outsider", pods_=1, gpus=8, queue="outsider")
    why = "insufficient quota for nvidia.com/gpu in flavor dgx"
    site.api.eventually(lambda: any(why in text for text in site.shown("outsider").hindrances))
    site.submit("borrower", pods_=1, gpus=8, queue="borrower")
    site.api.eventually(lambda: site.met("borrower", "Admitted"))
    site.end(kinds.JOB, "borrower")
    assert not site.met("outsider", "QuotaReserved")
    site.end(kinds.JOB, "outsider")
    for name in quotas:
        site.api.delete(kinds.LOCAL_QUEUE, name, TENANT)
        site.api.delete(kinds.CLUSTER_QUEUE, name)


def test_a_preempted_job_runs_again(site: Site) -> None:
    """A job of a higher priority takes the quota of a lower one, which waits, says why, and starts again."""
    site.submit("low", pods_=3, gpus=8)
    site.until_phases("low", ["Running"] * 3)
    first = {pod["metadata"]["uid"] for pod in site.pods_of("low")}
    site.submit("high", pods_=2, gpus=8, seconds=3, priority="high")
    site.api.eventually(lambda: site.met("low", "Evicted"))
    site.api.eventually(lambda: any("Preempted to accommodate" in text for text in site.shown("low").hindrances))
    site.api.eventually(lambda: site.api.condition(kinds.JOB, "high", TENANT, "Complete"))
    site.until_phases("low", ["Running"] * 3)
    assert not first & {pod["metadata"]["uid"] for pod in site.pods_of("low")}
    site.end(kinds.JOB, "low")
    site.end(kinds.JOB, "high")


def test_a_new_pod_of_the_manager_is_ready_when_it_answers(site: Site) -> None:
    """A manager that starts again knows all queues, and its pod is not ready before its webhooks answer."""
    (pod,) = site.api.pods("openshift-kueue-operator", "app=kueue-controller-manager")
    site.api.delete(kinds.POD, pod["metadata"]["name"], "openshift-kueue-operator")
    site.api.eventually(lambda: _manager(site) not in ("", pod["metadata"]["uid"]))
    site.submit("after", pods_=1, gpus=1, seconds=0)
    site.api.eventually(lambda: site.api.condition(kinds.JOB, "after", TENANT, "Complete"))


def _manager(site: Site) -> str:
    found = site.api.pods("openshift-kueue-operator", "app=kueue-controller-manager")
    return next((pod["metadata"]["uid"] for pod in found if pods.runs(pod)), "")
