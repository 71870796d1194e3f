"""Without any one part of the platform the job does not run; with it again, it does.

A simulation that places pods whatever is missing would prove nothing about a platform.
"""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from core.apis import kinds
from tests.support import platform
from tests.support.lab import Lab, eventually
from tests.support.recorded import ROOT
from toolkit.simulator import pods

pytestmark = pytest.mark.cluster

CSI = "ibm-spectrum-scale-csi-driver"
NFD = "openshift-nfd"
MPI = "mpi-operator"
RDMA = "rdma-shared-dp-ds"
PROBE = "probe-volume"
DGX02 = "dgx02.ocp4.scale.ibm.com"


def owned(lab: Lab, namespace: str, daemon_set: str) -> list[dict[str, Any]]:
    """Return the pods of a DaemonSet."""
    return [
        pod
        for pod in lab.pods("", namespace)
        if any(owner["name"] == daemon_set for owner in pod["metadata"].get("ownerReferences", ()))
    ]


def restart(lab: Lab, namespace: str, daemon_set: str) -> None:
    """Delete the pods of a DaemonSet; it makes new ones."""
    old = set()
    for pod in owned(lab, namespace, daemon_set):
        old.add(pod["metadata"]["uid"])
        lab.api.delete(kinds.POD, pod["metadata"]["name"], namespace)
    assert old, f"no pods of {daemon_set}"
    eventually(
        lambda: not old & {pod["metadata"]["uid"] for pod in lab.pods("", namespace)}, f"{daemon_set} did not restart"
    )


def on_nodes(lab: Lab, resource: str) -> int:
    """Return how much of a resource all nodes offer."""
    return sum(int(node["status"]["allocatable"].get(resource, 0)) for node in lab.api.list(kinds.NODE)["items"])


def configure(lab: Lab, text: str) -> None:
    """Give the RDMA plugin another configuration, which it reads at its start."""
    lab.api.patch(kinds.CONFIG_MAP, "rdma-devices", {"data": {"config.json": text}}, "kube-system")
    restart(lab, "kube-system", RDMA)


def configuration(lab: Lab) -> str:
    """Return the RDMA plugin's configuration."""
    return str(lab.api.get(kinds.CONFIG_MAP, "rdma-devices", "kube-system")["data"]["config.json"])


@contextmanager
def without_rule(lab: Lab, role: str, resource: str) -> Iterator[Callable[[], None]]:
    """Take the rules for a resource out of a ClusterRole; yield what grants them again, which happens in any case."""
    rules = lab.api.get(kinds.CLUSTER_ROLE, role)["rules"]
    others = [rule for rule in rules if resource not in rule["resources"]]
    assert len(others) < len(rules)

    def grant() -> None:
        lab.api.patch(kinds.CLUSTER_ROLE, role, {"rules": rules})

    lab.api.patch(kinds.CLUSTER_ROLE, role, {"rules": others})
    try:
        yield grant
    finally:
        grant()


def test_no_entry_in_the_rdma_configuration(lab: Lab) -> None:
    """An HCA that the plugin's configuration does not list is not offered: the job stays pending until it is listed."""
    config = configuration(lab)
    shorter = json.loads(config)
    shorter["configList"] = [entry for entry in shorter["configList"] if entry["resourceName"] != "shared_ib2"]

    configure(lab, json.dumps(shorter))
    eventually(lambda: on_nodes(lab, "rdma/shared_ib2") == 0, "rdma/shared_ib2 is still offered")
    with lab.job() as job:
        job.stays_away("Insufficient rdma/shared_ib2")
        configure(lab, config)
        job.succeeds()


def test_an_rdma_configuration_that_cannot_be_read(lab: Lab) -> None:
    """A plugin that cannot read its configuration crashes and offers nothing, until it is corrected."""
    config, whole = configuration(lab), on_nodes(lab, "rdma/shared_ib0")
    configure(lab, "{")
    eventually(lambda: on_nodes(lab, "rdma/shared_ib0") == 0, "rdma/shared_ib0 is still offered")
    eventually(lambda: any(map(pods.restarts, owned(lab, "kube-system", RDMA))), "no plugin has crashed")
    configure(lab, config)
    eventually(lambda: on_nodes(lab, "rdma/shared_ib0") == whole, "rdma/shared_ib0 is not offered again")


def test_no_special_resource(lab: Lab) -> None:
    """Without the SpecialResource nodes offer no GPUs, and the job stays pending until it exists again."""
    with lab.without(kinds.SPECIAL_RESOURCE_V1ALPHA1, "nvidia-gpu", "openshift-sro") as bring_back:
        eventually(lambda: on_nodes(lab, "nvidia.com/gpu") == 0, "nvidia.com/gpu is still offered")
        with lab.job() as job:
            job.stays_away("Insufficient nvidia.com/gpu")
            bring_back()
            job.succeeds()


def test_no_volume(lab: Lab) -> None:
    """Without the volume pods stay pending, and start when it exists again."""
    # A claim stays while there is a pod that mounts it, ended or not.
    names = ("nv-nccl-dgx01", "nv-nccl-dgx02")
    taken = [lab.take(kinds.JOB, name, "adas") for name in names]
    eventually(lambda: not lab.pods("batch.kubernetes.io/job-name in (nv-nccl-dgx01,nv-nccl-dgx02)"), "pods are left")
    claim = lab.take(kinds.PERSISTENT_VOLUME_CLAIM, "adas-data-pvc", "adas")
    with lab.without(kinds.PERSISTENT_VOLUME, "adas-data-pv01") as bring_back:
        lab.put(kinds.PERSISTENT_VOLUME_CLAIM, claim)
        with lab.job() as job:
            job.stays_away("unbound immediate PersistentVolumeClaims")
            bring_back()
            job.succeeds()
    for manifest in taken:
        # The API server writes the selector, by the Job's uid.
        del manifest["spec"]["selector"]
        labels = manifest["spec"]["template"]["metadata"]["labels"]
        own = {key: value for key, value in labels.items() if value != manifest["metadata"]["uid"]}
        manifest["spec"]["template"]["metadata"]["labels"] = own
        lab.put(kinds.JOB, manifest)
    # They have all GPUs of the quota: the MPI operator would try a later job's pods again after minutes only.
    eventually(
        lambda: all(lab.api.get(kinds.JOB, name, "adas").get("status", {}).get("succeeded") for name in names),
        "the jobs that were put back do not end",
    )


def test_no_csi_driver(lab: Lab) -> None:
    """Without the CSI driver pods stay in ContainerCreating until it runs again."""
    with lab.without(kinds.CSI_SCALE_OPERATOR, "ibm-spectrum-scale-csi", CSI) as bring_back:
        eventually(lambda: not driver_pods(lab), "pods of the CSI driver are still there")
        with lab.job() as job:
            job.stays_away("ContainerCreating")
            bring_back()
            job.succeeds()


def test_no_gui_secret(lab: Lab) -> None:
    """Without the Secret of the GUI's account the driver mounts nothing."""
    with lab.without(kinds.SECRET, "csisecret-remote", CSI) as bring_back:
        restart(lab, CSI, "ibm-spectrum-scale-csi")
        with lab.job() as job:
            job.stays_away("ContainerCreating")
            bring_back()
            job.succeeds()


def driver_pods(lab: Lab) -> list[str]:
    """Return the pods of the CSI driver's DaemonSet."""
    return [
        pod["metadata"]["name"]
        for pod in lab.pods("", CSI)
        if any(owner["kind"] == "DaemonSet" for owner in pod["metadata"].get("ownerReferences", ()))
    ]


def test_one_worker_without_a_node(lab: Lab) -> None:
    """While a worker has no node, the launcher does not start; the job succeeds when the node is schedulable."""
    lab.api.patch(kinds.NODE, DGX02, {"spec": {"unschedulable": True}})
    try:
        with lab.job() as job:
            job.stays_away("Insufficient nvidia.com/gpu")
            running = [pod for pod in job.workers if pod["status"]["phase"] == "Running"]
            assert len(running) == 1
            lab.api.patch(kinds.NODE, DGX02, {"spec": {"unschedulable": None}})
            job.succeeds()
    finally:
        lab.api.patch(kinds.NODE, DGX02, {"spec": {"unschedulable": None}})


def test_no_mpi_operator(lab: Lab) -> None:
    """A job does not run while the operator's Deployment has no pod."""

    def scale(replicas: int) -> None:
        lab.api.patch(kinds.DEPLOYMENT, MPI, {"spec": {"replicas": replicas}}, MPI)

    scale(0)
    try:
        eventually(lambda: not lab.pods("", MPI), "the operator's pod is still there")
        with lab.job() as job:
            lab.catches_up()
            assert not job.workers
            scale(1)
            job.succeeds()
    finally:
        scale(1)


def test_operators_need_their_rights(lab: Lab) -> None:
    """An operator whose role lacks a right does not create what needs it, until the right is granted again."""
    with without_rule(lab, MPI, "statefulsets") as grant, lab.job() as job:
        eventually(lambda: bool(job.lab.api.find(kinds.SERVICE_ACCOUNT, "probe-launcher", "adas")), "no launcher")
        assert not job.workers
        assert not job.launcher_started
        grant()
        job.succeeds()


def test_node_features_need_the_masters_right(lab: Lab) -> None:
    """The real master of NFD acts as its own account: without its right on nodes there are no labels, and it says why.

    It labels a node anew when the features that a worker publishes have changed: here those of a new worker.
    """
    label = "feature.node.kubernetes.io/kernel-version.full"

    def labelled() -> bool:
        return label in pods.labels(lab.api.get(kinds.NODE, DGX02))

    def restart_worker() -> None:
        for pod in lab.api.list(kinds.POD, NFD)["items"]:
            if pods.node_name(pod) == DGX02 and "nfd-worker" in pods.command(pod):
                lab.api.delete(kinds.POD, pod["metadata"]["name"], NFD)

    assert labelled()
    with without_rule(lab, "nfd-master", "nodes") as grant:
        lab.api.patch(kinds.NODE, DGX02, {"metadata": {"labels": {label: None}}})
        restart_worker()
        lab.catches_up()
        assert not labelled()
        grant()
        restart_worker()
        eventually(labelled, "the node is not labelled again")


def test_a_released_volume_is_bound_again_as_the_page_says(lab: Lab) -> None:
    """A volume whose claim was deleted is Released, and bound to a claim of that name by the patch of the page."""
    page = (ROOT / "docs/guide/operations.md").read_text()
    (patch,) = re.findall(r"oc patch pv \S+ --type merge -p '([^']+)'", page)
    like = lab.api.get(kinds.PERSISTENT_VOLUME_CLAIM, "adas-data-pvc", "adas")["spec"]
    claim = platform.obj(kinds.PERSISTENT_VOLUME_CLAIM, PROBE, "adas", spec=like | {"volumeName": PROBE})
    volume = lab.api.get(kinds.PERSISTENT_VOLUME, like["volumeName"])["spec"]
    owner = {"kind": "PersistentVolumeClaim", "namespace": "adas", "name": PROBE}
    named = platform.obj(kinds.PERSISTENT_VOLUME, PROBE, spec=volume | {"claimRef": owner})

    def phases() -> tuple[str, str]:
        current = lab.api.find(kinds.PERSISTENT_VOLUME_CLAIM, PROBE, "adas") or {"status": {"phase": "none"}}
        return lab.api.get(kinds.PERSISTENT_VOLUME, PROBE)["status"]["phase"], current["status"]["phase"]

    lab.api.create(kinds.PERSISTENT_VOLUME, named)
    try:
        lab.api.create(kinds.PERSISTENT_VOLUME_CLAIM, claim, "adas")
        eventually(lambda: phases() == ("Bound", "Bound"), "the first claim is not bound", phases)
        lab.api.delete(kinds.PERSISTENT_VOLUME_CLAIM, PROBE, "adas")
        eventually(lambda: phases() == ("Released", "none"), "the volume is not released", phases)
        lab.api.create(kinds.PERSISTENT_VOLUME_CLAIM, claim, "adas")
        eventually(lambda: phases()[1] in ("Pending", "Lost"), "the claim binds to a volume of another", phases)
        lab.api.patch(kinds.PERSISTENT_VOLUME, PROBE, json.loads(patch))
        eventually(lambda: phases() == ("Bound", "Bound"), "the claim is not bound", phases)
    finally:
        if lab.api.find(kinds.PERSISTENT_VOLUME_CLAIM, PROBE, "adas"):
            lab.api.delete(kinds.PERSISTENT_VOLUME_CLAIM, PROBE, "adas")
        lab.api.delete(kinds.PERSISTENT_VOLUME, PROBE)
