"""Jobs of queues on nodes of today, as the provider and the engine see them."""

import pytest

from components.jobs.layout import Layout
from core.apis import kinds, names
from tests.cluster.todays_nodes.site import JOB, NODES, POOL, RDMA, Manifest, Site
from tests.support import platform
from toolkit.engine.prediction.diff import difference
from toolkit.engine.prediction.inputs import ObjectType
from toolkit.simulator import pods
from toolkit.simulator.actors.api import ApiError

pytestmark = pytest.mark.cluster


def _offer_devices(site: Site) -> None:
    """Make the machines offer GPUs and a port, once they are back from their rollout."""
    parts = {"driver": "nvcr.io/nvidia/driver:580", "plugin": "nvcr.io/nvidia/k8s-device-plugin:v0.17.0"}
    for part, image in parts.items():
        for node in NODES:
            spec = {"nodeName": node, "containers": [{"name": part, "image": image}]}
            site.api.apply(kinds.POD, platform.obj(kinds.POD, f"{part}-{node}", "kube-system", spec=spec))
    for kind, body in platform.rdma("rail0"):
        site.api.apply(kind, body)
    for node in NODES:
        site.api.eventually(lambda n=node: site.api.offers(n, "nvidia.com/gpu") == 8)  # type: ignore[misc]
        site.api.eventually(lambda n=node: site.api.offers(n, "rdma/rail0") == 100)  # type: ignore[misc]


def test_a_job_waits_for_its_quota_and_then_runs(site: Site) -> None:
    """A job of a queue stays suspended while quota lacks or does not cover it, and then runs on the flavor's nodes."""
    _offer_devices(site)
    site.submit("large", layout=Layout(pods=3, gpus=8))
    site.api.eventually(lambda: "insufficient quota for nvidia.com/gpu in flavor dgx-a100" in site.why("large"))
    assert site.suspended("large")
    site.submit("uncovered", rdma_resources=RDMA)
    site.api.eventually(
        lambda: (
            site.why("uncovered")
            == "couldn't assign flavors to pod set worker: resource rdma/rail1 unavailable in ClusterQueue"
        )
    )
    assert site.api.pods("adas", "training.kubeflow.org/job-name=uncovered") == []
    site.api.eventually(lambda: site.api.get(kinds.CLUSTER_QUEUE, "adas")["status"]["pendingWorkloads"] == 2)
    site.api.eventually(lambda: site.api.get(kinds.LOCAL_QUEUE, "jobs", "adas")["status"]["pendingWorkloads"] == 2)
    site.submit("fits")
    site.succeeds("fits")
    worker = site.api.get(JOB, "fits", "adas")["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]
    assert worker["nodeSelector"][f"node-role.kubernetes.io/{POOL}"] == ""
    for name in ("large", "uncovered"):
        site.api.delete(JOB, name, "adas")


def test_the_end_of_a_job_makes_room_for_the_next(site: Site) -> None:
    """A finished job returns its quota, and the next one starts."""
    small: Manifest = {"cpus": 60, "memory": "150Gi", "layout": Layout(pods=2, gpus=8)}
    site.submit("first", **small)
    site.submit("second", **small)
    site.api.eventually(lambda: "more needed" in site.why("second") or site.ended("first"))
    site.succeeds("first")
    site.succeeds("second")
    site.api.eventually(lambda: site.api.get(kinds.CLUSTER_QUEUE, "adas")["status"]["admittedWorkloads"] == 0)


def test_what_kueue_wrote_is_no_drift(site: Site) -> None:
    """What Kueue writes into an admitted job is no difference, and an update leaves it."""
    asked = site.submit("admitted")
    site.succeeds("admitted")
    live = site.api.get(JOB, "admitted", "adas")
    kind = ObjectType(JOB.group, JOB.version, JOB.kind)
    assert difference(asked, live, asked, kind).changes == ()
    again = site.api.apply(JOB, asked)
    for path in (("runPolicy", "suspend"), ("mpiReplicaSpecs", "Worker", "template", "spec", "nodeSelector")):
        before, after = live["spec"], again["spec"]
        for step in path:
            before, after = before[step], after[step]
        assert before == after


def test_an_admitted_job_keeps_its_queue(site: Site) -> None:
    """The queue of an admitted job cannot be changed in place, as with Kueue."""
    asked = site.submit("moved")
    site.succeeds("moved")
    asked["metadata"]["labels"][names.QUEUE_NAME] = "other"
    with pytest.raises(ApiError, match=r'Invalid value: "other": field is immutable'):
        site.api.apply(JOB, asked)


def test_other_namespaces_are_left_alone(site: Site) -> None:
    """Jobs in a namespace without the label of Red Hat's Kueue are not suspended."""
    site.submit("unmanaged", "maps")
    assert not site.suspended("unmanaged", "maps")
    site.api.delete(JOB, "unmanaged", "maps")


def test_a_queue_without_its_flavor_is_not_active(site: Site) -> None:
    """A queue whose flavor does not exist is not active, nor are the tenants' queues that lead to it."""
    queue = site.api.get(kinds.CLUSTER_QUEUE, "maps")
    group = queue["spec"]["resourceGroups"][0]
    group["flavors"][0]["name"] = "nobody-made-it"
    site.api.patch(kinds.CLUSTER_QUEUE, "maps", {"spec": {"resourceGroups": [group]}})
    site.api.eventually(lambda: not pods.condition(site.api.get(kinds.CLUSTER_QUEUE, "maps"), "Active"))
    (said,) = site.api.get(kinds.CLUSTER_QUEUE, "maps")["status"]["conditions"]
    assert said["reason"] == "FlavorNotFound"
    site.api.eventually(lambda: not pods.condition(site.api.get(kinds.LOCAL_QUEUE, "jobs", "maps"), "Active"))
