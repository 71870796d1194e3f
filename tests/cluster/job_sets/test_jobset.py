"""The real JobSet, alone and under the real Kueue."""

from typing import Any

import pytest

from core.apis import kinds, names
from tests.cluster.job_sets.site import ELSEWHERE, TENANT, Site
from tests.support import platform
from tests.support.queues import FLAVOR
from toolkit.simulator import pods
from toolkit.simulator.actors.api import ApiError

pytestmark = pytest.mark.cluster

Manifest = dict[str, Any]

JOB_SET = kinds.JOB_SET


def _job_set(name: str, namespace: str, *, pods_: int) -> Manifest:
    container = {"name": "node", "image": "registry.example.com/tool:1"}
    asked = {"resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}
    pod = {"restartPolicy": "Never", "containers": [container | asked]}
    job = {"parallelism": pods_, "completions": pods_, "template": {"spec": pod}}
    parts = [{"name": "node", "template": {"spec": job}}]
    return platform.obj(JOB_SET, name, namespace, spec={"replicatedJobs": parts})


def _done(site: Site, name: str, namespace: str) -> bool:
    return site.api.condition(JOB_SET, name, namespace, "Completed") is not None


def test_a_job_set_has_its_defaults_and_runs(site: Site) -> None:
    """The webhooks fill in what a JobSet leaves out, the controller makes its jobs, and it completes with them."""
    site.api.create(JOB_SET, _job_set("plain", ELSEWHERE, pods_=2), ELSEWHERE)
    spec = site.api.get(JOB_SET, "plain", ELSEWHERE)["spec"]
    assert spec["replicatedJobs"][0]["template"]["spec"]["completionMode"] == "Indexed"
    assert spec["successPolicy"]["operator"] == "All"
    site.api.eventually(lambda: _done(site, "plain", ELSEWHERE), seconds=300)
    (job,) = site.api.list(kinds.JOB, ELSEWHERE, "jobset.sigs.k8s.io/jobset-name=plain")["items"]
    assert job["metadata"]["name"] == "plain-node-0"
    assert job["status"]["succeeded"] == 2


def test_what_its_webhooks_refuse_is_refused(site: Site) -> None:
    """A success policy about a job that the set does not have is refused by the controller's own validation."""
    wrong = _job_set("wrong", ELSEWHERE, pods_=1)
    wrong["spec"]["successPolicy"] = {"operator": "All", "targetReplicatedJobs": ["nobody"]}
    with pytest.raises(ApiError, match="invalid replicatedJob name 'nobody'"):
        site.api.create(JOB_SET, wrong, ELSEWHERE)


def test_a_job_set_is_one_workload(site: Site) -> None:
    """Under Kueue a JobSet waits as a whole for all its pods; its jobs have no Workloads of their own."""
    for name, count in (("first", 2), ("large", 5)):
        body = _job_set(name, TENANT, pods_=count)
        body["metadata"]["labels"] = {names.QUEUE_NAME: "jobs"}
        site.api.create(JOB_SET, body, TENANT)
    site.api.eventually(lambda: _done(site, "first", TENANT), seconds=300)
    why = f"couldn't assign flavors to pod set node: insufficient quota for cpu in flavor {FLAVOR}"
    site.api.eventually(lambda: any(why in text for text in site.queued("large").get("JobSet large", ())))
    assert site.queued("first", "large").keys() == {"JobSet first", "JobSet large"}
    assert site.api.pods(TENANT, "jobset.sigs.k8s.io/jobset-name=large") == []
    site.api.delete(JOB_SET, "large", TENANT)


def test_the_controllers_run_as_their_own_accounts(site: Site) -> None:
    """Both managers are pods with service accounts that are not system:masters, and ready since they answer."""
    for namespace, name in (
        ("openshift-jobset-operator", "jobset-controller-manager"),
        ("openshift-kueue-operator", "kueue-controller-manager"),
    ):
        (pod,) = site.api.pods(namespace, f"app={name}")
        assert pods.runs(pod)
        assert pod["spec"]["serviceAccountName"] == name
