"""A small cluster with Kueue and a tenant's queues, as tests of this folder use it."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from components.base.scheduling import TopologyLevel
from components.jobs.mpi_job import RunAs, V2Beta1
from components.operators.kueue_operator import KueueOperator, KueueOperatorArgs
from components.operators.mpi_operator import MpiOperator, MpiOperatorArgs
from components.queues.kueue import Queues, QueuesArgs
from components.queues.quota import Quota
from components.tenants.mpi_scc import MpiScc, MpiSccArgs
from components.tenants.tenant import IdRange, Tenant, TenantArgs
from core.apis import kinds, names, topology
from core.apis.kinds import Kind
from tests.cluster.declaring import Declared, subscribe
from tests.components.kit import mpi_job_manifest as job_of
from tests.support import platform
from tests.support.queues import queues_of
from tests.support.user import User
from toolkit.cli.status.jobs import Job, jobs
from toolkit.simulator import names as simulated
from toolkit.simulator import pods
from toolkit.simulator.actors.api import ApiError
from toolkit.simulator.cluster import ClusterSpec, NodeSpec

Manifest = dict[str, Any]

NODES = ("dgx01", "dgx02", "dgx03")
SPEC = ClusterSpec(
    name="test-kueue",
    nodes=(*(NodeSpec(name=name, profile="dgx-a100") for name in NODES), NodeSpec(name="worker01")),
    release="current",
    mpi="v2beta1",
    job_controllers=("cert_manager", "kueue"),
)
TENANT, NEAR, ELSEWHERE = "adas", "maps", "default"
"""A tenant whose queue counts quotas, one whose queue knows the fabric, and a namespace without Kueue."""
IDS = {TENANT: IdRange(start=1075480000), NEAR: IdRange(start=1075490000)}
LEAF = topology.LABELS["leaf"]
LEAVES = {"dgx01": "leaf-1", "dgx02": "leaf-1", "dgx03": "leaf-2"}
GPUS = 8 * len(NODES)
RDMA = ("rdma/rail0",)
MPI = kinds.MPI_JOB_V2BETA1
LONG = 600
PRIORITY_CLASS = Kind("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", "Cluster")


def operators() -> None:
    """Declare the operators of Kueue and of MPI jobs."""
    subscribe("openshift-cert-manager-operator", "kueue-operator")
    MpiOperator("mpi", MpiOperatorArgs(kind=MPI, image="mpioperator/mpi-operator:0.8.2"))


def tenants() -> None:
    """Declare both tenants and Kueue."""
    scc = MpiSccArgs(base="restricted-v2")
    MpiScc("scc", scc)
    for number, namespace in enumerate((TENANT, NEAR)):
        args = TenantArgs(
            namespace=namespace,
            uid_range=IDS[namespace],
            mcs=f"s0:c26,c{5 + number}",
            gpu_quota=64,
            scc_name=scc.scc_name,
            queued=True,
        )
        Tenant(namespace, args)
    KueueOperator("kueue", KueueOperatorArgs())


def queues() -> None:
    """Declare a queue over the machines for each tenant: by quotas alone, and by the leaf switches, too."""
    quota = Quota(gpus=GPUS, cpus=100, memory_gib=400)
    common: Manifest = {"node_labels": {"kubernetes.io/os": "linux"}, "rdma": RDMA}
    by_quota = queues_of({TENANT: quota}, **common, preempt="LowerPriority")
    Queues("queues", QueuesArgs.model_validate(by_quota))
    by_fabric = queues_of({NEAR: quota}, **common, levels=(TopologyLevel(name="leaf"),))
    Queues("near-queues", QueuesArgs.model_validate(by_fabric))


class Site(Declared):
    """The cluster, and the jobs of one tenant."""

    def __init__(self, api: User, tenant: str = TENANT) -> None:
        super().__init__(api)
        self.tenant = tenant

    def submit(
        self,
        name: str,
        *,
        pods_: int,
        gpus: int,
        seconds: int = LONG,
        priority: str = "low",
        queue: str = "jobs",
        annotations: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Create a Job of pods that run together, in a queue of the tenant."""
        amounts = {"cpu": "1", "memory": "1Gi", names.GPU_RESOURCE: str(gpus)}
        container = {"name": "main", "image": "registry.example.com/tool:1", "resources": {"limits": amounts}}
        template = {
            "metadata": {"annotations": {simulated.TAKES: str(seconds), **annotations}},
            "spec": {"restartPolicy": "Never", "priorityClassName": priority, "containers": [container]},
        }
        spec = {"parallelism": pods_, "completions": pods_, "completionMode": "Indexed", "template": template}
        job = platform.obj(kinds.JOB, name, self.tenant, spec=spec)
        job["metadata"]["labels"] = {names.QUEUE_NAME: queue}
        self.api.create(kinds.JOB, job, self.tenant)

    def end(self, kind: Kind, name: str) -> None:
        """Delete a job, and wait for the end of its Workload."""
        self.api.delete(kind, name, self.tenant)
        self.api.eventually(lambda: not self.workloads(name) and not self.pods_of(name))

    def occupy(self, node: str, gpus: int) -> None:
        """Run a pod beside Kueue that takes GPUs of a node, with a priority at which no job preempts it."""
        limits = {"limits": {names.GPU_RESOURCE: str(gpus)}}
        container = {"name": "one", "image": "registry.example.com/tool:1", "resources": limits}
        selector = {"kubernetes.io/hostname": node}
        spec = {"nodeSelector": selector, "priorityClassName": "high", "containers": [container]}
        self.api.apply(kinds.POD, platform.obj(kinds.POD, f"takes-{node}", ELSEWHERE, spec=spec))
        self.api.eventually(lambda: pods.runs(self.api.get(kinds.POD, f"takes-{node}", ELSEWHERE)))

    def vacate(self, node: str) -> None:
        """Delete that pod."""
        self.api.delete(kinds.POD, f"takes-{node}", ELSEWHERE)

    def on(self, name: str) -> list[str]:
        """Return the nodes on which the pods of a job run, in order."""
        return sorted(pods.node_name(pod) or "" for pod in self.pods_of(name) if pods.runs(pod))

    def workloads(self, name: str) -> list[Manifest]:
        """Return the Workloads of a job."""
        found = self.api.list(kinds.WORKLOAD, self.tenant)["items"]
        return [one for one in found if one["metadata"]["ownerReferences"][0]["name"] == name]

    def met(self, name: str, condition: str) -> bool:
        """Return whether a job's Workload meets a condition."""
        return any(pods.condition(one, condition) for one in self.workloads(name))

    def pods_of(self, name: str) -> list[Manifest]:
        """Return the pods of a job."""
        return [pod for pod in self.api.pods(self.tenant) if pod["metadata"]["name"].startswith(f"{name}-")]

    def phases(self, name: str) -> list[str]:
        """Return the phases of a job's pods, in order."""
        return sorted(map(pods.phase, self.pods_of(name)))

    def until_phases(self, name: str, phases: Sequence[str]) -> None:
        """Wait until the pods of a job have these phases, in order; fail with what its pods say."""
        try:
            self.api.eventually(lambda: self.phases(name) == phases)
        except AssertionError:
            shown = {pod["metadata"]["name"]: (pods.node_name(pod), pod["status"]) for pod in self.pods_of(name)}
            raise AssertionError(f"{name} is not {phases}: {shown}, of nodes {self.machines()}") from None

    def machines(self) -> Mapping[str, Manifest]:
        """Return taints and allocatable GPUs of the machines."""
        nodes = {node: self.api.get(kinds.NODE, node) for node in NODES}
        return {
            name: {"taints": node["spec"].get("taints"), "gpus": node["status"]["allocatable"].get(names.GPU_RESOURCE)}
            for name, node in nodes.items()
        }

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


def mpi_job(name: str, tenant: str = TENANT, **changes: Any) -> Manifest:
    """Return an MPI job in a tenant's queue."""
    asked: Manifest = {
        "run_as": RunAs(uid=IDS[tenant].start + 1000, gid=IDS[tenant].start + 1000),
        "volumes": {"data": {"kind": "claim", "claim": "data"}},
        "cpus": 8,
        "memory": "64Gi",
        "v2beta1": V2Beta1(queue="jobs"),
        **changes,
    }
    job: Manifest = job_of(job_name=name, namespace=tenant, **asked)
    job["metadata"]["labels"] = {names.QUEUE_NAME: "jobs"}
    return job
