"""GPUs by claims on a small simulated cluster: a GPUCluster, and the real scheduler that allocates its devices."""

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from components.operators.olm_operator import OlmOperator, OlmOperatorArgs
from core.apis import kinds
from tests.support.clusters import running
from tests.support.messages import has
from tests.support.recorded import component
from tests.support.user import User
from toolkit.render.manifests import manifests
from toolkit.simulator import pods
from toolkit.simulator.actors import pod_devices
from toolkit.simulator.actors.api import Api, ApiError
from toolkit.simulator.actors.resource_slices import resource_slice
from toolkit.simulator.cluster import ClusterSpec, NodeSpec
from toolkit.simulator.home import Layout
from toolkit.simulator.manifests import manifest

pytestmark = pytest.mark.cluster

NODES = ("gpu01", "gpu02")
SPEC = ClusterSpec(
    name="test-claims",
    nodes=(
        NodeSpec(name="worker"),
        NodeSpec(name=NODES[0], profile="dgx-h200", host_driver=True),
        NodeSpec(name=NODES[1], profile="dgx-h200"),
    ),
    release="current",
    openshift="4.21",
    mpi="v2beta1",
)
TEAM, OPERATOR = "vision", "nvidia-gpu-operator"
PACKAGE = OlmOperatorArgs(
    namespace=OPERATOR, package="gpu-operator-certified", channel="v26.7", source="certified-operators"
)
DRIVER = {
    "driverType": "gpu",
    "default": True,
    "repository": "nvcr.io/nvidia",
    "image": "driver",
    "version": "580.105.08",
}
FOUND = {"feature.node.kubernetes.io/pci-10de.present": "true"}
"""What Node Feature Discovery labels nodes with GPUs with."""


def operator() -> None:
    """Declare the subscription."""
    OlmOperator("gpu-operator", PACKAGE)


def template(name: str, count: int, device_class: str = "gpu.nvidia.com") -> dict[str, Any]:
    """Return a template of claims for so many devices of a class."""
    request = {"name": "gpus", "exactly": {"deviceClassName": device_class, "count": count}}
    devices = {"devices": {"requests": [request]}}
    return manifest(kinds.RESOURCE_CLAIM_TEMPLATE, name, TEAM, spec={"spec": devices})


def job(name: str, claims: str, pods_: int = 1) -> dict[str, Any]:
    """Return a Job whose pods print what nvidia-smi shows of their GPUs."""
    container = {
        "name": "main",
        "image": "nvcr.io/nvidia/cuda:13.0.0",
        "command": ["nvidia-smi", "-q"],
        "resources": {"claims": [{"name": "gpus"}]},
    }
    pod = {
        "restartPolicy": "Never",
        "containers": [container],
        "resourceClaims": [{"name": "gpus", "resourceClaimTemplateName": claims}],
    }
    spec = {"completions": pods_, "parallelism": pods_, "backoffLimit": 0, "template": {"spec": pod}}
    return manifest(kinds.JOB, name, TEAM, spec=spec)


@pytest.fixture(scope="module")
def cluster() -> Iterator[tuple[User, Layout]]:
    """Run the cluster, with the operator's GPUCluster and the tenant's templates."""
    with running(SPEC) as started:
        api = User.of(started.kubeconfig)
        for node in NODES:
            api.patch(kinds.NODE, node, {"metadata": {"labels": FOUND}})
        declared = [obj for obj in manifests(component(operator)) if obj["kind"] != "ClusterServiceVersion"]
        for obj in sorted(declared, key=lambda obj: str(obj["kind"] != "Namespace")):
            kind = kinds.find(obj["apiVersion"], obj["kind"])
            assert kind is not None
            api.eventually(partial(api.apply, kind, obj))
        api.apply(kinds.NAMESPACE, manifest(kinds.NAMESPACE, TEAM))
        for obj in (template("gpus-4", 4), template("gpus-9", 9)):
            api.apply(kinds.RESOURCE_CLAIM_TEMPLATE, obj)
        for obj in (
            manifest(kinds.NVIDIA_DRIVER, "default", spec=DRIVER),
            manifest(kinds.GPU_CLUSTER, "gpu-cluster", spec={"draDriver": {"computeDomains": {"enabled": False}}}),
        ):
            kind = kinds.NVIDIA_DRIVER if obj["kind"] == "NVIDIADriver" else kinds.GPU_CLUSTER
            api.eventually(partial(api.apply, kind, obj))
        api.eventually(lambda: state(api) == "ready")
        yield api, Layout(started.home)


def state(api: User) -> str:
    """Return the state of the GPUCluster."""
    status = api.get(kinds.GPU_CLUSTER, "gpu-cluster").get("status") or {}
    return str(status.get("state"))


def slices(api: User) -> dict[str, Any]:
    """Return node -> the spec of its slice of GPUs."""
    listed = [obj["spec"] for obj in api.list(kinds.RESOURCE_SLICE)["items"]]
    return {spec["nodeName"]: spec for spec in listed if spec["driver"] == "gpu.nvidia.com"}


def waits(pod: dict[str, Any]) -> bool:
    """Return whether a pod waits for devices, in the scheduler's words."""
    conditions = (pod.get("status") or {}).get("conditions") or []
    return any(has(json.dumps(entry), "Unschedulable", "cannot allocate all claims") for entry in conditions)


def of_job(api: User, name: str) -> list[dict[str, Any]]:
    """Return the pods of a Job."""
    return api.pods(TEAM, f"batch.kubernetes.io/job-name={name}")


def test_a_gpu_cluster_makes_devices(cluster: tuple[User, Layout]) -> None:
    """The plugin publishes both nodes' GPUs, and the validator's pods see one of each, which stays free for jobs.

    One node's system has the driver; the other gets it by the NVIDIADriver, without a ClusterPolicy.
    """
    api, _ = cluster
    assert {node: len(spec["devices"]) for node, spec in slices(api).items()} == dict.fromkeys(NODES, 8)
    assert slices(api)[NODES[1]]["devices"][0]["attributes"]["driverVersion"] == {"version": "580.105.8"}
    labels = pods.labels(api.get(kinds.NODE, NODES[0]))
    assert labels["nvidia.com/gpu.deploy.dra-driver"] == "true"
    assert labels["nvidia.com/gpu.deploy.driver"] == "pre-installed"
    assert "nvidia.com/gpu.deploy.device-plugin" not in labels
    for pod in api.pods(OPERATOR, "app=nvidia-dra-validator"):
        (device,) = pod_devices.devices(pod)
        assert device.admin


def test_a_plugin_writes_slices_of_its_own_node_alone(cluster: tuple[User, Layout]) -> None:
    """With the token of one node's plugin the API server refuses a slice of another node, by the operator's policy."""
    api, _ = cluster
    (pod,) = (
        pod for pod in api.pods(OPERATOR, "app=nvidia-dra-driver-kubelet-plugin") if pods.node_name(pod) == NODES[0]
    )
    meta = pod["metadata"]
    bound = {"kind": "Pod", "apiVersion": "v1", "name": meta["name"], "uid": meta["uid"]}
    request = {"spec": {"boundObjectRef": bound}}
    token = api.create(kinds.SERVICE_ACCOUNT, request, OPERATOR, name=pods.account(pod), sub="token")["status"]["token"]
    plugin = Api(api.server, lambda: token, "plugin")
    foreign = resource_slice(api.get(kinds.NODE, NODES[1]), "gpu.nvidia.com", [], generation=9)
    with pytest.raises(ApiError, match=f"running on node '{NODES[0]}' may not modify cluster or node resourceslices"):
        plugin.create(kinds.RESOURCE_SLICE, foreign)


def test_pods_get_the_devices_of_their_claims(cluster: tuple[User, Layout]) -> None:
    """Of each pod the claim's devices are recorded, and nvidia-smi shows those very GPUs; then the claims are gone."""
    api, layout = cluster
    api.apply(kinds.JOB, job("four-each", "gpus-4", 4))
    ended = api.eventually(lambda: api.condition(kinds.JOB, "four-each", TEAM, "Complete", "Failed"))
    assert ended == "Complete"
    uuids = {
        (node, device["name"]): device["attributes"]["uuid"]["string"]
        for node, spec in slices(api).items()
        for device in spec["devices"]
    }
    for pod in of_job(api, "four-each"):
        devices = pod_devices.devices(pod)
        assert {device.pool for device in devices} == {pods.node_name(pod)}
        assert devices[0].cdi == (f"k8s.gpu.nvidia.com/claim={devices[0].claim_uid}-{devices[0].device}",)
        meta = pod["metadata"]
        log = (layout.pods / f"{TEAM}_{meta['name']}_{meta['uid']}" / "main.log").read_text()
        shown = {line.split()[-1] for line in log.splitlines() if "GPU UUID" in line}
        assert shown == {uuids[device.pool, device.device] for device in devices}
        assert len(shown) == 4
    api.eventually(lambda: not api.list(kinds.RESOURCE_CLAIM, TEAM)["items"])


def test_a_device_is_one_pods_at_a_time(cluster: tuple[User, Layout]) -> None:
    """Four pods of four GPUs have all of both nodes, each once; a fifth waits until one of them ends."""
    api, _ = cluster
    labels = {"app": "idle"}
    pod = {**job("idle", "gpus-4")["spec"]["template"]["spec"], "restartPolicy": "Always"}
    pod["containers"] = [{**pod["containers"][0], "command": ["sleep", "infinity"]}]
    template_ = {"metadata": {"labels": labels}, "spec": pod}
    spec = {"replicas": 4, "selector": {"matchLabels": labels}, "template": template_}
    api.apply(kinds.DEPLOYMENT, manifest(kinds.DEPLOYMENT, "idle", TEAM, spec=spec))

    def idle() -> list[dict[str, Any]]:
        return [pod for pod in api.pods(TEAM, "app=idle") if pods.runs(pod)]

    api.eventually(lambda: len(idle()) == 4)
    held = [(device.pool, device.device) for pod in idle() for device in pod_devices.devices(pod)]
    assert sorted(held) == [(node, f"gpu-{gpu}") for node in NODES for gpu in range(8)]
    api.patch(kinds.DEPLOYMENT, "idle", {"spec": {"replicas": 5}}, TEAM)
    api.eventually(lambda: any(waits(pod) for pod in api.pods(TEAM, "app=idle")))
    api.delete(kinds.POD, idle()[0]["metadata"]["name"], TEAM)
    api.eventually(lambda: len(idle()) == 4)
    api.delete(kinds.DEPLOYMENT, "idle", TEAM)
    api.eventually(lambda: not api.list(kinds.RESOURCE_CLAIM, TEAM)["items"])


def test_a_claim_for_more_than_a_node_has_waits(cluster: tuple[User, Layout]) -> None:
    """No node has nine GPUs: the pod stays Pending, with the scheduler's own words."""
    api, _ = cluster
    api.apply(kinds.JOB, job("nine", "gpus-9"))
    api.eventually(lambda: any(map(waits, of_job(api, "nine"))))
    api.delete(kinds.JOB, "nine", TEAM)


def test_a_gpu_cluster_and_a_policy_exclude_each_other(cluster: tuple[User, Layout]) -> None:
    """Beside a ClusterPolicy the GPUCluster is not ready, in the operator's words; without it, it is again."""
    api, _ = cluster
    sections = ("daemonsets", "dcgm", "dcgmExporter", "devicePlugin", "driver", "gfd", "nodeStatusExporter", "operator")
    spec: dict[str, Any] = {key: {} for key in (*sections, "toolkit")}
    spec |= {"devicePlugin": {"enabled": False}, "driver": {"useNvidiaDriverCRD": True}}
    api.apply(kinds.CLUSTER_POLICY, manifest(kinds.CLUSTER_POLICY, "gpu-cluster-policy", spec=spec))

    def refused() -> bool:
        status = api.get(kinds.GPU_CLUSTER, "gpu-cluster")["status"]
        reasons = {entry["type"]: entry for entry in status["conditions"]}
        return bool(status["state"] == "notReady") and reasons["Error"]["reason"] == "PrerequisiteNotMet"

    api.eventually(refused)
    api.delete(kinds.CLUSTER_POLICY, "gpu-cluster-policy")
    api.eventually(lambda: state(api) == "ready")


def test_a_gpu_cluster_is_removed_with_all_it_made(cluster: tuple[User, Layout]) -> None:
    """Pods with claims end while the plugin can still clean up; then classes and DaemonSets go."""
    api, _ = cluster
    api.delete(kinds.GPU_CLUSTER, "gpu-cluster")
    api.eventually(lambda: api.find(kinds.GPU_CLUSTER, "gpu-cluster") is None)
    api.eventually(lambda: not api.list(kinds.DEVICE_CLASS)["items"])
    api.eventually(lambda: not api.list(kinds.DAEMON_SET, OPERATOR)["items"])
    api.eventually(lambda: not api.list(kinds.RESOURCE_CLAIM)["items"])
