"""MPI jobs of today on a small simulated cluster: the operator's real controller v0.8.2, under our own declarations."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from components.jobs.layout import Layout
from components.jobs.mpi_job import V2Beta1
from components.operators.mpi_operator import MpiOperator, MpiOperatorArgs
from components.tenants.mpi_scc import MpiScc, MpiSccArgs
from components.tenants.tenant import IdRange, Tenant, TenantArgs
from core.apis import kinds
from core.apis.kinds import Kind
from tests.components.kit import mpi_job_manifest as job_of
from tests.support import platform
from tests.support.clusters import running
from tests.support.recorded import component
from tests.support.user import User
from toolkit.render.manifests import manifests
from toolkit.simulator import names, pods
from toolkit.simulator.actors.api import ApiError
from toolkit.simulator.cluster import Cluster, ClusterSpec, NodeSpec
from toolkit.simulator.processes.supervisor import Processes

pytestmark = pytest.mark.cluster

Manifest = dict[str, Any]

TENANT = "adas"
NODES = ("dgx01", "dgx02")
SPEC = ClusterSpec(
    name="test-mpi-v2beta1",
    nodes=tuple(NodeSpec(name=name, profile="dgx-a100") for name in NODES),
    release="current",
    mpi="v2beta1",
    run_seconds=1.0,
)
JOB = kinds.MPI_JOB_V2BETA1
FORMER = kinds.MPI_JOB_V1ALPHA2
RDMA = ("shared_ib0", "shared_ib1")
FIRST = ("CustomResourceDefinition", "Namespace", "SecurityContextConstraints")


@dataclass(frozen=True)
class MpiCluster:
    """The cluster with the operator and a tenant: `api` is the administrator."""

    started: Cluster
    api: User

    def submit(self, name: str, **changes: Any) -> None:
        """Create a job; it is small enough for the two machines unless `changes` say otherwise."""
        rdma = tuple(f"rdma/{name}" for name in RDMA)
        self.create(job_of(job_name=name, rdma_resources=rdma, cpus=8, memory="64Gi", **changes))

    def create(self, manifest: Manifest) -> None:
        """Create a job from its manifest."""
        self.api.create(JOB, manifest, TENANT)

    def ended(self, name: str) -> str | None:
        """Return which end a job has come to, None before it has."""
        return self.api.condition(JOB, name, TENANT, "Succeeded", "Failed")

    def pods(self, name: str, role: str) -> list[Manifest]:
        """Return a job's pods of a role."""
        selector = f"training.kubeflow.org/job-name={name},training.kubeflow.org/job-role={role}"
        return self.api.pods(TENANT, selector)

    def suspend(self, name: str, *, suspended: bool) -> None:
        """Suspend a job or resume it, as Kueue does."""
        self.api.patch(JOB, name, {"spec": {"runPolicy": {"suspend": suspended}}}, TENANT)


def _declare() -> None:
    uids = IdRange(start=1075480000)
    scc = MpiSccArgs(base="restricted-v2")
    MpiScc("scc", scc)
    Tenant(
        TENANT,
        TenantArgs(namespace=TENANT, uid_range=uids, mcs="s0:c26,c5", gpu_quota=64, scc_name=scc.scc_name),
    )
    MpiOperator("mpi", MpiOperatorArgs(kind=JOB, image="mpioperator/mpi-operator:0.8.2"))


def _former() -> None:
    images = {name: f"mpioperator/{name}:v0.2.3" for name in ("mpi-operator", "kubectl-delivery")}
    args = {"image": images["mpi-operator"], "kubectl_delivery_image": images["kubectl-delivery"]}
    MpiOperator("mpi", MpiOperatorArgs.model_validate({"kind": FORMER, **args}))


def _definition(found: list[Manifest]) -> Manifest:
    return next(each for each in found if each["kind"] == "CustomResourceDefinition")


def _played() -> list[tuple[Kind, Manifest]]:
    """Return what makes the machines offer GPUs and ports, and the tenant's volume."""
    parts = {"driver": "nvcr.io/nvidia/driver:580", "plugin": "nvcr.io/nvidia/k8s-device-plugin:v0.17.0"}
    bare = [
        platform.obj(
            kinds.POD,
            f"{part}-{node}",
            "kube-system",
            spec={"nodeName": node, "containers": [{"name": part, "image": image}]},
        )
        for node in NODES
        for part, image in parts.items()
    ]
    common = {"accessModes": ["ReadWriteMany"], "storageClassName": "static"}
    size = {"storage": "1Gi"}
    claim = "adas-data-pvc"
    volume = {**common, "capacity": size, "nfs": {"server": "192.0.2.1", "path": "/data"}}
    wanted = {**common, "volumeName": "data-pv", "resources": {"requests": size}}
    return [
        *((kinds.POD, pod) for pod in bare),
        *platform.rdma(*RDMA),
        (kinds.PERSISTENT_VOLUME, platform.obj(kinds.PERSISTENT_VOLUME, "data-pv", spec=volume)),
        (kinds.PERSISTENT_VOLUME_CLAIM, platform.obj(kinds.PERSISTENT_VOLUME_CLAIM, claim, TENANT, spec=wanted)),
    ]


@pytest.fixture(scope="module")
def lab() -> Iterator[MpiCluster]:
    """Run the cluster: it had the operator of 2020 once, and has that of today."""
    with running(SPEC) as started:
        api = User.of(started.kubeconfig)
        _apply(api, _definition(manifests(component(_former))))
        stale = platform.mpi_job("of-2020", 1, 8)
        stale["metadata"]["namespace"] = "default"
        api.eventually(lambda: api.create(FORMER, stale, "default"))
        for manifest in sorted(manifests(component(_declare)), key=lambda each: each["kind"] not in FIRST):
            _apply(api, manifest)
        for node in NODES:
            label = {"feature.node.kubernetes.io/pci-15b3.present": "true"}
            api.patch(kinds.NODE, node, {"metadata": {"labels": label}})
        for kind, body in _played():
            api.apply(kind, body)
        for node in NODES:
            for name, number in {"nvidia.com/gpu": 8, "rdma/shared_ib1": 100}.items():
                api.eventually(lambda n=node, r=name, w=number: api.offers(n, r) == w)  # type: ignore[misc]
        yield MpiCluster(started, api)


def _apply(api: User, manifest: Manifest) -> None:
    kind = kinds.find(manifest["apiVersion"], manifest["kind"])
    assert kind is not None
    api.apply(kind, manifest)


def test_a_job_of_today_succeeds(lab: MpiCluster) -> None:
    """A job succeeds, workers under scc-for-mpi and launcher under restricted-v2; then its workers are removed."""
    lab.submit("nccl-02x08", layout=Layout(pods=2, gpus=8))
    lab.api.eventually(lambda: lab.pods("nccl-02x08", "launcher"))
    workers = lab.pods("nccl-02x08", "worker")
    assert {pods.node_name(pod) for pod in workers} == {*NODES}
    assert {pods.annotations(pod)["openshift.io/scc"] for pod in workers} == {"scc-for-mpi"}
    assert lab.api.eventually(lambda: lab.ended("nccl-02x08")) == "Succeeded"
    (launcher,) = lab.pods("nccl-02x08", "launcher")
    assert pods.annotations(launcher)["openshift.io/scc"] == "restricted-v2"
    lab.api.eventually(lambda: not lab.pods("nccl-02x08", "worker"))
    types = [one["type"] for one in lab.api.get(JOB, "nccl-02x08", TENANT)["status"]["conditions"]]
    assert types == ["Created", "Running", "Succeeded"]


def test_jobs_of_2020_can_only_go(lab: MpiCluster) -> None:
    """Jobs of v1alpha2 can be read and deleted, and no new one is admitted."""
    with pytest.raises(ApiError, match=r"can only be read and deleted; use kubeflow\.org/v2beta1"):
        lab.api.create(FORMER, platform.mpi_job("new", 1, 8), TENANT)
    lab.api.delete(FORMER, "of-2020", "default")
    lab.api.eventually(lambda: lab.api.find(FORMER, "of-2020", "default") is None)


def test_the_launcher_waits_for_the_last_worker(lab: MpiCluster) -> None:
    """No launcher is created while a worker is Pending: 3 x 8 GPUs do not fit on two machines."""
    lab.submit("nccl-03x08", layout=Layout(pods=3, gpus=8))
    lab.api.eventually(lambda: [pods.phase(pod) for pod in lab.pods("nccl-03x08", "worker")].count("Running") == 2)
    assert lab.pods("nccl-03x08", "launcher") == []
    lab.suspend("nccl-03x08", suspended=True)  # the operator is quicker than the garbage collector
    lab.api.eventually(lambda: not lab.pods("nccl-03x08", "worker"))


def test_a_worker_without_sshd_fails_the_job(lab: MpiCluster) -> None:
    """A job whose worker runs no sshd fails with ssh's message."""
    manifest = job_of(job_name="no-sshd", rdma_resources=("rdma/shared_ib0",), cpus=8, memory="64Gi")
    worker = manifest["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]
    worker["command"] = ["sleep", "365d"]
    lab.create(manifest)
    assert lab.api.eventually(lambda: lab.ended("no-sshd")) == "Failed"
    (launcher,) = lab.pods("no-sshd", "launcher")
    state = launcher["status"]["containerStatuses"][0]["state"]["terminated"]
    assert state["message"] == "ssh: connect to host no-sshd-worker-0.no-sshd.adas.svc: Connection refused"


def test_a_job_that_was_suspended_goes_on(lab: MpiCluster) -> None:
    """A job that was suspended and resumed succeeds: the operator's role lets it clear the launcher's start time."""
    job = job_of(
        job_name="paused",
        rdma_resources=tuple(f"rdma/{name}" for name in RDMA),
        cpus=8,
        memory="64Gi",
        # The operator resumes launcher and workers at once: one that comes first fails, and is tried again.
        resilience={"limit": 6},
        v2beta1=V2Beta1(suspend=True),
    )
    launcher = job["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]
    # The operator takes two or three seconds to see that it is to pause; the work must not be over by then.
    launcher["metadata"] = {"annotations": {names.TAKES: "8"}}
    lab.create(job)
    lab.api.eventually(lambda: lab.api.find(kinds.JOB, "paused-launcher", TENANT))
    assert lab.pods("paused", "worker") == []
    lab.suspend("paused", suspended=False)
    lab.api.eventually(lambda: [pods.phase(pod) for pod in lab.pods("paused", "launcher")] == ["Running"])
    lab.suspend("paused", suspended=True)
    lab.api.eventually(lambda: not lab.pods("paused", "worker"))
    lab.api.eventually(lambda: lab.api.condition(kinds.JOB, "paused-launcher", TENANT, "Suspended"))
    lab.suspend("paused", suspended=False)
    assert lab.api.eventually(lambda: lab.ended("paused")) == "Succeeded"


def test_the_operator_is_refused_nothing(lab: MpiCluster) -> None:
    """The operator's role covers all that v0.8.2 does: its log has no refusal."""
    log = Processes(lab.started.home).log("actors").read_text()
    assert [line for line in log.splitlines() if "mpi-operator" in line and "forbidden" in line] == []
