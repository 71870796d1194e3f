"""Without any one part of the platform the job does not run; with it again, it does.

A simulation that places pods whatever is missing would prove nothing about a platform.
"""

import json

import pytest

from apis import kinds
from apis.kinds import Kind
from tests.support.lab import Lab, eventually

pytestmark = pytest.mark.cluster

CSI = "ibm-spectrum-scale-csi-driver"


def restart(lab: Lab, namespace: str, daemon_set: str) -> None:
    """Delete the pods of a DaemonSet; it makes new ones."""
    old = set()
    for pod in lab.pods("", namespace):
        owners = [owner["name"] for owner in pod["metadata"].get("ownerReferences", ())]
        if daemon_set in owners:
            old.add(pod["metadata"]["uid"])
            lab.api.delete(kinds.POD, pod["metadata"]["name"], namespace)
    assert old, f"no pods of {daemon_set}"
    eventually(
        lambda: not old & {pod["metadata"]["uid"] for pod in lab.pods("", namespace)}, f"{daemon_set} did not restart"
    )


def on_nodes(lab: Lab, resource: str) -> int:
    """Return how much of a resource all nodes offer."""
    return sum(int(node["status"]["allocatable"].get(resource, 0)) for node in lab.api.list(kinds.NODE)["items"])


def test_no_entry_in_the_rdma_configuration(lab: Lab) -> None:
    """An HCA that the plugin's configuration does not list is not offered: the job stays pending until it is listed."""
    config = lab.api.get(kinds.CONFIG_MAP, "rdma-devices", "kube-system")["data"]["config.json"]
    shorter = json.loads(config)
    shorter["configList"] = [entry for entry in shorter["configList"] if entry["resourceName"] != "shared_ib2"]

    def configure(text: str) -> None:
        lab.api.patch(kinds.CONFIG_MAP, "rdma-devices", {"data": {"config.json": text}}, "kube-system")
        restart(lab, "kube-system", "rdma-shared-dp-ds")

    configure(json.dumps(shorter))
    eventually(lambda: on_nodes(lab, "rdma/shared_ib2") == 0, "rdma/shared_ib2 is still offered")
    with lab.job() as job:
        job.stays_away("Insufficient rdma/shared_ib2")
        configure(config)
        job.succeeds()


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
    for name in ("nv-nccl-dgx01", "nv-nccl-dgx02"):
        lab.take(kinds.JOB, name, "adas")
    eventually(lambda: not lab.pods("batch.kubernetes.io/job-name in (nv-nccl-dgx01,nv-nccl-dgx02)"), "pods are left")
    claim = lab.take(kinds.PERSISTENT_VOLUME_CLAIM, "adas-data-pvc", "adas")
    with lab.without(kinds.PERSISTENT_VOLUME, "adas-data-pv01") as bring_back:
        lab.put(kinds.PERSISTENT_VOLUME_CLAIM, claim)
        with lab.job() as job:
            job.stays_away("unbound immediate PersistentVolumeClaims")
            bring_back()
            job.succeeds()
    lab.works("pulumi", "refresh", "--stack", "dev", "--yes", "--non-interactive")
    lab.works("up")


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
    node = "dgx02.ocp4.scale.ibm.com"
    lab.api.patch(kinds.NODE, node, {"spec": {"unschedulable": True}})
    try:
        with lab.job() as job:
            job.stays_away("Insufficient nvidia.com/gpu")
            running = [pod for pod in job.workers if pod["status"]["phase"] == "Running"]
            assert len(running) == 1
            lab.api.patch(kinds.NODE, node, {"spec": {"unschedulable": None}})
            job.succeeds()
    finally:
        lab.api.patch(kinds.NODE, node, {"spec": {"unschedulable": None}})


ACTORS: tuple[tuple[Kind, str, str], ...] = ((kinds.CLUSTER_ROLE, "mpi-operator", "statefulsets"),)


@pytest.mark.parametrize(("kind", "name", "resource"), ACTORS)
def test_operators_need_their_rights(lab: Lab, kind: Kind, name: str, resource: str) -> None:
    """An operator whose role lacks a right does not create what needs it, until the right is granted again."""
    role = lab.api.get(kind, name)
    without = [rule for rule in role["rules"] if resource not in rule["resources"]]
    assert len(without) < len(role["rules"])
    lab.api.patch(kind, name, {"rules": without})
    try:
        with lab.job() as job:
            eventually(lambda: bool(job.lab.api.find(kinds.SERVICE_ACCOUNT, "probe-launcher", "adas")), "no launcher")
            assert not job.workers
            assert not job.launcher_started
            lab.api.patch(kind, name, {"rules": role["rules"]})
            job.succeeds()
    finally:
        lab.api.patch(kind, name, {"rules": role["rules"]})
