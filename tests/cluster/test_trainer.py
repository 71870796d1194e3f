"""The real Trainer over the real JobSet, alone and under the real Kueue, as the program declares them."""

from collections.abc import Iterator
from typing import Any

import pytest

from apis import kinds, names
from components.jobset_operator import JobSetOperator, JobSetOperatorArgs
from components.kueue import Queues, QueuesArgs, Quota, TenantQueue
from components.kueue_operator import KueueOperator, KueueOperatorArgs
from components.tenant import IdRange, Tenant, TenantArgs
from components.trainer import CONTROLLER, NAMESPACE, Trainer, TrainerArgs
from components.training_runtime import TrainingRuntime, TrainingRuntimeArgs
from simulator.actors.api import ApiError, Server
from simulator.actors.service_network import SERVICE_NAME
from simulator.actors.sim_kinds import ENDPOINT_SLICE
from simulator.cluster import ClusterSpec, NodeSpec
from tests.cluster.declaring import Declared, subscribe
from tests.support import platform
from tests.support.clusters import running
from tests.support.person import Person

pytestmark = pytest.mark.cluster

Manifest = dict[str, Any]

TRAIN_JOB = kinds.TRAIN_JOB
TENANT, ELSEWHERE = "adas", "default"
IMAGE = "ghcr.io/kubeflow/trainer/trainer-controller-manager:v2.2.1"
SPEC = ClusterSpec(
    name="test-trainer",
    nodes=(NodeSpec(name="worker01"), NodeSpec(name="worker02")),
    release="current",
    mpi="v2beta1",
    job_controllers=("kueue", "jobset", "trainer"),
    run_seconds=0.5,
)


def _operators() -> None:
    subscribe("openshift-cert-manager-operator", "job-set", "kueue-operator")


def _job_sets() -> None:
    JobSetOperator("jobset", JobSetOperatorArgs())


def _trainer() -> None:
    Trainer("trainer", TrainerArgs(image=IMAGE))


def _runtime() -> None:
    TrainingRuntime("torch-runtime", TrainingRuntimeArgs())


def _kueue() -> None:
    ids = IdRange(start=1075480000)
    Tenant(
        TENANT, TenantArgs(namespace=TENANT, uid_range=ids, mcs="s0:c26,c5", gpu_quota=0, scc_name=None, queued=True)
    )
    KueueOperator("kueue", KueueOperatorArgs(frameworks=("BatchJob", "TrainJob")))


def _queue() -> None:
    tenants = (TenantQueue(namespace=TENANT, quota=Quota(gpus=0, cpus=4, memory_gib=8)),)
    Queues("queues", QueuesArgs(flavor="workers", node_labels={"kubernetes.io/os": "linux"}, tenants=tenants))


@pytest.fixture(scope="module")
def site() -> Iterator[Declared]:
    """Run the cluster with all three, and a tenant with a queue."""
    with running(SPEC) as started:
        server = Server(started.kubeconfig)
        token = server.token
        made = Declared(Person(server, lambda: token, "tests"))
        for build in (_operators, _job_sets, _trainer):
            made.declare(build)
        made.api.eventually(lambda: _available(made) and _endpoints(made))
        for build in (_runtime, _kueue, _queue):
            made.declare(build)
        yield made


def _available(site: Declared) -> str | None:
    return site.api.condition(kinds.DEPLOYMENT, CONTROLLER, NAMESPACE, "Available")


def _pods(site: Declared) -> list[str]:
    return [pod["metadata"]["name"] for pod in site.api.pods(NAMESPACE)]


def _train_job(name: str, namespace: str = ELSEWHERE, **trainer: Any) -> Manifest:
    runtime = TrainingRuntimeArgs().runtime_name
    whole = {"image": "registry.example.com/train:1", "numNodes": 2, "numProcPerNode": 4, **trainer}
    return platform.obj(TRAIN_JOB, name, namespace, spec={"runtimeRef": {"name": runtime}, "trainer": whole})


def test_a_train_job_becomes_a_job_set_and_completes(site: Declared) -> None:
    """A TrainJob gets its JobSet, whose pods know how to meet, and is Complete when they are."""
    site.api.create(TRAIN_JOB, _train_job("train"), ELSEWHERE)
    site.api.eventually(lambda: site.api.condition(TRAIN_JOB, "train", ELSEWHERE, "Complete"), seconds=300)
    (job,) = site.api.list(kinds.JOB, ELSEWHERE, "jobset.sigs.k8s.io/jobset-name=train")["items"]
    (container,) = job["spec"]["template"]["spec"]["containers"]
    found = {each["name"]: each.get("value") for each in container["env"]}
    assert (found["PET_NNODES"], found["PET_NPROC_PER_NODE"]) == ("2", "4")
    assert found["PET_MASTER_ADDR"] == "train-node-0-0.train"
    assert job["status"]["succeeded"] == 2


def test_what_its_webhooks_refuse_is_refused(site: Declared) -> None:
    """A TrainJob that sets a variable of the rendezvous itself is refused by the controller's own validation."""
    with pytest.raises(ApiError, match="PET_NNODES"):
        site.api.create(TRAIN_JOB, _train_job("own", env=[{"name": "PET_NNODES", "value": "3"}]), ELSEWHERE)


def test_its_webhooks_answer_while_its_pod_is_ready(site: Declared) -> None:
    """Without a pod the Service has no endpoint, and no TrainJob is created; the next pod answers again."""
    site.api.patch(kinds.DEPLOYMENT, CONTROLLER, {"spec": {"replicas": 0}}, NAMESPACE)
    site.api.eventually(lambda: not site.api.pods(NAMESPACE))
    with pytest.raises(ApiError, match=f"Service {NAMESPACE}/{CONTROLLER} has no ready endpoint"):
        site.api.create(TRAIN_JOB, _train_job("early"), ELSEWHERE)
    site.api.patch(kinds.DEPLOYMENT, CONTROLLER, {"spec": {"replicas": 1}}, NAMESPACE)
    site.api.eventually(lambda: _available(site) is not None)
    site.api.eventually(lambda: _endpoints(site))
    site.api.create(TRAIN_JOB, _train_job("later"), ELSEWHERE)


def _endpoints(site: Declared) -> list[Manifest]:
    """Return the ready endpoints of the Service, which are known a moment after the pod is ready."""
    slices = site.api.list(ENDPOINT_SLICE, NAMESPACE, f"{SERVICE_NAME}={CONTROLLER}")["items"]
    return [one for found in slices for one in found.get("endpoints") or [] if one["conditions"]["ready"]]


def test_a_new_pod_starts_beside_the_old_one(site: Declared) -> None:
    """Another image is another pod, which is ready before the old one goes: both serve their webhooks meanwhile."""
    (old,) = _pods(site)
    deployment = site.api.get(kinds.DEPLOYMENT, CONTROLLER, NAMESPACE)
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    newer = {**container, "image": IMAGE.replace("v2.2.1", "v2.2.2")}
    change = {"spec": {"template": {"spec": {"containers": [newer]}}}}
    site.api.patch(kinds.DEPLOYMENT, CONTROLLER, change, NAMESPACE)
    site.api.eventually(lambda: _pods(site) and old not in _pods(site))
    assert _available(site)
    site.api.create(TRAIN_JOB, _train_job("after"), ELSEWHERE)
    site.api.eventually(lambda: site.api.condition(TRAIN_JOB, "after", ELSEWHERE, "Complete"), seconds=300)


def test_a_train_job_is_one_workload(site: Declared) -> None:
    """Under Kueue a TrainJob waits as a whole for all its pods; its JobSet and Jobs have no Workloads of their own."""
    asked = {"limits": {"cpu": "1", "memory": "1Gi"}}
    for name, count in (("first", 2), ("large", 5)):
        body = _train_job(name, TENANT, numNodes=count, resourcesPerNode=asked)
        body["metadata"]["labels"] = {names.QUEUE_NAME: "jobs"}
        site.api.create(TRAIN_JOB, body, TENANT)
    site.api.eventually(lambda: site.api.condition(TRAIN_JOB, "first", TENANT, "Complete"), seconds=300)
    why = "insufficient quota for cpu in flavor workers"
    site.api.eventually(lambda: any(why in text for text in _refusals(site, "large")))
    owners = {one["metadata"]["ownerReferences"][0]["kind"] for one in site.api.list(kinds.WORKLOAD, TENANT)["items"]}
    assert owners == {"TrainJob"}
    assert site.api.pods(TENANT, "jobset.sigs.k8s.io/jobset-name=large") == []


def _refusals(site: Declared, name: str) -> list[str]:
    return [
        condition["message"]
        for one in site.api.list(kinds.WORKLOAD, TENANT)["items"]
        if one["metadata"]["ownerReferences"][0]["name"] == name
        for condition in (one.get("status") or {}).get("conditions") or []
    ]
