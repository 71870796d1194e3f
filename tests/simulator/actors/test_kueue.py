"""Queues of jobs: what fits, what does not and why, and how a job is let go."""

from decimal import Decimal
from typing import Any

import pytest

from apis import kinds
from components.kueue import QueuesArgs, Quota, TenantQueue, cluster_queue_spec, flavor_spec
from components.kueue_operator import KueueOperatorArgs, spec
from components.mpi_job import V2Beta1
from simulator.actors import kueue, kueue_jobs, kueue_queues, kueue_quota
from simulator.actors.kueue_jobs import FRAMEWORKS
from simulator.actors.kueue_quota import Assignment, Queue, Usage
from tests.components.kit import mpi_job_manifest as job_of

Manifest = dict[str, Any]
MPI = FRAMEWORKS["MPIJob"]
RDMA = ("rdma/rail0",)
LABELS = {"nvidia.com/gpu.product": "A100"}
TENANT = TenantQueue(namespace="adas", quota=Quota(gpus=16, cpus=100, memory_gib=400))
ARGS = QueuesArgs(flavor="dgx", node_labels=LABELS, rdma=RDMA, tenants=(TENANT,), cohort="all")


def queue(name: str = "adas", usage: Usage | None = None, **limits: str) -> Queue:
    """Return the ClusterQueue of our own component; `limits` are further fields of the GPUs' quota."""
    made = {"metadata": {"name": name}, "spec": cluster_queue_spec(ARGS, TENANT)}
    made["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0] |= limits
    return kueue_quota.queue(made, usage or {})


def job(**changed: Any) -> Manifest:
    """Return a job of our own."""
    requested: Manifest = {"rdma_resources": RDMA, "cpus": 10, "memory": "50Gi", "v2beta1": V2Beta1(queue="jobs")}
    made = job_of(**{**requested, **changed})
    made["metadata"] |= {"uid": "1", "labels": {"kueue.x-k8s.io/queue-name": "jobs"}}
    return made


def assigned(made: Manifest, own: Queue, *others: Queue) -> Assignment | str:
    """Return what the queue says to a job."""
    return kueue_quota.assign(MPI.pod_sets(made), own, others)


def used(gpus: int) -> Usage:
    """Return the usage of so many GPUs."""
    return {("dgx", "nvidia.com/gpu"): Decimal(gpus)}


def test_a_job_is_counted_with_all_its_pods() -> None:
    """All pods of a job are counted, the launcher too."""
    found = assigned(job(), queue())
    assert isinstance(found, Assignment)
    assert found.usage["dgx", "nvidia.com/gpu"] == 16
    assert found.usage["dgx", "cpu"] > 20
    assert found.usage["dgx", "rdma/rail0"] == 2
    assert set(found.flavors) == {"launcher", "worker"}


def test_what_no_group_covers_keeps_a_job_waiting() -> None:
    """A resource that the quota does not cover keeps the job waiting."""
    said = assigned(job(rdma_resources=("rdma/rail0", "rdma/rail9")), queue())
    assert said == "couldn't assign flavors to pod set worker: resource rdma/rail9 unavailable in ClusterQueue"


@pytest.mark.parametrize(
    ("usage", "words"),
    [
        (used(8), "insufficient unused quota for nvidia.com/gpu in flavor dgx, 8 more needed"),
        (used(16), "insufficient unused quota for nvidia.com/gpu in flavor dgx, 16 more needed"),
    ],
)
def test_what_others_hold_is_not_free(usage: Usage, words: str) -> None:
    """Two jobs do not fit into the quota of one."""
    assert words in str(assigned(job(), queue(usage=usage)))


def test_what_never_fits_is_said_so() -> None:
    """A job larger than its quota is reported as such."""
    said = str(assigned(job(cpus=60), queue()))
    assert "insufficient quota for cpu in flavor dgx, previously considered podsets requests (500m)" in said
    assert said.endswith("+ current podset request (120) > maximum capacity (100)")


def test_idle_quota_is_borrowed_within_limits() -> None:
    """A queue borrows what its cohort leaves idle, up to its limit."""
    busy = queue(usage=used(16))
    assert isinstance(assigned(job(), busy, queue("maps")), Assignment)
    assert "8 more needed" in str(assigned(job(), busy, queue("maps", used(8))))
    limited = queue(usage=used(8), borrowingLimit="4")
    assert "4 more needed" in str(assigned(job(), limited, queue("maps")))
    assert "8 more needed" in str(assigned(job(), busy, queue("maps", lendingLimit="8")))


def test_init_containers_count_where_they_are_larger() -> None:
    """A pod counts with the larger of its containers' sum and its init containers."""
    small, large = ({"resources": {"requests": {"cpu": amount}}} for amount in ("1", "4"))
    pod = {"spec": {"containers": [small, small], "initContainers": [large]}}
    assert kueue_quota.requests(pod) == {"cpu": 4}
    assert kueue_quota.requests({"spec": {"containers": [small, large]}}) == {"cpu": 5}


def test_a_started_job_goes_to_the_machines_of_its_flavor() -> None:
    """Admitted pods get the flavor's node labels beside their own selectors."""
    made = job()
    patch = kueue_jobs.started(MPI, made, {"worker": [flavor_spec(ARGS)]})
    assert patch["spec"]["runPolicy"] == {"suspend": False}
    assert patch["spec"]["mpiReplicaSpecs"] == {"Worker": {"template": {"spec": {"nodeSelector": LABELS}}}}


def test_taints_of_the_machines_are_borne_once() -> None:
    """The flavor's tolerations are added once, beside the job's own."""
    taint = {"key": "nvidia.com/gpu", "operator": "Exists"}
    pod = {"spec": {"containers": [], "tolerations": [taint]}}
    made: Manifest = {"spec": {"template": pod}}
    flavor = {"tolerations": [taint, {"key": "other"}]}
    patch = kueue_jobs.started(FRAMEWORKS["BatchJob"], made, {"main": [flavor]})
    assert patch["spec"]["template"]["spec"]["tolerations"] == [taint, {"key": "other"}]


def test_a_batch_job_is_counted_with_the_pods_that_run_at_once() -> None:
    """A job counts with no more pods than it has completions."""
    pod = {"spec": {"containers": [{"resources": {"limits": {"cpu": "2"}}}]}}
    made = {"spec": {"parallelism": 4, "completions": 2, "template": pod}}
    (found,) = FRAMEWORKS["BatchJob"].pod_sets(made)
    assert found.count == 2
    assert found.requests["cpu"] == 4


def test_a_job_of_the_same_name_is_another_one() -> None:
    """A recreated job has a Workload of its own."""
    first, second = job(), job()
    second["metadata"]["uid"] = "2"
    assert kueue_jobs.workload_name(MPI, first) != kueue_jobs.workload_name(MPI, second)
    assert kueue_jobs.workload(MPI, first, "jobs")["metadata"]["ownerReferences"][0]["uid"] == "1"


def test_jobs_that_jobs_make_are_not_queued() -> None:
    """Jobs of jobs are not queued."""
    launcher: Manifest = {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "jobs"}, "ownerReferences": []}}
    assert kueue_jobs.queue_of(launcher) == "jobs"
    launcher["metadata"]["ownerReferences"] = [{"kind": "MPIJob", "controller": True}]
    assert kueue_jobs.queue_of(launcher) is None


def test_a_queue_tells_the_flavors_that_nobody_made() -> None:
    """The flavors of a queue that do not exist are named."""
    made = {"spec": cluster_queue_spec(ARGS, TENANT)}
    assert kueue_queues.missing_flavors(made, ["dgx"]) == []
    assert kueue_queues.missing_flavors(made, []) == ["dgx"]


def test_a_tenants_queue_is_as_active_as_what_it_points_to() -> None:
    """A LocalQueue is Active when its ClusterQueue is."""
    local = {"spec": {"clusterQueue": "adas"}}
    assert kueue_queues.of_tenant(local, {"adas"}, {"adas"})[0] == "True"
    assert kueue_queues.of_tenant(local, {"adas"}, set())[:2] == ("False", "ClusterQueueIsInactive")
    assert kueue_queues.of_tenant(local, set(), set())[:2] == ("False", "ClusterQueueDoesNotExist")


def test_only_active_queues_of_a_cohort_lend() -> None:
    """Only active queues of the same cohort lend."""
    made = {name: {"metadata": {"name": name}, "spec": cluster_queue_spec(ARGS, TENANT)} for name in ("a", "b", "c")}
    made["c"]["spec"]["cohortName"] = "other"
    _, others = kueue_queues.sharing("a", made, {"a", "b", "c"}, {})
    assert [one.name for one in others] == ["b"]
    assert kueue_queues.sharing("a", made, {"a", "c"}, {})[1] == []


def test_the_manager_is_told_our_frameworks() -> None:
    """The manager watches the kinds of jobs that the webhook holds."""
    resource = {"spec": spec(KueueOperatorArgs())}
    assert [each.kind for each in kueue.managed(resource)] == [kinds.JOB, kinds.MPI_JOB_V2BETA1]
    manager = kueue.operands("ns", kueue.frameworks(resource))[-1][1]
    (container,) = manager["spec"]["template"]["spec"]["containers"]
    assert container["args"] == ["--frameworks=BatchJob,MPIJob"]


def workload(name: str, *conditions: str, gpus: int = 0) -> Manifest:
    """Return a Workload with conditions that are true; one with GPUs is admitted."""
    part = {"flavors": {"nvidia.com/gpu": "dgx"}, "resourceUsage": {"nvidia.com/gpu": str(gpus)}}
    admitted = {"admission": {"clusterQueue": "adas", "podSetAssignments": [part]}} if gpus else {}
    status = {"conditions": [{"type": each, "status": "True"} for each in conditions]}
    return {"metadata": {"name": name}, "status": status | admitted}


def test_a_queue_tells_what_is_in_use_and_who_waits() -> None:
    """A queue's status counts pending and admitted jobs, not finished ones."""
    made = {"metadata": {"name": "adas"}, "spec": cluster_queue_spec(ARGS, TENANT)}
    there = [
        workload("runs", "Admitted", gpus=16),
        workload("borrows", "Admitted", gpus=8),
        workload("ended", "Admitted", "Finished", gpus=4),
        workload("waits"),
    ]
    status = kueue_queues.amounts_of(made, there, borrowing=True)
    assert [status[f"{each}Workloads"] for each in ("pending", "reserving", "admitted")] == [1, 2, 2]
    (flavor,) = status["flavorsUsage"]
    resources = {each["name"]: (each["total"], each["borrowed"]) for each in flavor["resources"]}
    assert flavor["name"] == "dgx"
    assert resources["nvidia.com/gpu"] == ("24", "8")
    assert resources["cpu"] == resources["memory"] == resources["rdma/rail0"] == ("0", "0")


def test_a_tenants_queue_tells_of_its_own_jobs_only() -> None:
    """A LocalQueue's status is about its own jobs, with the fields of the real kind, also without a ClusterQueue."""
    made = {"metadata": {"name": "adas"}, "spec": cluster_queue_spec(ARGS, TENANT)}
    (flavor,) = kueue_queues.amounts_of(made, [workload("runs", "Admitted", gpus=8)], borrowing=False)["flavorsUsage"]
    assert {"name": "nvidia.com/gpu", "total": "8"} in flavor["resources"]
    assert kueue_queues.amounts_of(None, [workload("waits")], borrowing=False)["flavorsUsage"] == []
