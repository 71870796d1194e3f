"""What the real Job controller, JobSet and Trainer make of a job's resilience, as the program declares it."""

from typing import Any

import pytest

from components.jobs import batch_job, train_job
from components.jobs.resilience import Resilience
from core.apis import kinds, names
from tests.cluster.job_sets.site import ELSEWHERE, Site
from tests.components import kit
from tests.support import platform
from toolkit.simulator.names import TAKES

pytestmark = pytest.mark.cluster

Manifest = dict[str, Any]

FREE = {"limit": 1, "count_disruptions": False, "lost_after": 30}
SMALL = {"limits": {"cpu": "1", "memory": "1Gi"}}
_DISRUPTED = {"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}
_ENDED = {"terminated": {"exitCode": 1, "reason": "Error"}}


def _running(site: Site, selector: str, count: int) -> list[Manifest]:
    """Return the pods that have a selector, once so many run."""

    def run() -> list[Manifest]:
        found = site.api.list(kinds.POD, ELSEWHERE, selector)["items"]
        running = [pod for pod in found if (pod.get("status") or {}).get("phase") == "Running"]
        return running if len(running) == count else []

    site.api.eventually(run, seconds=300)
    return run()


def _fails(site: Site, pod: Manifest, *conditions: Manifest) -> None:
    """Write what a kubelet writes of a pod whose container ended with exit code 1; the conditions say why."""
    (container,) = pod["status"]["containerStatuses"]
    status = {
        "phase": "Failed",
        "conditions": [*pod["status"]["conditions"], *conditions],
        "containerStatuses": [container | {"state": _ENDED, "ready": False}],
    }
    site.api.patch(kinds.POD, pod["metadata"]["name"], {"status": status}, ELSEWHERE, sub="status")


def _restarts(site: Site) -> tuple[int, int]:
    """Return how often the JobSet was restarted, and how many of the times count."""
    status = site.api.get(kinds.JOB_SET, "train-02x08", ELSEWHERE).get("status") or {}
    return status.get("restarts") or 0, status.get("restartsCountTowardsMax") or 0


def _start(site: Site) -> None:
    """Create the TrainJob and its own runtime, for pods that fit on nodes without GPUs and run for an hour."""
    args = kit.train_job(
        namespace=ELSEWHERE,
        account="default",
        transport="tcp",
        rdma_resources=(),
        volumes={},
        mounts={},
        resilience={"restart": "all", **FREE},
    )
    spec = train_job.spec(args)
    spec["trainer"]["resourcesPerNode"] = SMALL
    (patch,) = spec["runtimePatches"]
    (job,) = patch["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"]
    template = job["template"]["spec"]["template"]
    template["metadata"] = {"annotations": {TAKES: "3600"}}
    del template["spec"]["containers"][0]["securityContext"]
    runtime = train_job.runtime_spec("1Gi", args.resilience)
    for kind, body in ((kinds.TRAINING_RUNTIME, runtime), (kinds.TRAIN_JOB, spec)):
        site.api.create(kind, platform.obj(kind, args.job_name, ELSEWHERE, spec=body), ELSEWHERE)


def test_a_disruption_costs_a_train_job_no_restart_and_a_failure_one(site: Site) -> None:
    """JobSet starts all pods again after both, and the failure beyond the limit is the end of the TrainJob."""
    _start(site)
    of_job = "jobset.sigs.k8s.io/jobset-name=train-02x08"
    first, second = _running(site, of_job, 2)
    waits = [entry.get("tolerationSeconds") for entry in first["spec"]["tolerations"]]
    assert waits == [30, 30]
    _fails(site, first, _DISRUPTED)
    site.api.eventually(lambda: _restarts(site) == (1, 0), seconds=120)
    third, fourth = _running(site, of_job, 2)
    uids = {pod["metadata"]["uid"] for pod in (first, second, third, fourth)}
    assert len(uids) == 4
    _fails(site, fourth)
    site.api.eventually(lambda: _restarts(site) == (2, 1), seconds=120)
    _fails(site, _running(site, of_job, 2)[0])
    site.api.eventually(lambda: site.api.condition(kinds.TRAIN_JOB, "train-02x08", ELSEWHERE, "Failed"), seconds=120)
    (failed,) = (
        condition
        for condition in site.api.get(kinds.JOB_SET, "train-02x08", ELSEWHERE)["status"]["conditions"]
        if condition["type"] == "Failed"
    )
    assert failed["reason"] == "ReachedMaxRestarts"


def test_a_disruption_costs_a_job_of_one_pod_none_of_its_limit(site: Site) -> None:
    """The Job controller replaces a pod that was disrupted without counting it, and one that failed once."""
    args = kit.gpu_job(account="default", volumes={}, mounts={}, resilience={"restart": "pods", **FREE})
    container = {"name": "main", "image": "registry.example.com/tool:1", "resources": SMALL}
    spec = batch_job.spec(args, container, {TAKES: "3600"})
    assert args.resilience == Resilience(restart="pods", limit=1, count_disruptions=False, lost_after=30)
    site.api.create(kinds.JOB, platform.obj(kinds.JOB, "alone", ELSEWHERE, spec=spec), ELSEWHERE)
    for count, condition in ((0, (_DISRUPTED,)), (1, ())):
        (pod,) = _running(site, f"{names.JOB_NAME}=alone", 1)
        _fails(site, pod, *condition)
        (again,) = _running(site, f"{names.JOB_NAME}=alone", 1)
        assert again["metadata"]["uid"] != pod["metadata"]["uid"]
        assert (site.api.get(kinds.JOB, "alone", ELSEWHERE)["status"].get("failed") or 0) == count
    _fails(site, again)
    site.api.eventually(lambda: site.api.condition(kinds.JOB, "alone", ELSEWHERE, "Failed"), seconds=120)
