"""Rows of the tables, from plain objects."""

from collections.abc import Sequence
from typing import Any

import pytest

from core.apis import kinds
from core.apis.kinds import Kind
from core.apis.operators import OPERATORS
from stacks.releases import RELEASES, ReleaseName
from tests.support.messages import has
from toolkit.cli.status.jobs import job_state
from toolkit.cli.status.overview import Overview, by_value, overview

TRUE = "True"


def _look(objects: dict[Kind, list[dict[str, Any]]], release: ReleaseName = "4.4") -> Overview:
    def listed(kind: Kind) -> Sequence[dict[str, Any]]:
        return objects.get(kind, [])

    return overview(listed, listed, RELEASES[release], "worker")


def _scheduled(pod: str, node: str, namespace: str = "adas") -> dict[str, Any]:
    where = {"kind": "Pod", "namespace": namespace, "name": pod}
    message = f"Successfully assigned {namespace}/{pod} to {node}"
    return {"reason": "Scheduled", "message": message, "involvedObject": where}


@pytest.mark.parametrize(
    ("conditions", "state"),
    [
        ([("Created", TRUE), ("Running", "False"), ("Succeeded", TRUE)], "Succeeded"),
        ([("Created", TRUE), ("Running", TRUE)], "Running"),
        ([("Created", TRUE), ("Failed", TRUE)], "Failed"),
        ([("Created", TRUE), ("Suspended", TRUE), ("Running", "False")], "Suspended"),
        ([("Created", TRUE), ("Suspended", "False"), ("Running", TRUE)], "Running"),
        ([("SuccessCriteriaMet", TRUE), ("Complete", TRUE)], "Succeeded"),
        ([], "Pending"),
    ],
)
def test_job_state(conditions: list[tuple[str, str]], state: str) -> None:
    """The state of a job is that of its conditions."""
    listed = [{"type": kind, "status": status} for kind, status in conditions]
    assert job_state({"status": {"conditions": listed}}) == state


def test_nodes_of_a_job_whose_workers_are_gone() -> None:
    """The nodes of a finished job, whose workers are removed, are known from events."""
    metadata = {"namespace": "adas", "name": "nccl", "creationTimestamp": "2026-01-01T00:00:00Z"}
    status = {"startTime": "2026-01-01T00:00:00Z", "completionTime": "2026-01-01T00:00:05Z"}
    events = [
        _scheduled("nccl-worker-0", "dgx01"),
        _scheduled("nccl-worker-1", "dgx02"),
        _scheduled("nccl-launcher-abcde", "worker03"),
        _scheduled("nccl-other-worker-0", "dgx09"),
        _scheduled("nccl-worker-0", "dgx08", "elsewhere"),
    ]
    found = _look({kinds.MPI_JOB_V1ALPHA2: [{"metadata": metadata, "status": status}], kinds.EVENT: events})
    (job,) = found.jobs
    assert (job.nodes, job.seconds) == (("dgx01", "dgx02"), 5.0)


def test_a_train_job_runs_while_its_jobs_have_active_pods() -> None:
    """It has no condition of that, and its pods have the name of its JobSet's job in theirs."""
    metadata = {"namespace": "adas", "name": "train", "creationTimestamp": "2026-01-01T00:00:00Z"}
    events = [
        _scheduled("train-node-0-0-abcde", "dgx01"),
        _scheduled("train-node-0-1-fghij", "dgx02"),
        _scheduled("train-node-0-x", "dgx08"),
        _scheduled("train-nodes-0-1-fghij", "dgx09"),
    ]
    status = {"jobsStatus": [{"name": "node", "active": 1}]}
    (job,) = _look({kinds.TRAIN_JOB: [{"metadata": metadata, "status": status}], kinds.EVENT: events}).jobs
    assert (job.kind, job.state, job.nodes) == ("TrainJob", "Running", ("dgx01", "dgx02"))


def test_nodes_of_an_earlier_run_are_not_reported() -> None:
    """Events of an earlier run do not count for a job's nodes."""
    metadata = {"namespace": "adas", "name": "nccl", "creationTimestamp": "2026-01-01T00:05:00Z"}
    events = [
        _scheduled("nccl-worker-0", "dgx01") | {"eventTime": "2026-01-01T00:04:59.9Z"},
        _scheduled("nccl-worker-1", "dgx02") | {"eventTime": "2026-01-01T00:05:00.1Z"},
    ]
    (job,) = _look({kinds.MPI_JOB_V1ALPHA2: [{"metadata": metadata}], kinds.EVENT: events}).jobs
    assert job.nodes == ("dgx02",)


def test_launchers_are_no_jobs() -> None:
    """A launcher, which the MPI operator owns, is not a job of the list."""
    owned = {"metadata": {"namespace": "adas", "name": "nccl-launcher", "ownerReferences": [{"kind": "MPIJob"}]}}
    assert _look({kinds.JOB: [owned]}).jobs == ()


def test_parts_that_are_not_there_yet() -> None:
    """A daemon set without pods, an operator without a version, and a pool that is not updated are not good."""
    daemon_set = {"metadata": {"namespace": "kube-system", "name": "rdma"}, "status": {"desiredNumberScheduled": 0}}
    subscription = {"metadata": {"namespace": "nfd", "name": "nfd"}, "status": {"state": "UpgradePending"}}
    pool = {"metadata": {"name": "worker"}, "status": {"conditions": [{"type": "Updated", "status": "False"}]}}
    found = _look(
        {kinds.DAEMON_SET: [daemon_set], kinds.SUBSCRIPTION: [subscription], kinds.MACHINE_CONFIG_POOL: [pool]}
    )
    assert [(part.state, part.good) for part in found.parts] == [
        ("UpgradePending", False),
        ("0/0 ready", False),
        ("Updating", False),
    ]


def _named(name: str, *conditions: str, **status: Any) -> dict[str, Any]:
    met = [{"type": kind, "status": TRUE} for kind in conditions]
    return {"metadata": {"name": name}, "status": {"conditions": met, **status}}


def test_parts_of_today() -> None:
    """Parts of today's releases are shown with their states."""
    found = _look(
        {
            kinds.CLUSTER_POLICY: [_named("gpus", state="notReady")],
            kinds.NIC_CLUSTER_POLICY: [_named("nics", state="ready")],
            kinds.KUBELET_CONFIG: [_named("gpu-nodes", "Failure")],
            kinds.NODE_NETWORK_CONFIGURATION_POLICY: [_named("bond", "Available")],
            kinds.NODE_FEATURE_DISCOVERY_V1: [_named("nfd-instance")],
        },
        "4.20",
    )
    assert {part.name: (part.state, part.good) for part in found.parts} == {
        "gpus": ("notReady", False),
        "nics": ("ready", True),
        "gpu-nodes": ("Failure", False),
        "bond": ("Available", True),
        "nfd-instance": ("present", True),
    }


def test_an_object_that_two_versions_serve_is_one_part() -> None:
    """An object that is served in two versions is one part."""
    served = {
        kind: [_named("nfd")] for kind in (kinds.NODE_FEATURE_DISCOVERY_V1ALPHA1, kinds.NODE_FEATURE_DISCOVERY_V1)
    }
    assert [part.name for part in _look(served, "4.20").parts] == ["nfd"]


@pytest.mark.parametrize(
    ("release", "shown"),
    [("3.11", ["batch"]), ("4.4", ["old", "batch"]), ("4.20", ["new", "batch"])],
)
def test_jobs_of_the_release(release: ReleaseName, shown: list[str]) -> None:
    """MPIJobs are read in the release's version, and not at all where it has none."""
    objects = {kinds.MPI_JOB_V1ALPHA2: "old", kinds.MPI_JOB_V2BETA1: "new", kinds.JOB: "batch"}
    found = _look(
        {kind: [{"metadata": {"namespace": "adas", "name": name}}] for kind, name in objects.items()}, release
    )
    assert [job.name for job in found.jobs] == shown


def test_queues() -> None:
    """A queue shows whether it is active, its GPUs in use and in quota, and how many jobs wait."""
    gpus = {"name": "nvidia.com/gpu", "nominalQuota": "8"}
    flavors = [{"name": "dgx", "resources": [gpus, {"name": "rdma/shared_ib0", "nominalQuota": "100"}]}]
    used = [{"name": "dgx", "resources": [{"name": "nvidia.com/gpu", "total": "4"}]}]
    queue = _named("adas", pendingWorkloads=2, flavorsUsage=used)
    queue["spec"] = {"resourceGroups": [{"flavors": flavors}, {"flavors": [{"name": "cpu", "resources": []}]}]}
    (found,) = _look({kinds.CLUSTER_QUEUE: [queue]}, "4.20").queues
    assert (found.name, found.active, found.gpus, found.waiting) == ("adas", False, "4 of 8", "2")
    (silent,) = _look({kinds.CLUSTER_QUEUE: [{**_named("adas", "Active"), "spec": queue["spec"]}]}, "4.20").queues
    assert (silent.active, silent.gpus, silent.waiting) == (True, "? of 8", "?")


def test_gpus_in_use_are_by_pool() -> None:
    """A queue with flavors of several pools shows the GPUs of each of which it has a quota or has borrowed some."""

    def flavors(key: str, **gpus: int) -> list[dict[str, Any]]:
        return [{"name": name, "resources": [{"name": "nvidia.com/gpu", key: str(gpus[name])}]} for name in gpus]

    used = flavors("total", cpu=0, training=16, inference=2, former=0)
    queue = _named("research", flavorsUsage=used)
    quota = flavors("nominalQuota", cpu=0, training=24, inference=0, former=2)
    queue["spec"] = {"resourceGroups": [{"flavors": quota}]}
    (found,) = _look({kinds.CLUSTER_QUEUE: [queue]}, "4.20").queues
    assert found.gpus == "training 16 of 24, inference 2 of 0, former 0 of 2"
    del queue["status"]["flavorsUsage"]
    (silent,) = _look({kinds.CLUSTER_QUEUE: [queue]}, "4.20").queues
    assert silent.gpus == "training ? of 24, former ? of 2"


def test_an_operator_that_no_catalogue_has() -> None:
    """A subscription that cannot be resolved shows OLM's message."""
    condition = {"type": "ResolutionFailed", "status": TRUE, "message": "no operators found in channel v9"}
    subscription = {"metadata": {"namespace": "nfd", "name": "nfd"}, "status": {"conditions": [condition]}}
    (part,) = _look({kinds.SUBSCRIPTION: [subscription]}).parts
    assert (part.state, part.good) == ("ResolutionFailed: no operators found in channel v9", False)


def _certificate(name: str, ready: str, namespace: str = "adas") -> dict[str, Any]:
    words = {"type": "Ready", "status": ready, "message": "Issuing certificate as Secret does not exist"}
    return {"metadata": {"namespace": namespace, "name": name}, "status": {"conditions": [words]}}


def test_a_certificate_that_is_not_issued_says_why() -> None:
    """Of certificates in the stack's namespaces those that are not issued are shown, with what their requests say."""
    said = {"type": "Ready", "status": "False", "message": 'Referenced "Issuer" not found'}
    marks = {"cert-manager.io/certificate-name": "lost"}
    request = {"metadata": {"namespace": "adas", "name": "lost-1", "annotations": marks}}
    certificates = [
        _certificate("served", TRUE),
        _certificate("lost", "False"),
        _certificate("new", "False"),
        _certificate("foreign", "False", "elsewhere"),
    ]
    found = _look(
        {
            kinds.NAMESPACE: [{"metadata": {"name": "adas"}}],
            kinds.CERTIFICATE: certificates,
            kinds.CERTIFICATE_REQUEST: [{**request, "status": {"conditions": [said]}}],
        }
    )
    assert [(part.kind, part.name, part.state, part.good) for part in found.parts] == [
        ("Certificate", "adas/lost", 'Referenced "Issuer" not found', False),
        ("Certificate", "adas/new", "Issuing certificate as Secret does not exist", False),
    ]


def test_nodes_show_what_they_offer() -> None:
    """A node shows what it offers; a resource of zero does not count."""
    labels = {"node-role.kubernetes.io/worker": "", "hpc.pulumi/pool": "training"}
    offered = {"cpu": "80", "nvidia.com/gpu": "8", "rdma/shared_ib0": "100", "rdma/shared_ib1": "0"}
    node = {
        "metadata": {"name": "dgx01", "labels": labels},
        "status": {"allocatable": offered, "conditions": [{"type": "Ready", "status": "True"}]},
    }
    (shown,) = _look({kinds.NODE: [node]}).nodes
    assert (shown.gpus, shown.ready, shown.roles, shown.pool) == (8, True, "worker", "training")
    assert by_value(shown.rdma) == "shared_ib0: 100; shared_ib1: 0"
    divided = {"metadata": node["metadata"], "status": {"allocatable": {"nvidia.com/mig-1g.5gb": "56"}}}
    (parted,) = _look({kinds.NODE: [divided]}).nodes
    assert parted.slices == {"mig-1g.5gb": 56}


def test_tenants_have_claims_and_quota() -> None:
    """A tenant is shown with the phase of its claim, and its GPUs in use and in quota."""
    namespace = {"metadata": {"name": "adas", "labels": {"app.kubernetes.io/component": "tenant"}}}
    other = {"metadata": {"name": "mpi-operator", "labels": {"app.kubernetes.io/component": "mpi-operator"}}}
    claim = {"metadata": {"namespace": "adas", "name": "data"}, "status": {"phase": "Pending"}}
    key = "requests.nvidia.com/gpu"
    quota = {"metadata": {"namespace": "adas", "name": "gpus"}, "status": {"hard": {key: "16"}, "used": {key: "8"}}}
    found = _look(
        {
            kinds.NAMESPACE: [namespace, other],
            kinds.PERSISTENT_VOLUME_CLAIM: [claim],
            kinds.RESOURCE_QUOTA: [quota],
        }
    )
    (tenant,) = found.tenants
    assert (tenant.claims, tenant.gpus) == ("data Pending", "8 of 16")


def _denied(kind: str, name: str, when: str, reason: str = "FailedCreate", message: str = "no") -> dict[str, Any]:
    about = {"kind": kind, "name": name, "uid": f"uid-{name}", "namespace": "adas"}
    event = {"type": "Warning", "reason": reason, "message": message, "lastTimestamp": when}
    return {**event, "involvedObject": about, "metadata": {"name": when}}


def test_a_job_says_why_its_pods_do_not_come() -> None:
    """A job whose pods are refused shows the reason, from the events of what creates its pods."""
    owner = [{"kind": "MPIJob", "name": "nccl", "uid": "uid-nccl"}]
    job = {"metadata": {"namespace": "adas", "name": "nccl", "uid": "uid-nccl"}}
    ended = {
        "metadata": {"namespace": "adas", "name": "old", "uid": "uid-old"},
        "status": {"conditions": [{"type": "Failed", "status": TRUE}]},
    }
    workers = {"metadata": {"name": "nccl-worker", "uid": "uid-nccl-worker", "ownerReferences": owner}, "spec": {}}
    refused = 'create Pod x failed error: pods "x" is forbidden: exceeded quota: gpus, requested: 8, limited: 0'
    found = _look(
        {
            kinds.MPI_JOB_V1ALPHA2: [job, ended],
            kinds.STATEFUL_SET: [workers],
            kinds.EVENT: [
                _denied("StatefulSet", "nccl-worker", "2026-01-01T00:00:09Z", message=refused),
                _denied("StatefulSet", "nccl-worker", "2026-01-01T00:00:01Z"),
                _denied("MPIJob", "old", "2026-01-01T00:00:01Z"),
            ],
        }
    )
    why = {job.name: job.hindrances for job in found.jobs}
    assert why["old"] == ()
    assert has(why["nccl"][-1], "StatefulSet nccl-worker", "exceeded quota: gpus, requested: 8, limited: 0")


def _workload(uid: str, *conditions: tuple[str, str, str]) -> dict[str, Any]:
    listed = [{"type": kind, "status": status, "message": message} for kind, status, message in conditions]
    return {"metadata": {"name": uid, "ownerReferences": [{"uid": uid}]}, "status": {"conditions": listed}}


def test_a_job_says_why_kueue_does_not_start_it() -> None:
    """A job that waits shows why, and why it was taken back, in the words of Kueue; one that was admitted does not."""
    short = "couldn't assign flavors to pod set worker: insufficient unused quota for nvidia.com/gpu in flavor dgx"
    preempted = "Preempted to accommodate a workload (UID: 1) due to prioritization in the ClusterQueue"
    conditions = [{"type": "Suspended", "status": TRUE}]
    names = ("waits", "preempted", "runs", "new")
    listed = [
        {"metadata": {"namespace": "adas", "name": name, "uid": name}, "status": {"conditions": conditions}}
        for name in names
    ]
    workloads = [
        _workload("waits", ("QuotaReserved", "False", short)),
        _workload("preempted", ("Evicted", TRUE, preempted), ("QuotaReserved", "False", preempted)),
        _workload("runs", ("Evicted", TRUE, preempted), ("QuotaReserved", TRUE, "Quota reserved in ClusterQueue adas")),
        _workload("new"),
    ]
    found = _look({kinds.MPI_JOB_V1ALPHA2: listed, kinds.WORKLOAD: workloads})
    why = {job.name: job.hindrances for job in found.jobs}
    assert why == {"waits": (f"Kueue: {short}",), "preempted": (f"Kueue: {preempted}",), "runs": (), "new": ()}


def test_every_operators_own_object_is_shown_by_its_condition() -> None:
    """The object by which an operator starts is good when it meets the operator's condition, and not before."""
    for instance in (each.instance for each in OPERATORS.values() if each.instance):
        for status in (TRUE, "False"):
            conditions = [{"type": instance.condition, "status": status}]
            item = {"metadata": {"name": "cluster"}, "status": {"conditions": conditions}}
            (part,) = _look({instance.kind: [item]}).parts
            assert (part.kind, part.good) == (instance.kind.kind, status == TRUE)


def test_a_policy_says_why_it_is_not_ready() -> None:
    """The state of a ClusterPolicy has its operator's message, until it is ready."""
    policy = _named("gpus", state="notReady")
    message = "ClusterPolicy is not ready, states not ready: [state-driver]"
    policy["status"]["conditions"] = [
        {"type": "Ready", "status": "False", "message": ""},
        {"type": "Error", "status": TRUE, "message": message},
    ]
    (part,) = _look({kinds.CLUSTER_POLICY: [policy]}, "4.20").parts
    assert (part.state, part.good) == (f"notReady: {message}", False)


def test_failing_pods_of_the_platform_are_named() -> None:
    """Of pods in the namespaces of the platform that fail again and again one of each workload is named, with why."""

    def pod(name: str, namespace: str) -> dict[str, Any]:
        end = {"exitCode": 1, "message": "nodes is forbidden"}
        status = {"name": "main", "restartCount": 3, "ready": False, "lastState": {"terminated": end}, "state": {}}
        meta = {"name": name, "namespace": namespace, "uid": name, "ownerReferences": [{"name": "nfd-master"}]}
        return {"metadata": meta, "status": {"phase": "Running", "containerStatuses": [status]}}

    subscription = {"metadata": {"name": "nfd", "namespace": "openshift-nfd"}}
    listed = [pod("nfd-master-a", "openshift-nfd"), pod("nfd-master-b", "openshift-nfd"), pod("job", "adas")]
    (text,) = _look({kinds.SUBSCRIPTION: [subscription], kinds.POD: listed}).failing
    assert has(text, "openshift-nfd/nfd-master-b", "exit code 1", "3 restarts", "nodes is forbidden")
