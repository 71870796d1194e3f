"""GPUs by claims on a small simulated cluster: the real scheduler allocates what a simulated driver publishes."""

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from core.apis import kinds
from core.apis.names import GPU_NODE
from tests.support import dra_chart
from tests.support.clusters import running
from tests.support.messages import has
from tests.support.user import User
from toolkit.simulator import pods
from toolkit.simulator.actors import pod_devices
from toolkit.simulator.cluster import ClusterSpec, NodeSpec
from toolkit.simulator.home import Layout
from toolkit.simulator.manifests import manifest

pytestmark = pytest.mark.cluster

NODES = ("gpu01", "gpu02")
SPEC = ClusterSpec(
    name="test-claims",
    nodes=(NodeSpec(name="worker"), *(NodeSpec(name=name, profile="dgx-h200", host_driver=True) for name in NODES)),
    release="current",
    openshift="4.21",
    mpi="v2beta1",
)
TEAM = "vision"


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
    """Run the cluster, with the driver's chart for GPUs and the tenant's templates."""
    with running(SPEC) as started:
        api = User.of(started.kubeconfig)
        for node in NODES:
            api.patch(kinds.NODE, node, {"metadata": {"labels": {GPU_NODE: "true"}}})
        team = manifest(kinds.NAMESPACE, TEAM)
        for obj in (*dra_chart.objects(domains=False), team, template("gpus-4", 4), template("gpus-9", 9)):
            api.eventually(partial(api.apply, dra_chart.kind_of(obj), obj))
        api.eventually(lambda: {*NODES} == {*slices(api)})
        yield api, Layout(started.home)


def slices(api: User) -> dict[str, Any]:
    """Return node -> the spec of its slice of GPUs."""
    listed = [obj["spec"] for obj in api.list(kinds.RESOURCE_SLICE)["items"]]
    return {spec["nodeName"]: spec for spec in listed if spec["driver"] == "gpu.nvidia.com"}


def of_job(api: User, name: str) -> list[dict[str, Any]]:
    """Return the pods of a Job."""
    return api.pods(TEAM, f"batch.kubernetes.io/job-name={name}")


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
    had: list[tuple[str, str]] = []
    for pod in of_job(api, "four-each"):
        devices = pod_devices.devices(pod)
        assert {device.pool for device in devices} == {pods.node_name(pod)}
        assert devices[0].cdi == (f"k8s.gpu.nvidia.com/claim={devices[0].claim_uid}-{devices[0].device}",)
        had += [(device.pool, device.device) for device in devices]
        meta = pod["metadata"]
        log = (layout.pods / f"{TEAM}_{meta['name']}_{meta['uid']}" / "main.log").read_text()
        shown = {line.split()[-1] for line in log.splitlines() if "GPU UUID" in line}
        assert shown == {uuids[device.pool, device.device] for device in devices}
        assert len(shown) == 4
    assert sorted(had) == sorted(uuids)  # four pods of four are all GPUs, each once
    api.eventually(lambda: not api.list(kinds.RESOURCE_CLAIM, TEAM)["items"])


def test_a_claim_for_more_than_a_node_has_waits(cluster: tuple[User, Layout]) -> None:
    """No node has nine GPUs: the pod stays Pending, with the scheduler's own words."""
    api, _ = cluster
    api.apply(kinds.JOB, job("nine", "gpus-9"))

    def waits() -> bool:
        for pod in of_job(api, "nine"):
            for condition in (pod.get("status") or {}).get("conditions") or []:
                if has(json.dumps(condition), "Unschedulable", "cannot allocate all claims"):
                    return True
        return False

    api.eventually(waits)
    api.delete(kinds.JOB, "nine", TEAM)
