"""The real Trainer over the real JobSet, as an administrator installs what Trainer publishes."""

from collections.abc import Iterator
from typing import Any

import pytest

from apis import kinds
from apis.kinds import Kind
from components.jobset_operator import JobSetOperator, JobSetOperatorArgs
from simulator import state, tools
from simulator.actors import grants, job_manifests
from simulator.actors.api import ApiError, Server
from simulator.cluster import Cluster, ClusterSpec, NodeSpec
from simulator.home import Layout
from simulator.manifests import deployment, manifest
from tests.cluster.declaring import Declared, subscribe
from tests.simulator.actors import platform
from tests.simulator.actors.conftest import Person
from tests.support.clusters import running

pytestmark = pytest.mark.cluster

Manifest = dict[str, Any]

GROUP = "trainer.kubeflow.org"
TRAIN_JOB = kinds.TRAIN_JOB
RUNTIME = kinds.CLUSTER_TRAINING_RUNTIME
NAMESPACE, MANAGER, ELSEWHERE = "kubeflow-system", "kubeflow-trainer-controller-manager", "default"
IMAGE = "ghcr.io/kubeflow/trainer/trainer-controller-manager:v2.2.1"
SPEC = ClusterSpec(
    name="test-trainer",
    nodes=(NodeSpec(name="worker01"), NodeSpec(name="worker02")),
    release="current",
    mpi="v2beta1",
    job_controllers=("jobset", "trainer"),
    run_seconds=0.5,
)


def _operators() -> None:
    subscribe("openshift-cert-manager-operator", "job-set")


def _job_sets() -> None:
    JobSetOperator("jobset", JobSetOperatorArgs())


def _installed(started: Cluster) -> list[tuple[Kind, Manifest]]:
    """Return what an administrator applies: kinds, account, rights and Deployment, as Trainer publishes them."""
    folder = tools.find("trainer-manifests")
    pod = {"serviceAccountName": MANAGER, "containers": [{"name": "manager", "image": IMAGE}]}
    return [
        (kinds.NAMESPACE, manifest(kinds.NAMESPACE, NAMESPACE)),
        *((kinds.CUSTOM_RESOURCE_DEFINITION, each) for each in job_manifests.definitions(folder)),
        grants.service_account(NAMESPACE, MANAGER),
        (kinds.CLUSTER_ROLE, manifest(kinds.CLUSTER_ROLE, MANAGER, rules=job_manifests.rules(folder))),
        grants.cluster_wide(MANAGER, NAMESPACE, MANAGER, ())[1],
        deployment(NAMESPACE, MANAGER, pod, started.name),
    ]


def _webhooks(started: Cluster) -> list[tuple[Kind, Manifest]]:
    known = state.load(Layout(started.home))
    assert known is not None
    port, ca = known.ports.trainer, Server(started.kubeconfig).ca
    return job_manifests.webhooks(
        tools.find("trainer-manifests"), "trainer-", lambda each: job_manifests.serving_loopback(each, port, ca)
    )


@pytest.fixture(scope="module")
def site() -> Iterator[Declared]:
    """Run the cluster with JobSet and Trainer."""
    with running(SPEC) as started:
        server = Server(started.kubeconfig)
        token = server.token
        made = Declared(Person(server, lambda: token, "tests"))
        for build in (_operators, _job_sets):
            made.declare(build)
        for kind, body in _installed(started):
            made.api.apply(kind, body)
        made.api.eventually(
            lambda: made.api.condition(kinds.DEPLOYMENT, MANAGER, NAMESPACE, "Available") is not None, seconds=90
        )
        for kind, body in _webhooks(started):
            made.api.apply(kind, body)
        yield made


def _runtime(name: str) -> Manifest:
    container = {"name": "node", "image": "registry.example.com/train:1"}
    ancestor = {"metadata": {"labels": {f"{GROUP}/trainjob-ancestor-step": "trainer"}}}
    job = {**ancestor, "spec": {"template": {"spec": {"containers": [container]}}}}
    replicated = [{"name": "node", "template": job}]
    spec = {"mlPolicy": {"numNodes": 2, "torch": {}}, "template": {"spec": {"replicatedJobs": replicated}}}
    labels = {f"{GROUP}/framework": "torch"}
    return manifest(RUNTIME, name, labels=labels, spec=spec)


def _train_job(name: str, **trainer: Any) -> Manifest:
    spec = {"runtimeRef": {"name": "torch"}, "trainer": {"numNodes": 2, "numProcPerNode": 4, **trainer}}
    return platform.obj(TRAIN_JOB, name, ELSEWHERE, spec=spec)


def test_a_train_job_becomes_a_job_set_and_completes(site: Declared) -> None:
    """A TrainJob gets its JobSet, whose pods know how to meet, and is Complete when they are."""
    site.api.create(RUNTIME, _runtime("torch"))
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
