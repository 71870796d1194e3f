"""The real JobSet, alone and under the real Kueue, on a small simulated cluster."""

from collections.abc import Iterator
from typing import Any

import pytest

from apis import kinds, names
from components.jobset_operator import JobSetOperator, JobSetOperatorArgs
from components.kueue import Queues, QueuesArgs, Quota, TenantQueue
from components.kueue_operator import KueueOperator, KueueOperatorArgs
from components.tenant import IdRange, Tenant, TenantArgs
from simulator.actors import pods
from simulator.actors.api import ApiError, Server
from simulator.cluster import ClusterSpec, NodeSpec
from tests.cluster.declaring import Declared, subscribe
from tests.support import platform
from tests.support.clusters import running
from tests.support.person import Person

pytestmark = pytest.mark.cluster

Manifest = dict[str, Any]

JOB_SET = kinds.JOB_SET
SPEC = ClusterSpec(
    name="test-jobset",
    nodes=(NodeSpec(name="worker01"), NodeSpec(name="worker02")),
    release="current",
    mpi="v2beta1",
    job_controllers=("kueue", "jobset"),
    run_seconds=0.5,
)
TENANT, ELSEWHERE = "adas", "default"


def _operators() -> None:
    subscribe("openshift-cert-manager-operator", "job-set", "kueue-operator")


def _job_sets() -> None:
    JobSetOperator("jobset", JobSetOperatorArgs())


def _kueue() -> None:
    ids = IdRange(start=1075480000)
    Tenant(
        TENANT, TenantArgs(namespace=TENANT, uid_range=ids, mcs="s0:c26,c5", gpu_quota=0, scc_name=None, queued=True)
    )
    KueueOperator("kueue", KueueOperatorArgs(frameworks=("BatchJob", "JobSet")))


def _queue() -> None:
    tenants = (TenantQueue(namespace=TENANT, quota=Quota(gpus=0, cpus=4, memory_gib=8)),)
    Queues("queues", QueuesArgs(flavor="workers", node_labels={"kubernetes.io/os": "linux"}, tenants=tenants))


def _job_set(name: str, namespace: str, *, pods_: int, cpus: int = 1) -> Manifest:
    container = {"name": "node", "image": "registry.example.com/tool:1"}
    asked = {"resources": {"limits": {"cpu": str(cpus), "memory": "1Gi"}}}
    pod = {"restartPolicy": "Never", "containers": [container | asked]}
    job = {"parallelism": pods_, "completions": pods_, "template": {"spec": pod}}
    parts = [{"name": "node", "template": {"spec": job}}]
    return platform.obj(JOB_SET, name, namespace, spec={"replicatedJobs": parts})


@pytest.fixture(scope="module")
def site() -> Iterator[Declared]:
    """Run the cluster with both operators, and a tenant with a queue."""
    with running(SPEC) as started:
        server = Server(started.kubeconfig)
        token = server.token
        made = Declared(Person(server, lambda: token, "tests"))
        for build in (_operators, _job_sets, _kueue, _queue):
            made.declare(build)
        yield made


def _done(site: Declared, name: str, namespace: str) -> bool:
    return site.api.condition(JOB_SET, name, namespace, "Completed") is not None


def test_a_job_set_has_its_defaults_and_runs(site: Declared) -> None:
    """The webhooks fill in what a JobSet leaves out, the controller makes its jobs, and it completes with them."""
    site.api.create(JOB_SET, _job_set("plain", ELSEWHERE, pods_=2), ELSEWHERE)
    spec = site.api.get(JOB_SET, "plain", ELSEWHERE)["spec"]
    assert spec["replicatedJobs"][0]["template"]["spec"]["completionMode"] == "Indexed"
    assert spec["successPolicy"]["operator"] == "All"
    site.api.eventually(lambda: _done(site, "plain", ELSEWHERE), seconds=300)
    (job,) = site.api.list(kinds.JOB, ELSEWHERE, "jobset.sigs.k8s.io/jobset-name=plain")["items"]
    assert job["metadata"]["name"] == "plain-node-0"
    assert job["status"]["succeeded"] == 2


def test_what_its_webhooks_refuse_is_refused(site: Declared) -> None:
    """A success policy about a job that the set does not have is refused by the controller's own validation."""
    wrong = _job_set("wrong", ELSEWHERE, pods_=1)
    wrong["spec"]["successPolicy"] = {"operator": "All", "targetReplicatedJobs": ["nobody"]}
    with pytest.raises(ApiError, match="invalid replicatedJob name 'nobody'"):
        site.api.create(JOB_SET, wrong, ELSEWHERE)


def test_a_job_set_is_one_workload(site: Declared) -> None:
    """Under Kueue a JobSet waits as a whole for all its pods; its jobs have no Workloads of their own."""
    for name, count in (("first", 2), ("large", 5)):
        body = _job_set(name, TENANT, pods_=count)
        body["metadata"]["labels"] = {names.QUEUE_NAME: "jobs"}
        site.api.create(JOB_SET, body, TENANT)
    site.api.eventually(lambda: _done(site, "first", TENANT), seconds=300)
    why = "couldn't assign flavors to pod set node: insufficient quota for cpu in flavor workers"
    site.api.eventually(lambda: any(why in text for text in _refusals(site, "large")))
    owners = {one["metadata"]["ownerReferences"][0]["kind"] for one in site.api.list(kinds.WORKLOAD, TENANT)["items"]}
    assert owners == {"JobSet"}
    assert site.api.pods(TENANT, "jobset.sigs.k8s.io/jobset-name=large") == []


def _refusals(site: Declared, name: str) -> list[str]:
    return [
        condition["message"]
        for one in site.api.list(kinds.WORKLOAD, TENANT)["items"]
        if one["metadata"]["ownerReferences"][0]["name"] == name
        for condition in (one.get("status") or {}).get("conditions") or []
    ]


def test_the_controllers_run_as_their_own_accounts(site: Declared) -> None:
    """Both managers are pods with service accounts that are not system:masters, and ready since they answer."""
    for namespace, name in (
        ("openshift-jobset-operator", "jobset-controller-manager"),
        ("openshift-kueue-operator", "kueue-controller-manager"),
    ):
        (pod,) = site.api.pods(namespace, f"app={name}")
        assert pods.runs(pod)
        assert pod["spec"]["serviceAccountName"] == name
