"""The real Trainer over the real JobSet, alone and under the real Kueue, as the program declares them."""

from typing import Any

import pytest

from components.jobs.train_job import TrainingRuntimeArgs
from components.operators.trainer import CONTROLLER, NAMESPACE
from core.apis import kinds, names
from tests.cluster.job_sets.site import ELSEWHERE, IMAGE, TENANT, Site
from tests.support import platform
from tests.support.queues import FLAVOR
from toolkit.simulator.actors.api import ApiError

pytestmark = pytest.mark.cluster

Manifest = dict[str, Any]

TRAIN_JOB = kinds.TRAIN_JOB


def _pods(site: Site) -> list[str]:
    return [pod["metadata"]["name"] for pod in site.api.pods(NAMESPACE)]


def _train_job(name: str, namespace: str = ELSEWHERE, **trainer: Any) -> Manifest:
    runtime = TrainingRuntimeArgs().runtime_name
    whole = {"image": "registry.example.com/train:1", "numNodes": 2, "numProcPerNode": 4, **trainer}
    return platform.obj(TRAIN_JOB, name, namespace, spec={"runtimeRef": {"name": runtime}, "trainer": whole})


def test_a_train_job_becomes_a_job_set_and_completes(site: Site) -> None:
    """A TrainJob gets its JobSet, whose pods know how to meet, and is Complete when they are."""
    site.api.create(TRAIN_JOB, _train_job("train"), ELSEWHERE)
    site.api.eventually(lambda: site.api.condition(TRAIN_JOB, "train", ELSEWHERE, "Complete"), seconds=300)
    (job,) = site.api.list(kinds.JOB, ELSEWHERE, "jobset.sigs.k8s.io/jobset-name=train")["items"]
    (container,) = job["spec"]["template"]["spec"]["containers"]
    found = {each["name"]: each.get("value") for each in container["env"]}
    assert (found["PET_NNODES"], found["PET_NPROC_PER_NODE"]) == ("2", "4")
    assert found["PET_MASTER_ADDR"] == "train-node-0-0.train"
    assert job["status"]["succeeded"] == 2


def test_what_its_webhooks_refuse_is_refused(site: Site) -> None:
    """A TrainJob that sets a variable of the rendezvous itself is refused by the controller's own validation."""
    with pytest.raises(ApiError, match="PET_NNODES"):
        site.api.create(TRAIN_JOB, _train_job("own", env=[{"name": "PET_NNODES", "value": "3"}]), ELSEWHERE)


def test_its_webhooks_answer_while_its_pod_is_ready(site: Site) -> None:
    """Without a pod the Service has no endpoint, and no TrainJob is created; the next pod answers again."""
    site.api.patch(kinds.DEPLOYMENT, CONTROLLER, {"spec": {"replicas": 0}}, NAMESPACE)
    site.api.eventually(lambda: not site.api.pods(NAMESPACE))
    with pytest.raises(ApiError, match=f"Service {NAMESPACE}/{CONTROLLER} has no ready endpoint"):
        site.api.create(TRAIN_JOB, _train_job("early"), ELSEWHERE)
    site.api.patch(kinds.DEPLOYMENT, CONTROLLER, {"spec": {"replicas": 1}}, NAMESPACE)
    site.api.eventually(lambda: site.available() is not None)
    site.api.eventually(site.endpoints)
    site.api.create(TRAIN_JOB, _train_job("later"), ELSEWHERE)


def test_a_new_pod_starts_beside_the_old_one(site: Site) -> None:
    """Another image is another pod, which is ready before the old one goes: both serve their webhooks meanwhile."""
    (old,) = _pods(site)
    deployment = site.api.get(kinds.DEPLOYMENT, CONTROLLER, NAMESPACE)
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    newer = {**container, "image": IMAGE.replace("v2.2.1", "v2.2.2")}
    change = {"spec": {"template": {"spec": {"containers": [newer]}}}}
    site.api.patch(kinds.DEPLOYMENT, CONTROLLER, change, NAMESPACE)
    site.api.eventually(lambda: _pods(site) and old not in _pods(site))
    assert site.available()
    site.api.create(TRAIN_JOB, _train_job("after"), ELSEWHERE)
    site.api.eventually(lambda: site.api.condition(TRAIN_JOB, "after", ELSEWHERE, "Complete"), seconds=300)


def test_a_train_job_is_one_workload(site: Site) -> None:
    """Under Kueue a TrainJob waits as a whole for all its pods; its JobSet and Jobs have no Workloads of their own."""
    asked = {"limits": {"cpu": "1", "memory": "1Gi"}}
    for name, count in (("short", 2), ("long", 5)):
        body = _train_job(name, TENANT, numNodes=count, resourcesPerNode=asked)
        body["metadata"]["labels"] = {names.QUEUE_NAME: "jobs"}
        site.api.create(TRAIN_JOB, body, TENANT)
    site.api.eventually(lambda: site.api.condition(TRAIN_JOB, "short", TENANT, "Complete"), seconds=300)
    why = f"insufficient quota for cpu in flavor {FLAVOR}"
    site.api.eventually(lambda: any(why in text for text in site.queued("long").get("TrainJob long", ())))
    assert site.queued("short", "long").keys() == {"TrainJob short", "TrainJob long"}
    assert site.api.pods(TENANT, "jobset.sigs.k8s.io/jobset-name=long") == []
