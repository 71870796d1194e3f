"""A cluster with nodes and queues of today, as this project declares them: Kueue is real, the rest simulated.

Every wait that our components declare is judged here by the provider's own rules, on the live objects.
"""

from typing import Any

import pulumi

from components.fabric.nmstate import NmState, NmStateArgs
from components.jobs.layout import Layout
from components.jobs.mpi_job import V2Beta1
from components.nodes.kernel_arguments import KernelArguments, KernelArgumentsArgs
from components.nodes.kubelet_config import KubeletConfig, for_machine
from components.nodes.node_pool import NodePool, NodePoolArgs, PoolRollout, PoolRolloutArgs
from components.nodes.rail_names import RailNames, RailNamesArgs
from components.operators.kueue_operator import KueueOperator, KueueOperatorArgs
from components.operators.mpi_operator import MpiOperator, MpiOperatorArgs
from components.operators.olm_operator import OlmOperator, OlmOperatorArgs
from components.queues.kueue import Queues, QueuesArgs
from components.queues.quota import Quota
from components.storage.claim import Claim, ClaimArgs
from components.storage.scale_csi import GuiAccount, PrimaryFileset, ScaleCluster, ScaleCsi, ScaleCsiArgs
from components.storage.static_volume import LongHandle, StaticVolume, StaticVolumeArgs
from components.storage.storage_class import StorageClass, StorageClassArgs
from components.tenants.mpi_scc import MpiScc, MpiSccArgs
from components.tenants.tenant import IdRange, Tenant, TenantArgs
from core.apis import kinds, names
from core.hardware.topology import rails
from tests.cluster.declaring import Declared, subscribe
from tests.components.kit import mpi_job_manifest as job_of
from tests.support.machines import DGX_A100
from tests.support.queues import queues_of
from tests.support.user import User
from toolkit.simulator import names as simulated
from toolkit.simulator import pods
from toolkit.simulator.actors.api import ApiError
from toolkit.simulator.cluster import ClusterSpec, NodeSpec

Manifest = dict[str, Any]

NODES = ("dgx01", "dgx02")
PLAIN = "worker03"
SPEC = ClusterSpec(
    name="test-todays-nodes",
    nodes=(*(NodeSpec(name=name, profile="dgx-a100") for name in NODES), NodeSpec(name=PLAIN)),
    release="current",
    mpi="v2beta1",
    job_controllers=("cert_manager", "kueue"),
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


def scale_operator(channel: str) -> None:
    """Declare the Scale driver's operator."""
    package = "ibm-spectrum-scale-csi-operator"
    OlmOperator("csi", OlmOperatorArgs(namespace=CSI, package=package, channel=channel, source="certified-operators"))


def former_storage() -> None:
    """Declare storage as with the driver of 2020."""
    primary = PrimaryFileset(file_system="fs0", fileset="csifset")
    clusters = (ScaleCluster(id=CLUSTER, gui_host="192.0.2.1", secret=GUI, secure_ssl=False, primary=primary),)
    ScaleCsi("csi", ScaleCsiArgs(namespace=CSI, host_path="/gpfs/fs0", clusters=clusters), _accounts())


def _accounts() -> pulumi.Output[dict[str, GuiAccount]]:
    return pulumi.Output.secret({GUI: GuiAccount(username="invented", password="invented")})


def operators() -> None:
    """Declare today's operators."""
    scale_operator("v3.1")
    subscribe("kubernetes-nmstate-operator", "openshift-cert-manager-operator", "kueue-operator")
    MpiOperator("mpi", MpiOperatorArgs(kind=JOB, image="mpioperator/mpi-operator:0.8.2"))


def nodes() -> None:
    """Declare the pool of GPU nodes and its tuning."""
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


def tenants() -> None:
    """Declare two tenants, one of them with jobs under Kueue, and Kueue."""
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


def storage() -> None:
    """Declare today's driver, and volumes of every kind."""
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


def queues() -> None:
    """Declare a queue for each tenant."""
    labels = {f"node-role.kubernetes.io/{POOL}": ""}
    args = queues_of({"adas": QUOTA, "maps": QUOTA}, node_labels=labels, rdma=RDMA[:1])
    Queues("queues", QueuesArgs.model_validate(args))


class Site(Declared):
    """The cluster, its storage and its jobs."""

    def __init__(self, api: User) -> None:
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
            details = [f"{one['metadata']['name']}: {one.get('spec')} {one.get('status')}" for one in held]
            details += [f"{pod['metadata']} {pods.node_name(pod)} {pod.get('status')}" for pod in self.api.pods("adas")]
            error.add_note("\n".join(details))
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
