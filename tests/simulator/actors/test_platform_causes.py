"""The platform, cause before effect: what is taken away is missed where it would be on a real cluster."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from apis import kinds, names
from simulator import names as sim
from simulator.actors import pods
from simulator.actors.api import Object
from simulator.cluster import Cluster
from tests.simulator.actors import platform
from tests.simulator.actors.conftest import Person

pytestmark = pytest.mark.cluster

DGX01, DGX02 = platform.DGX
GPU = names.GPU_RESOURCE


@contextmanager
def without_rule(user: Person, role: str, resource: str) -> Iterator[None]:
    """Take the rules for a resource out of a ClusterRole for a while."""
    whole = user.get(kinds.CLUSTER_ROLE, role)["rules"]
    user.patch(kinds.CLUSTER_ROLE, role, {"rules": [one for one in whole if resource not in one["resources"]]})
    try:
        yield
    finally:
        user.patch(kinds.CLUSTER_ROLE, role, {"rules": whole})


def waiting_reason(pod: Object) -> str:
    """Return why a pod's first container waits, nothing while its node has not taken it over."""
    for status in pod["status"].get("containerStatuses") or []:
        return str((status["state"].get("waiting") or {}).get("reason", ""))
    return ""


def driver_pods(user: Person) -> list[Object]:
    """Return the CSI driver's pods that run."""
    return [pod for pod in user.pods(platform.CSI, "app=ibm-spectrum-scale-csi") if pods.runs(pod)]


def test_manual_approval_and_starting_version(user: Person) -> None:
    """Manual approval holds an installation, and an upgrade."""
    first, last = "nfd.4.4.0-202006011320", "nfd.4.4.0-202007240028.p0"
    namespace = "manual"
    spec = {"installPlanApproval": "Manual", "startingCSV": first}
    for kind, body in platform.subscribed("nfd", namespace, channel="4.4", source="redhat-operators", **spec):
        user.apply(kind, body)

    def plans() -> list[Object]:
        return [
            plan
            for plan in user.list(kinds.INSTALL_PLAN, namespace)["items"]
            if (plan.get("status") or {}).get("phase") == "RequiresApproval"
        ]

    def status() -> Object:
        found: Object = user.get(kinds.SUBSCRIPTION, "nfd", namespace).get("status") or {}
        return found

    (plan,) = user.eventually(plans)
    assert plan["spec"]["clusterServiceVersionNames"] == [first]
    user.never(lambda: user.find(kinds.CLUSTER_SERVICE_VERSION, first, namespace))
    assert status()["state"] == "UpgradePending"
    user.patch(kinds.INSTALL_PLAN, plan["metadata"]["name"], {"spec": {"approved": True}}, namespace)
    user.eventually(lambda: status().get("installedCSV") == first)
    csv = kinds.CLUSTER_SERVICE_VERSION
    user.eventually(lambda: pods.phase(user.get(csv, first, namespace)) == "Succeeded")
    (plan,) = user.eventually(plans)
    assert plan["spec"]["clusterServiceVersionNames"] == [last]
    user.delete(kinds.NAMESPACE, namespace)
    user.eventually(lambda: user.find(kinds.NAMESPACE, namespace) is None, seconds=300)
    user.eventually(lambda: not user.list(kinds.CLUSTER_ROLE, selector=f"olm.owner={first}")["items"])


def test_unknown_package_says_so(user: Person) -> None:
    """A Subscription of an unknown package has a condition that says so."""
    for kind, body in platform.subscribed("nfdd", "typo", channel="4.4", source="redhat-operators"):
        user.apply(kind, body)
    user.eventually(lambda: user.condition(kinds.SUBSCRIPTION, "nfdd", "typo", "ResolutionFailed"))
    conditions = user.get(kinds.SUBSCRIPTION, "nfdd", "typo")["status"]["conditions"]
    assert "package nfdd" in conditions[0]["message"]
    user.delete(kinds.NAMESPACE, "typo")


def test_namespaces_get_a_range_and_keep_their_own(user: Person) -> None:
    """A namespace gets a range of user ids, unless it has one."""
    own = platform.obj(kinds.NAMESPACE, "own-range")
    own["metadata"]["annotations"] = {names.SCC_UID_RANGE: "1075490000/10000"}
    user.apply(kinds.NAMESPACE, own)
    user.apply(kinds.NAMESPACE, platform.obj(kinds.NAMESPACE, "given-range"))

    def marks(name: str) -> dict[str, str]:
        return pods.annotations(user.get(kinds.NAMESPACE, name))

    user.eventually(lambda: {names.SCC_UID_RANGE, names.SCC_MCS} <= marks("given-range").keys())
    user.eventually(lambda: names.SCC_MCS in marks("own-range"))
    assert marks("own-range")[names.SCC_UID_RANGE] == "1075490000/10000"
    assert marks("given-range")[names.SCC_UID_RANGE] != marks("own-range")[names.SCC_UID_RANGE]


def test_gpus_go_with_the_plugins_pod(ready: Person) -> None:
    """GPUs are offered only while driver and device plugin run on the node."""
    for name in ("nvidia-gpu-device-plugin", "nvidia-gpu-driver-container"):
        ready.patch(
            kinds.DAEMON_SET, name, {"spec": {"template": {"spec": {"nodeSelector": {"no": "node"}}}}}, "nvidia-gpu"
        )
        ready.eventually(lambda: ready.offers(DGX01, GPU) == 0)
        assert ready.offers(DGX01, "rdma/shared_ib0") == 100
        ready.delete(kinds.DAEMON_SET, name, "nvidia-gpu")
        ready.eventually(lambda: ready.offers(DGX01, GPU) == 8)


def test_rdma_configuration_is_read_at_the_plugins_start(ready: Person) -> None:
    """A changed ConfigMap takes effect when its plugin restarts."""
    change = {"data": {"config.json": platform.config_json("shared_ib0", "shared_ib1", "shared_ib2")}}
    ready.patch(kinds.CONFIG_MAP, "rdma-devices", change, "kube-system")
    ready.never(lambda: ready.offers(DGX01, "rdma/shared_ib2"))
    for pod in ready.pods("kube-system", f"name={platform.RDMA}"):
        ready.delete(kinds.POD, pod["metadata"]["name"], "kube-system")
    for node in platform.DGX:
        ready.eventually(lambda n=node: ready.offers(n, "rdma/shared_ib2") == 100)  # type: ignore[misc]


def test_rdma_plugin_with_a_broken_configuration_crashes(ready: Person) -> None:
    """A config.json that the plugin cannot read gives no resources; once corrected, they come back."""
    good = ready.get(kinds.CONFIG_MAP, "rdma-devices", "kube-system")["data"]
    ready.patch(kinds.CONFIG_MAP, "rdma-devices", {"data": {"config.json": "{"}}, "kube-system")
    for pod in ready.pods("kube-system", f"name={platform.RDMA}"):
        ready.delete(kinds.POD, pod["metadata"]["name"], "kube-system")
    selector = f"name={platform.RDMA}"

    def crashed() -> bool:
        there = ready.pods("kube-system", selector)
        return bool(there) and all(pods.crashed(pod) for pod in there)

    ready.eventually(crashed)
    ready.eventually(lambda: ready.offers(DGX01, "rdma/shared_ib0") == 0)
    ready.patch(kinds.CONFIG_MAP, "rdma-devices", {"data": good}, "kube-system")
    ready.eventually(lambda: ready.offers(DGX01, "rdma/shared_ib0") == 100)
    assert any(pods.restarts(pod) for pod in ready.pods("kube-system", selector))


def test_missing_gui_secret_keeps_the_driver_creating(ready: Person) -> None:
    """Without the GUI's password the driver does not start; the reason is on the pod and in an event."""
    name = platform.SECRETS[1]
    ready.delete(kinds.SECRET, name, platform.CSI)
    for pod in driver_pods(ready):
        ready.delete(kinds.POD, pod["metadata"]["name"], platform.CSI)
    selector = "app=ibm-spectrum-scale-csi"

    def creating() -> bool:
        there = ready.pods(platform.CSI, selector)
        known = [pod for pod in there if (pod.get("status") or {}).get("containerStatuses")]
        return len(known) == 2 and all(waiting_reason(pod) == "ContainerCreating" for pod in known)

    ready.eventually(creating)
    ready.never(lambda: driver_pods(ready))
    events = ready.list(kinds.EVENT, platform.CSI)["items"]
    assert any(one["reason"] == "FailedMount" and f'secret "{name}" not found' in one["message"] for one in events)
    ready.apply(kinds.SECRET, platform.secret(name))
    ready.eventually(lambda: len(driver_pods(ready)) == 2)


def test_pods_wait_for_the_csi_driver_on_their_node(ready: Person) -> None:
    """A claim is mounted only on a node with the driver."""
    ready.patch(kinds.NODE, DGX01, {"metadata": {"labels": {"scale": None}}})
    ready.eventually(lambda: [pods.node_name(pod) for pod in driver_pods(ready)] == [DGX02])
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    ready.apply(kinds.JOB, platform.batch_job("mounts", "true", nodeName=DGX01, volumes=[volume]))
    (pod,) = ready.eventually(lambda: ready.pods(platform.TENANT, "job-name=mounts"))
    ready.eventually(
        lambda: waiting_reason(ready.get(kinds.POD, pod["metadata"]["name"], platform.TENANT)) == "ContainerCreating"
    )
    ready.never(lambda: ready.condition(kinds.JOB, "mounts", platform.TENANT, "Complete"))
    ready.patch(kinds.NODE, DGX01, {"metadata": {"labels": {"scale": "true"}}})
    ready.eventually(lambda: ready.condition(kinds.JOB, "mounts", platform.TENANT, "Complete"))
    ready.delete(kinds.JOB, "mounts", platform.TENANT)


def test_node_features_need_the_masters_right(ready: Person) -> None:
    """Labels are set by NFD's own account: without its right there are none."""
    label = "feature.node.kubernetes.io/kernel-version.full"
    with without_rule(ready, "nfd-master", "nodes"):
        ready.patch(kinds.NODE, DGX02, {"metadata": {"labels": {label: None}}})
        ready.never(lambda: label in pods.labels(ready.get(kinds.NODE, DGX02)))
    ready.eventually(lambda: label in pods.labels(ready.get(kinds.NODE, DGX02)))


def test_csi_operator_needs_its_right(ready: Person) -> None:
    """The driver is created by its operator's account: without the right on DaemonSets there is none."""
    (role,) = ready.list(kinds.CLUSTER_ROLE, selector="olm.owner=ibm-spectrum-scale-csi-operator.v2.0.0")["items"]
    with without_rule(ready, role["metadata"]["name"], "daemonsets"):
        ready.delete(kinds.DAEMON_SET, "ibm-spectrum-scale-csi", platform.CSI)
        ready.eventually(lambda: not driver_pods(ready))
        ready.never(lambda: driver_pods(ready))
    ready.eventually(lambda: len(driver_pods(ready)) == 2)


def test_machine_config_rolls_out_and_back(ready: Person, simulated: Cluster) -> None:
    """The RDMA test needs the memlock MachineConfig, whose pool is Updated after its nodes."""
    ready.apply(kinds.JOB, platform.rdma_test("rdma-before", DGX01))
    tenant = platform.TENANT
    assert ready.eventually(lambda: ready.condition(kinds.JOB, "rdma-before", tenant, "Failed", "Complete")) == "Failed"
    (pod,) = ready.pods(tenant, "job-name=rdma-before")
    ended = pod["status"]["containerStatuses"][0]["state"]["terminated"]
    assert (ended["exitCode"], ended["message"]) == (1, "Couldn't allocate MR")
    folder = simulated.home / "pods" / f"{tenant}_{pod['metadata']['name']}_{pod['metadata']['uid']}"
    assert "Couldn't allocate MR" in (folder / "main.log").read_text()

    made = platform.machine_config()
    ready.apply(kinds.MACHINE_CONFIG, made)

    def rolled_out(*sources: str) -> bool:
        pool = ready.get(kinds.MACHINE_CONFIG_POOL, "worker")
        status = pool["status"]
        listed = [one["name"] for one in status["configuration"]["source"]]
        everywhere = status["updatedMachineCount"] == status["machineCount"] == 3
        return listed == list(sources) and pods.condition(pool, "Updated") and everywhere

    ready.eventually(lambda: rolled_out("00-worker", made["metadata"]["name"]), seconds=120)
    for name in platform.DGX:
        node = ready.get(kinds.NODE, name)
        assert pods.annotations(node)[sim.MEMLOCK] == "unlimited"
        assert not node["spec"].get("unschedulable")
    ready.apply(kinds.JOB, platform.rdma_test("rdma-after", DGX01))
    assert ready.eventually(lambda: ready.condition(kinds.JOB, "rdma-after", tenant, "Failed", "Complete"))
    assert ready.condition(kinds.JOB, "rdma-after", tenant, "Complete")
    ready.delete(kinds.MACHINE_CONFIG, made["metadata"]["name"])
    ready.eventually(lambda: rolled_out("00-worker"), seconds=120)
    assert sim.MEMLOCK not in pods.annotations(ready.get(kinds.NODE, DGX01))
