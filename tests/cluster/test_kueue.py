"""The real Kueue on a small simulated cluster: what it admits, what it preempts, and what it does not know."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from apis import kinds, names
from apis.kinds import Kind
from cli.status.jobs import Job, jobs
from components.kueue import Queues, QueuesArgs, Quota, TenantQueue
from components.kueue_operator import KueueOperator, KueueOperatorArgs
from components.layout import Layout
from components.mpi_job import V2Beta1
from components.mpi_operator import MpiOperator, MpiOperatorArgs
from components.mpi_scc import MpiScc, MpiSccArgs
from components.tenant import IdRange, Tenant, TenantArgs
from simulator import names as simulated
from simulator.actors import pods
from simulator.actors.api import ApiError, Server
from simulator.cluster import ClusterSpec, NodeSpec
from tests.cluster.declaring import Declared, subscribe
from tests.components.kit import mpi_job_manifest as job_of
from tests.simulator.actors import platform
from tests.simulator.actors.conftest import Person
from tests.support.clusters import running

pytestmark = pytest.mark.cluster

Manifest = dict[str, Any]

NODES = ("dgx01", "dgx02", "dgx03")
SPEC = ClusterSpec(
    name="test-kueue",
    nodes=(*(NodeSpec(name=name, profile="dgx-a100") for name in NODES), NodeSpec(name="worker01")),
    release="current",
    mpi="v2beta1",
    job_controllers=("kueue",),
    run_seconds=0.5,
)
TENANT, ELSEWHERE = "adas", "default"
GPUS = 8 * len(NODES)
RDMA = ("rdma/rail0",)
MPI = kinds.MPI_JOB_V2BETA1
LONG = 600
PRIORITY_CLASS = Kind("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", "Cluster")


def _operators() -> None:
    subscribe("openshift-cert-manager-operator", "kueue-operator")
    MpiOperator("mpi", MpiOperatorArgs(kind=MPI, image="mpioperator/mpi-operator:0.8.0"))


def _tenant() -> None:
    scc = MpiSccArgs(base="restricted-v2")
    MpiScc("scc", scc)
    ids = IdRange(start=1075480000)
    Tenant(
        TENANT,
        TenantArgs(namespace=TENANT, uid_range=ids, mcs="s0:c26,c5", gpu_quota=64, scc_name=scc.scc_name, queued=True),
    )
    KueueOperator("kueue", KueueOperatorArgs())


def _queue() -> None:
    quota = Quota(gpus=GPUS, cpus=100, memory_gib=400)
    tenants = (TenantQueue(namespace=TENANT, quota=quota),)
    labels = {"kubernetes.io/os": "linux"}
    args = QueuesArgs(flavor="dgx", node_labels=labels, preempt="LowerPriority", rdma=RDMA, tenants=tenants)
    Queues("queues", args)


class Site(Declared):
    """The cluster and its jobs."""

    def submit(self, name: str, *, pods_: int, gpus: int, seconds: int = LONG, priority: str = "low") -> None:
        """Create a Job of pods that run together, in the tenant's queue."""
        amounts = {"cpu": "1", "memory": "1Gi", names.GPU_RESOURCE: str(gpus)}
        container = {"name": "main", "image": "registry.example.com/tool:1", "resources": {"limits": amounts}}
        template = {
            "metadata": {"annotations": {simulated.TAKES: str(seconds)}},
            "spec": {"restartPolicy": "Never", "priorityClassName": priority, "containers": [container]},
        }
        spec = {"parallelism": pods_, "completions": pods_, "completionMode": "Indexed", "template": template}
        job = platform.obj(kinds.JOB, name, TENANT, spec=spec)
        job["metadata"]["labels"] = {names.QUEUE_NAME: "jobs"}
        self.api.create(kinds.JOB, job, TENANT)

    def end(self, kind: Kind, name: str) -> None:
        """Delete a job, and wait for the end of its Workload."""
        self.api.delete(kind, name, TENANT)
        self.api.eventually(lambda: not self.workloads(name) and not self.pods_of(name))

    def workloads(self, name: str) -> list[Manifest]:
        """Return the Workloads of a job."""
        found = self.api.list(kinds.WORKLOAD, TENANT)["items"]
        return [one for one in found if one["metadata"]["ownerReferences"][0]["name"] == name]

    def met(self, name: str, condition: str) -> bool:
        """Return whether a job's Workload meets a condition."""
        return any(pods.condition(one, condition) for one in self.workloads(name))

    def pods_of(self, name: str) -> list[Manifest]:
        """Return the pods of a job."""
        return [pod for pod in self.api.pods(TENANT) if pod["metadata"]["name"].startswith(f"{name}-")]

    def phases(self, name: str) -> list[str]:
        """Return the phases of a job's pods, in order."""
        return sorted(map(pods.phase, self.pods_of(name)))

    def shown(self, name: str) -> Job:
        """Return a job as `./hpc status` has it."""

        def everything(kind: Kind) -> Sequence[Manifest]:
            try:
                return [*self.api.list(kind)["items"]]
            except ApiError as error:  # of JobSets and TrainJobs, which this cluster does not serve
                if not error.missing:
                    raise
                return []

        (found,) = (job for job in jobs(everything, everything, MPI) if job.name == name)
        return found


def _mpi_job(name: str, **changes: Any) -> Manifest:
    asked: Manifest = {
        "volumes": {"data": {"kind": "claim", "claim": "data"}},
        "cpus": 8,
        "memory": "64Gi",
        "v2beta1": V2Beta1(queue="jobs"),
        **changes,
    }
    job: Manifest = job_of(job_name=name, namespace=TENANT, **asked)
    job["metadata"]["labels"] = {names.QUEUE_NAME: "jobs"}
    return job


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    """Run the cluster, with GPUs on its nodes, Kueue, and one tenant with its queue."""
    with running(SPEC) as started:
        server = Server(started.kubeconfig)
        token = server.token
        made = Site(Person(server, lambda: token, "tests"))
        made.declare(_operators)
        for name, value in (("low", 100), ("high", 200)):
            made.api.apply(PRIORITY_CLASS, platform.obj(PRIORITY_CLASS, name, value=value))
        made.declare(_tenant)
        made.declare(_queue)
        parts = {"driver": "nvcr.io/nvidia/driver:580", "plugin": "nvcr.io/nvidia/k8s-device-plugin:v0.17.0"}
        for part, image in parts.items():
            for node in NODES:
                spec = {"nodeName": node, "containers": [{"name": part, "image": image}]}
                made.api.apply(kinds.POD, platform.obj(kinds.POD, f"{part}-{node}", "kube-system", spec=spec))
        for node in NODES:
            made.api.eventually(lambda n=node: made.api.offers(n, names.GPU_RESOURCE) == 8)  # type: ignore[misc]
        yield made


def test_its_kinds_are_served_in_both_versions(site: Site) -> None:
    """An object of v1beta2 is converted to v1beta1 by the manager's own webhook."""
    assert site.api.get(kinds.CLUSTER_QUEUE, TENANT)["spec"]["queueingStrategy"] == "BestEffortFIFO"
    older = Kind("kueue.x-k8s.io", "v1beta1", "ClusterQueue", "clusterqueues", "Cluster")
    assert site.api.get(older, TENANT)["apiVersion"] == "kueue.x-k8s.io/v1beta1"


def test_launcher_and_workers_are_admitted_together_or_not_at_all(site: Site) -> None:
    """A launcher without quota keeps the whole job waiting: no worker holds GPUs meanwhile."""
    job = _mpi_job("large", rdma_resources=RDMA, layout=Layout(pods=2, gpus=8))
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
    job = _mpi_job("uncovered", rdma_resources=(*RDMA, "rdma/rail1"), layout=Layout(pods=1, gpus=8))
    site.api.create(MPI, job, TENANT)
    why = "Kueue: couldn't assign flavors to pod set worker: resource rdma/rail1 unavailable in ClusterQueue"
    site.api.eventually(lambda: why in site.shown("uncovered").hindrances)
    assert site.shown("uncovered").state == "Suspended"
    site.end(MPI, "uncovered")


def test_a_job_that_fits_its_quota_may_not_fit_the_nodes(site: Site) -> None:
    """Kueue counts quotas, not nodes: 8, 8 and 8 GPUs are admitted onto 7, 7 and 8, and two pods wait."""
    for node in NODES[:2]:
        limits = {"limits": {names.GPU_RESOURCE: "1"}}
        container = {"name": "one", "image": "registry.example.com/tool:1", "resources": limits}
        spec = {"nodeSelector": {"kubernetes.io/hostname": node}, "containers": [container]}
        site.api.apply(kinds.POD, platform.obj(kinds.POD, f"takes-{node}", ELSEWHERE, spec=spec))
        site.api.eventually(
            lambda n=node: pods.runs(site.api.get(kinds.POD, f"takes-{n}", ELSEWHERE))  # type: ignore[misc]
        )
    site.submit("torn", pods_=3, gpus=8)
    site.api.eventually(lambda: site.met("torn", "Admitted"))
    site.api.eventually(lambda: site.phases("torn") == ["Pending", "Pending", "Running"])
    for node in NODES[:2]:
        site.api.delete(kinds.POD, f"takes-{node}", ELSEWHERE)
    site.api.eventually(lambda: site.phases("torn") == ["Running"] * 3)
    site.end(kinds.JOB, "torn")


def test_a_preempted_job_runs_again(site: Site) -> None:
    """A job of a higher priority takes the quota of a lower one, which waits, says why, and starts again."""
    site.submit("low", pods_=3, gpus=8)
    site.api.eventually(lambda: site.phases("low") == ["Running"] * 3)
    first = {pod["metadata"]["uid"] for pod in site.pods_of("low")}
    site.submit("high", pods_=2, gpus=8, seconds=3, priority="high")
    site.api.eventually(lambda: site.met("low", "Evicted"))
    site.api.eventually(lambda: any("Preempted to accommodate" in text for text in site.shown("low").hindrances))
    site.api.eventually(lambda: site.api.condition(kinds.JOB, "high", TENANT, "Complete"))
    site.api.eventually(lambda: site.phases("low") == ["Running"] * 3)
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
