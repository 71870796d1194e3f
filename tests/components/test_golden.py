"""What components declare, whole, as somebody has read it once; the named assertions are beside each component."""

from collections.abc import Callable, Mapping
from typing import Any

import pulumi
import pytest
from syrupy.assertion import SnapshotAssertion

from components.alert_receivers import AlertReceivers, AlertReceiversArgs, SecretKey, Slack
from components.alerts import Limits
from components.bond import Bond, BondArgs
from components.claim import Claim, ClaimArgs
from components.containerfiles import Ofed, containerfile
from components.gpu_device_plugin import GpuDevicePlugin, GpuDevicePluginArgs
from components.gpu_job import GpuJob
from components.gpu_monitoring import GpuMonitoring, GpuMonitoringArgs
from components.image_build import ImageBuild, ImageBuildArgs, Inline
from components.kernel_arguments import KernelArguments, KernelArgumentsArgs
from components.kubelet_config import KubeletConfig, for_machine
from components.kueue import Queues, QueuesArgs, TenantQueue, quota_of
from components.kueue_operator import KueueOperator, KueueOperatorArgs
from components.mpi_job import MpiJob, V2Beta1
from components.mpi_scc import MpiScc, MpiSccArgs
from components.nmstate import NmState, NmStateArgs
from components.priority_class import PriorityClass, PriorityClassArgs
from components.rail_names import RailNames, RailNamesArgs
from components.scale_csi import GuiAccount, ScaleCluster, ScaleCsi, ScaleCsiArgs
from components.storage_class import StorageClass, StorageClassArgs
from components.tenant import ContainerResources, IdRange, Tenant, TenantArgs
from components.workload_images import Sources, multi_node
from hardware.placement import Share
from hardware.profiles import DGX_A100
from hardware.topology import rails
from tests.components.test_gpu_job import arguments as maskrcnn
from tests.components.test_mpi_job_v2beta1 import arguments as job_of_today
from tests.support.declared import declared

_CLUSTER = ScaleCluster(id="16217308676014575381", gui_host="192.168.1.30", secret="csisecret-local")
_NVAIE = "nvcr.io/nvaie/tensorflow:21.07-tf1-py3"
_COMMIT = "0123456789abcdef0123456789abcdef01234567"
_ACCOUNT = GuiAccount(username="csi", password="x")

BUILDS: Mapping[str, Callable[[], object]] = {
    "scale-csi-3": lambda: ScaleCsi(
        "scale-csi",
        ScaleCsiArgs(
            generation="3",
            namespace="ibm-spectrum-scale-csi",
            local_cluster=_CLUSTER.id,
            clusters=(_CLUSTER,),
            ca_certificate="-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----",
        ),
        pulumi.Output.secret({_CLUSTER.secret: _ACCOUNT}),
    ),
    "storage-class": lambda: StorageClass(
        "scale", StorageClassArgs(class_name="scale", file_system="ess3000_4M", cluster_id=_CLUSTER.id)
    ),
    "mpi-scc-restricted-v2": lambda: MpiScc("mpi-scc", MpiSccArgs(base="restricted-v2")),
    "tenant-with-everything": lambda: Tenant(
        "adas",
        TenantArgs(
            namespace="adas",
            uid_range=IdRange(start=1075480000),
            mcs="s0:c27,c24",
            gpu_quota=16,
            scc_name="scc-for-mpi",
            pod_security="privileged",
            container_resources=ContainerResources(cpu="500m", memory="512Mi"),
            isolated=True,
            reachable_from=("openshift-monitoring",),
            queued=True,
        ),
    ),
    "priority-class": lambda: PriorityClass(
        "training", PriorityClassArgs(class_name="training", value=1000, purpose="training jobs of all tenants")
    ),
    "kernel-arguments": lambda: KernelArguments("kernel-arguments", KernelArgumentsArgs(ignition_version="3.2.0")),
    "rail-names": lambda: RailNames(
        "rail-names", RailNamesArgs(ignition_version="3.2.0", link_layer="InfiniBand", rails=rails(DGX_A100))
    ),
    "kubelet-config": lambda: KubeletConfig("kubelet", for_machine(DGX_A100, memory_manager=True)),
    "bond": lambda: Bond("bond", BondArgs(node_selector={"node": "dgx-1"}, ports=("ens1", "ens2", "ens3", "ens4"))),
    "queues": lambda: Queues(
        "queues",
        QueuesArgs(
            flavor="dgx-a100",
            node_labels={"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB"},
            rdma=("rdma/rail0", "rdma/rail1"),
            tenants=(TenantQueue(namespace="adas", quota=quota_of(DGX_A100, 16, Share(cpus=4, memory_gib=8))),),
        ),
    ),
    "kueue-operator": lambda: KueueOperator("kueue", KueueOperatorArgs()),
    "nmstate": lambda: NmState("nmstate", NmStateArgs()),
    "claim": lambda: Claim(
        "a2d2", ClaimArgs(claim_name="a2d2", storage_class="lustre", capacity="10Ti", protect=True), "adas"
    ),
    "image-build": lambda: ImageBuild(
        "multi-node",
        ImageBuildArgs(
            namespace="adas",
            image_name="multi-node",
            tag="21.07-1",
            base=_NVAIE,
            source=Inline(
                containerfile=containerfile(
                    multi_node(_NVAIE, Ofed(version="5.2-2.2.4.0"), Sources(nccl_tests=_COMMIT, perftest=_COMMIT))
                )
            ),
            pull_secret="ngc",
        ),
    ),
    "gpu-monitoring": lambda: GpuMonitoring(
        "gpus",
        GpuMonitoringArgs(
            namespace="nvidia-gpu-operator", limits=Limits(gpus_per_node=8, infiniband_devices=("mlx5_0", "mlx5_1"))
        ),
    ),
    "alert-receivers": lambda: AlertReceivers(
        "alerts",
        AlertReceiversArgs(
            namespace="adas", receivers=(Slack(channel="#adas", url=SecretKey(name="alerting", key="slack")),)
        ),
    ),
    "gpu-job": lambda: GpuJob("job", maskrcnn(queue="jobs", pull_secrets=("registries",)), lambda *_: ""),
    "mpi-job-v2beta1-over-roce": lambda: MpiJob(
        "job",
        job_of_today(
            gdr_level="PXB",
            ib_hca="=mlx5_0,mlx5_1",
            rdma_resources=("rdma/shared_rail0", "rdma/shared_rail1"),
            networks=("adas-rail0", "adas-rail1"),
            environment={"NCCL_IB_GID_INDEX": "3"},
            v2beta1=V2Beta1(queue="jobs"),
        ),
        lambda *_: "",
    ),
    "gpu-device-plugin": lambda: GpuDevicePlugin(
        "gpu-plugin", GpuDevicePluginArgs(image="nvcr.io/nvidia/k8s-device-plugin:1.11")
    ),
}


@pytest.mark.parametrize("name", BUILDS)
def test_manifests_are_as_reviewed(name: str, snapshot: SnapshotAssertion) -> None:
    """Prevents a change of any object from going unseen: the snapshot's difference is what a reviewer reads."""
    found: list[dict[str, Any]] = declared(BUILDS[name])
    assert found == snapshot
