"""What nodes and queues of today consist of, as this project declares them: Kueue is real, the rest simulated.

Every wait that our components declare is judged here by the provider's own rules, on the live objects.
"""

from collections.abc import Iterator
from typing import Any

import pulumi
import pytest

from apis import kinds, names
from components.bond import Bond, BondArgs
from components.claim import Claim, ClaimArgs
from components.kernel_arguments import KernelArguments, KernelArgumentsArgs
from components.kubelet_config import KubeletConfig, for_machine
from components.kueue import Queues, QueuesArgs, Quota, TenantQueue
from components.kueue_operator import KueueOperator, KueueOperatorArgs
from components.layout import Layout
from components.mpi_job import V2Beta1
from components.mpi_operator import MpiOperator, MpiOperatorArgs
from components.mpi_scc import MpiScc, MpiSccArgs
from components.nmstate import NmState, NmStateArgs
from components.node_pool import NodePool, NodePoolArgs
from components.olm_operator import OlmOperator, OlmOperatorArgs
from components.pool_rollout import PoolRollout, PoolRolloutArgs
from components.rail_names import RailNames, RailNamesArgs
from components.scale_csi import GuiAccount, PrimaryFileset, ScaleCluster, ScaleCsi, ScaleCsiArgs
from components.static_volume import LongHandle, StaticVolume, StaticVolumeArgs
from components.storage_class import StorageClass, StorageClassArgs
from components.tenant import IdRange, Tenant, TenantArgs
from hardware.topology import SYSTEM_CPUS, rails
from policies.values import amount
from rendering.manifests import manifests
from simulator import names as simulated
from simulator.actors import pods
from simulator.actors.api import ApiError, Server
from simulator.bootstrap import agents
from simulator.cluster import ClusterSpec, NodeSpec
from simulator.plugins.provider.diff import difference
from simulator.plugins.provider.inputs import ObjectType
from tests.cluster.declaring import Declared, subscribe
from tests.components.kit import mpi_job_manifest as job_of
from tests.simulator.actors import platform
from tests.simulator.actors.conftest import Person
from tests.support.clusters import running
from tests.support.machines import DGX_A100
from tests.support.recorded import component

pytestmark = pytest.mark.cluster

Manifest = dict[str, Any]

NODES = ("dgx01", "dgx02")
PLAIN = "worker03"
SPEC = ClusterSpec(
    name="test-todays-nodes",
    nodes=(*(NodeSpec(name=name, profile="dgx-a100") for name in NODES), NodeSpec(name=PLAIN)),
    release="current",
    mpi="v2beta1",
    job_controllers=("kueue",),
    run_seconds=0.5,
)
JOB = kinds.MPI_JOB_V2BETA1
POOL = "gpu"
FORMER, TODAY = (f"ibm-spectrum-scale-csi-operator.v{version}" for version in ("2.0.0", "3.1.0"))
RDMA = ("rdma/rail0", "rdma/rail1")
CLUSTER = "16217308676014575381"
CSI = "ibm-spectrum-scale-csi-driver"
GUI = "csisecret-local"
CERTIFICATE = "-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n"
QUOTA = Quota(gpus=16, cpus=200, memory_gib=400)


def _scale_operator(channel: str) -> None:
    package = "ibm-spectrum-scale-csi-operator"
    OlmOperator("csi", OlmOperatorArgs(namespace=CSI, package=package, channel=channel, source="certified-operators"))


def _former_storage() -> None:
    primary = PrimaryFileset(file_system="fs0", fileset="csifset")
    clusters = (ScaleCluster(id=CLUSTER, gui_host="192.0.2.1", secret=GUI, secure_ssl=False, primary=primary),)
    ScaleCsi("csi", ScaleCsiArgs(namespace=CSI, host_path="/gpfs/fs0", clusters=clusters), _accounts())


def _accounts() -> pulumi.Output[dict[str, GuiAccount]]:
    return pulumi.Output.secret({GUI: GuiAccount(username="invented", password="invented")})


def _operators() -> None:
    _scale_operator("v3.1")
    subscribe("kubernetes-nmstate-operator", "openshift-cert-manager-operator", "kueue-operator")
    MpiOperator("mpi", MpiOperatorArgs(kind=JOB, image="mpioperator/mpi-operator:0.8.0"))


def _nodes() -> None:
    NodePool("pool", NodePoolArgs(pool=POOL))
    named = RailNamesArgs(pool=POOL, ignition_version="3.2.0", link_layer="InfiniBand", rails=rails(DGX_A100))
    tuned = (
        KubeletConfig("kubelet", for_machine(DGX_A100, pool=POOL, memory_manager=True)),
        KernelArguments("kernel", KernelArgumentsArgs(pool=POOL, ignition_version="3.2.0")),
        RailNames("rails", named),
    )
    parts = {name: digest for one in tuned for name, digest in one.parts.items()}
    PoolRollout("rollout", PoolRolloutArgs(pool=POOL, parts=parts))
    NmState("nmstate", NmStateArgs())


def _tenants() -> None:
    scc = MpiSccArgs(base="restricted-v2")
    MpiScc("scc", scc)
    for index, tenant in enumerate(("adas", "maps")):
        Tenant(
            tenant,
            TenantArgs(
                namespace=tenant,
                uid_range=IdRange(start=1075480000 + 10000 * index),
                mcs=f"s0:c26,c{5 + index}",
                gpu_quota=64,
                scc_name=scc.scc_name,
                queued=tenant == "adas",
            ),
        )
    KueueOperator("kueue", KueueOperatorArgs())


def _storage() -> None:
    driver = ScaleCsiArgs(
        generation="3",
        namespace=CSI,
        local_cluster=CLUSTER,
        clusters=(ScaleCluster(id=CLUSTER, gui_host="192.0.2.1", secret=GUI),),
        ca_certificate=CERTIFICATE,
    )
    ScaleCsi("csi", driver, _accounts())
    StorageClass("class", StorageClassArgs(class_name="scale", file_system="ess3000_4M", cluster_id=CLUSTER))
    Claim("dynamic", ClaimArgs(claim_name="dynamic", storage_class="scale", capacity="1Ti"), "adas")
    for name, cluster in (("data", CLUSTER), ("foreign", "123")):
        handle = LongHandle(
            cluster_id=cluster, file_system_uid="099B6A7A:5EB99743", path="/gpfs/adas", independent_fileset=None
        )
        args = StaticVolumeArgs(volume_name=f"adas-{name}", claim_name=name, handle=handle, capacity="1Ti")
        StaticVolume(name, args, "adas")
    Claim("files", ClaimArgs(claim_name="files", storage_class=simulated.FILES_CLASS, capacity="1Ti"), "adas")


def _queues() -> None:
    tenants = (TenantQueue(namespace="adas", quota=QUOTA), TenantQueue(namespace="maps", quota=QUOTA))
    labels = {f"node-role.kubernetes.io/{POOL}": ""}
    Queues("queues", QueuesArgs(flavor="dgx-a100", node_labels=labels, rdma=RDMA[:1], tenants=tenants))


class Site(Declared):
    """The cluster, its storage and its jobs."""

    def __init__(self, api: Person) -> None:
        super().__init__(api)
        self.former_uid = ""
        """Of the driver's object, as it was under the operator of 2020."""

    def installed(self, version: str) -> None:
        """Wait until a version of the Scale operator is installed."""
        self.api.eventually(
            lambda: pods.phase(self.api.get(kinds.CLUSTER_SERVICE_VERSION, version, CSI)) == "Succeeded"
        )

    def driver(self) -> Manifest:
        """Return the driver's object, once its driver runs."""
        name = "ibm-spectrum-scale-csi"
        self.api.eventually(lambda: self.api.condition(kinds.CSI_SCALE_OPERATOR, name, CSI, "Success"))
        return self.api.get(kinds.CSI_SCALE_OPERATOR, name, CSI)

    def submit(self, name: str, namespace: str = "adas", **changes: Any) -> Manifest:
        """Create a job of one worker that names its tenant's queue; `changes` are arguments of the component."""
        asked: Manifest = {
            "volumes": {"data": {"kind": "claim", "claim": "data"}},
            "rdma_resources": RDMA[:1],
            "cpus": 8,
            "memory": "64Gi",
            "layout": Layout(pods=1, gpus=8),
        }
        manifest: Manifest = job_of(
            job_name=name, namespace=namespace, v2beta1=V2Beta1(queue="jobs"), **{**asked, **changes}
        )
        manifest["metadata"]["labels"] = {names.QUEUE_NAME: "jobs"}
        self.api.eventually(lambda: self._created(manifest, namespace))
        return manifest

    def _created(self, manifest: Manifest, namespace: str) -> bool:
        """Create a job; return False while Kueue's pod moves from a node that restarts, and its webhooks are away."""
        try:
            self.api.create(JOB, manifest, namespace)
        except ApiError as error:
            if "failed calling webhook" not in error.message:
                raise
            return False
        return True

    def suspended(self, name: str, namespace: str = "adas") -> bool:
        """Return whether a job waits."""
        return bool(self.api.get(JOB, name, namespace)["spec"].get("runPolicy", {}).get("suspend"))

    def ended(self, name: str, namespace: str = "adas") -> str | None:
        """Return which end a job has come to, None before it has."""
        return self.api.condition(JOB, name, namespace, "Succeeded", "Failed")

    def succeeds(self, name: str) -> None:
        """Wait for the good end of a job; where it does not come, fail with what it waits for."""
        try:
            # On two busy cores the scheduler and the operator were seen to take 20 s and more between jobs.
            assert self.api.eventually(lambda: self.ended(name), seconds=300) == "Succeeded"
        except AssertionError as error:
            held = self.api.list(kinds.WORKLOAD, "adas")["items"] + self.api.list(kinds.NODE)["items"]
            told = [f"{one['metadata']['name']}: {one.get('spec')} {one.get('status')}" for one in held]
            told += [f"{pod['metadata']} {pods.node_name(pod)} {pod.get('status')}" for pod in self.api.pods("adas")]
            error.add_note("\n".join(told))
            raise

    def why(self, name: str) -> str:
        """Return why a job's Workload has no quota, by Kueue's message."""
        found = self.api.list(kinds.WORKLOAD, "adas")["items"]
        conditions = [
            one
            for each in found
            if each["metadata"]["ownerReferences"][0]["name"] == name
            for one in (each.get("status") or {}).get("conditions") or []
        ]
        return next((one["message"] for one in conditions if one["type"] == "QuotaReserved"), "")


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    """Run the cluster, with operators, nodes, tenants and storage in the order of an installation."""
    with running(SPEC) as started:
        server = Server(started.kubeconfig)
        token = server.token
        made = Site(Person(server, lambda: token, "tests"))
        for node in (*NODES, PLAIN):
            made.api.patch(kinds.NODE, node, {"metadata": {"labels": {"scale": "true"}}})
        made.declare(lambda: _scale_operator("stable"))
        made.api.apply(kinds.SECRET, platform.secret(GUI))
        made.installed(FORMER)
        made.declare(_former_storage)
        made.former_uid = made.driver()["metadata"]["uid"]
        made.declare(_operators)
        made.installed(TODAY)
        for node in NODES:
            marks = {"feature.node.kubernetes.io/pci-15b3.present": "true", f"node-role.kubernetes.io/{POOL}": ""}
            made.api.patch(kinds.NODE, node, {"metadata": {"labels": marks}})
        made.declare(_nodes)
        made.declare(_tenants)
        made.declare(_storage)
        made.declare(_queues)
        yield made


def _on_nodes(site: Site) -> None:
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


def _annotation(site: Site, node: str, name: str) -> str:
    return pods.annotations(site.api.get(kinds.NODE, node)).get(name, "")


def test_the_pool_rolls_all_of_it_out(site: Site) -> None:
    """When the pool is updated, kubelets, kernel arguments and interfaces of its nodes are as declared."""
    for node in NODES:
        assert '"rail0", "rail1"' in _annotation(site, node, simulated.INTERFACES)
        assert "iommu=pt" in _annotation(site, node, simulated.KERNEL_ARGUMENTS)
        status = site.api.get(kinds.NODE, node)["status"]
        assert int(status["allocatable"]["cpu"]) == DGX_A100.cpus - SYSTEM_CPUS
        capacity, allocatable = (amount(status[of]["memory"]) for of in ("capacity", "allocatable"))
        assert capacity is not None
        assert allocatable is not None
        assert capacity - allocatable == (1024 + 100) * 1024**2
    assert _annotation(site, PLAIN, simulated.KERNEL_ARGUMENTS) == ""


def test_a_pod_with_all_that_the_kubelet_leaves_waits(site: Site) -> None:
    """A pod with all CPUs that the kubelet leaves is pending: agents on the node have some of them."""
    left = site.api.get(kinds.NODE, NODES[0])["status"]["allocatable"]["cpu"]
    container = {"name": "all", "image": "example.com/all:1", "resources": {"requests": {"cpu": left}}}
    host = {"nodeSelector": {"kubernetes.io/hostname": NODES[0]}, "tolerations": [{"operator": "Exists"}]}
    body = {"metadata": {"name": "all", "namespace": agents.NAMESPACE}, "spec": {**host, "containers": [container]}}
    site.api.create(kinds.POD, body, agents.NAMESPACE)

    def refused() -> bool:
        conditions = site.api.get(kinds.POD, "all", agents.NAMESPACE)["status"].get("conditions") or []
        return any("Insufficient cpu" in one.get("message", "") for one in conditions)

    site.api.eventually(refused)
    site.api.delete(kinds.POD, "all", agents.NAMESPACE)


def test_a_kubelet_that_does_not_start_degrades_its_pool(site: Site) -> None:
    """Reserved CPUs that a machine does not have degrade its pool, with the kubelet's message."""
    wrong = {"reservedSystemCPUs": "0-3,128-131", "cpuManagerPolicy": "static"}
    selector = {"matchLabels": {f"{names.MACHINE_CONFIG_POOL}worker": ""}}
    spec = {"machineConfigPoolSelector": selector, "kubeletConfig": wrong}
    site.api.apply(kinds.KUBELET_CONFIG, platform.obj(kinds.KUBELET_CONFIG, "worker-wrong", spec=spec))
    site.api.eventually(lambda: site.api.condition(kinds.MACHINE_CONFIG_POOL, "worker", "", "Degraded"))
    pool = site.api.get(kinds.MACHINE_CONFIG_POOL, "worker")
    (said,) = [one["message"] for one in pool["status"]["conditions"] if one["type"] == "NodeDegraded"]
    assert f"Node {PLAIN} is reporting" in said
    assert "unknown CPU ID: 128" in said
    # A pool of one's own has the workers' configurations, too, and rolls out twice here. A rollout that came later
    # would take what other tests run on its nodes.
    part = "99-worker-generated-kubelet"
    site.api.eventually(lambda: part in _asked(site, POOL))
    site.api.delete(kinds.KUBELET_CONFIG, "worker-wrong")
    for name in ("worker", POOL):
        site.api.eventually(lambda pool=name: _rolled_out_without(site, pool, part))  # type: ignore[misc]
    assert not pods.condition(site.api.get(kinds.MACHINE_CONFIG_POOL, "worker"), "Degraded")


def _asked(site: Site, pool: str) -> list[str]:
    found = site.api.get(kinds.MACHINE_CONFIG_POOL, pool)
    return [one["name"] for one in found["spec"]["configuration"]["source"]]


def _rolled_out_without(site: Site, pool: str, part: str) -> bool:
    found = site.api.get(kinds.MACHINE_CONFIG_POOL, pool)
    reached = found["spec"]["configuration"] == found["status"]["configuration"]
    return part not in _asked(site, pool) and reached and pods.condition(found, "Updated")


def test_a_bond_needs_its_ports(site: Site) -> None:
    """A bond over interfaces that do not exist degrades its policy: one node fails, the other's is aborted."""
    labels = {f"node-role.kubernetes.io/{POOL}": ""}
    site.declare(lambda: Bond("bond", BondArgs(node_selector=labels, ports=("rail0", "rail1"))))
    lost = BondArgs(policy_name="lost", interface="bond1", node_selector=labels, ports=("ibp12s0", "ibp18s0"))
    (policy,) = manifests(component(lambda: Bond("lost", lost)))
    site.api.apply(kinds.NODE_NETWORK_CONFIGURATION_POLICY, policy)
    found = kinds.NODE_NETWORK_CONFIGURATION_POLICY
    site.api.eventually(lambda: site.api.condition(found, "lost", "", "Degraded"))
    assert site.api.condition(found, "lost", "", "Available") is None
    first, second = (site.api.get(kinds.NODE_NETWORK_CONFIGURATION_ENACTMENT, f"{node}.lost") for node in NODES)
    assert pods.condition(first, "Failing")
    assert pods.condition(second, "Aborted")


def test_volumes_are_made_and_known_handles_mounted(site: Site) -> None:
    """Claims are bound; volumes of the driver's clusters are mounted, and one of another cluster is not."""
    for claim in ("dynamic", "files"):
        phase = site.api.eventually(lambda name=claim: _bound(site, name))  # type: ignore[misc]
        assert phase == "Bound"
    for name in ("data", "dynamic", "foreign"):
        mounted = [{"name": "data", "persistentVolumeClaim": {"claimName": name}}]
        container = {"name": "main", "image": "registry.example.com/tool:1", "command": ["sleep", "365d"]}
        spec = {"nodeName": NODES[0], "containers": [container], "volumes": mounted}
        site.api.apply(kinds.POD, platform.obj(kinds.POD, f"reads-{name}", "adas", spec=spec))
    for name in ("data", "dynamic"):
        site.api.eventually(lambda n=name: _phase(site, n) == "Running")  # type: ignore[misc]

    def told() -> list[str]:
        events = site.api.list(kinds.EVENT, "adas")["items"]
        return [one["message"] for one in events if one["involvedObject"]["name"] == "reads-foreign"]

    assert any("unable to find cluster [123]" in one for one in site.api.eventually(told))
    assert _phase(site, "foreign") == "Pending"
    for name in ("data", "dynamic", "foreign"):
        site.api.delete(kinds.POD, f"reads-{name}", "adas")


def _bound(site: Site, claim: str) -> str | None:
    phase = pods.phase(site.api.get(kinds.PERSISTENT_VOLUME_CLAIM, claim, "adas"))
    return phase if phase == "Bound" else None


def _phase(site: Site, name: str) -> str:
    return pods.phase(site.api.get(kinds.POD, f"reads-{name}", "adas"))


def test_a_job_waits_for_its_quota_and_then_runs(site: Site) -> None:
    """A job of a queue stays suspended while quota lacks or does not cover it, and then runs on the flavor's nodes."""
    _on_nodes(site)
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


def test_the_driver_of_today_adopts_the_object(site: Site) -> None:
    """The driver of version 3 adopts the existing object, and removes the former operator and its parts."""
    found = site.driver()
    assert found["metadata"]["uid"] == site.former_uid
    assert found["spec"]["localScaleCluster"] == CLUSTER
    assert "scaleHostpath" not in found["spec"]
    assert site.api.find(kinds.STATEFUL_SET, "ibm-spectrum-scale-csi-provisioner", CSI) is None
    assert site.api.find(kinds.CLUSTER_SERVICE_VERSION, FORMER, CSI) is None


def test_an_object_of_the_former_driver_is_refused(site: Site) -> None:
    """An object of driver 2.0 is refused by the definition of version 3."""
    with pytest.raises(ApiError, match="localScaleCluster"):
        site.api.create(kinds.CSI_SCALE_OPERATOR, platform.scale() | {"metadata": {"name": "old"}}, CSI)
