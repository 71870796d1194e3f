"""Whole manifests of what the golden stacks (tests/stacks/golden) do not declare; named assertions are elsewhere."""

from collections.abc import Callable, Mapping

import pytest

from components.base.scheduling import GPU_TAINT
from components.fabric.bond import Bond, BondArgs
from components.fabric.network_operator import (
    DocaDriver,
    NetworkOperator,
    NicNodePolicy,
    NicNodePolicyArgs,
    SharedDevicePlugin,
)
from components.fabric.nmstate import NmState, NmStateArgs
from components.fabric.port_network import PortNetwork, PortNetworkArgs
from components.fabric.ports import Ports, PortsArgs
from components.gpu.compute_domain_driver import ComputeDomainDriverArgs, ComputeDomains
from components.gpu.dcgm_exporter import DcgmExporter, DcgmExporterArgs
from components.gpu.gpu_cluster import GpuCluster, GpuClusterArgs
from components.gpu.gpu_device_plugin import GpuDevicePlugin, GpuDevicePluginArgs
from components.gpu.gpu_operator import GpuDriver, GpuKind
from components.gpu.nvidia_driver import NvidiaDriver, NvidiaDriverArgs
from components.jobs.containerfiles import Ofed, containerfile
from components.jobs.gpu_job import GpuJob
from components.jobs.image_build import ImageBuild, ImageBuildArgs, Inline
from components.jobs.performance_suite import PerformanceSuite
from components.jobs.sliced_jobs import IndexedJob, StagedData, StagedDataArgs
from components.jobs.torch_job import TorchJob
from components.jobs.train_job import TrainingRuntime, TrainingRuntimeArgs, TrainJob
from components.jobs.workload_images import Sources, multi_node
from components.nodes.kubelet_config import KubeletConfig, for_machine
from components.nodes.node_health import NodeHealthCheck, NodeHealthCheckArgs
from components.operators.trainer import Trainer, TrainerArgs
from components.storage.data_set_lock import DataSetLock, DataSetLockArgs
from components.tenants.gpu_claims import GpuClaims, GpuClaimsArgs
from components.tenants.own_objects import Manifest, OwnObjects, OwnObjectsArgs
from tests.components.kit import (
    ADDRESSES,
    DRIVER,
    HOST_DEVICE,
    MACVLAN,
    PLUGIN,
    WHOLE,
    devices,
    gpu_job,
    indexed_job,
    network_operator,
    performance_suite,
    sliced_job,
    torch_job,
    train_job,
)
from tests.support.golden import STACKS, Golden, files
from tests.support.machines import A100_SXM4_40GB, DGX_A100
from tests.support.recorded import ROOT, component, environment, every_operator
from tests.toolkit.datasets.kit import a_choice, image, row, selected
from toolkit.render.manifests import manifests
from toolkit.render.reference.components import subjects

FOLDER = ROOT / "tests" / "components" / "golden"
_NVAIE = "nvcr.io/nvaie/tensorflow:21.07-tf1-py3"
_COMMIT = "0123456789abcdef0123456789abcdef01234567"


def _network(attachment: Mapping[str, str]) -> PortNetwork:
    data = {"network": "rail0", "namespace": "adas", "addresses": ADDRESSES, "attachment": attachment}
    return PortNetwork("rail0", PortNetworkArgs.model_validate(data))


BUILDS: Mapping[str, Callable[[], object]] = {
    "bond": lambda: Bond("bond", BondArgs(node_selector={"node": "dgx-1"}, ports=("ens1", "ens2", "ens3", "ens4"))),
    "data-set-lock": lambda: DataSetLock(
        "adas.night-bikes-lock",
        DataSetLockArgs(namespace="adas", lock=selected(a_choice(), [row(image(1), {"bicycle": 2})]).lock),
        "adas",
    ),
    "dcgm-exporter": lambda: DcgmExporter(
        "gpu-exporter",
        DcgmExporterArgs(
            image="nvidia/dcgm-exporter:1.7.2-2.0.0-rc.9-ubuntu18.04",
            node_selector={"feature.node.kubernetes.io/pci-10de.present": "true"},
            selinux_type="spc_t",
            pod_resources=True,
            service_monitor=True,
        ),
    ),
    "gpu-device-plugin": lambda: GpuDevicePlugin(
        "gpu-plugin", GpuDevicePluginArgs(image="nvcr.io/nvidia/k8s-device-plugin:1.11")
    ),
    "gpu-job": lambda: GpuJob("job", gpu_job(queue="jobs", pull_secrets=("registries",)), lambda *_: ""),
    "indexed-job": lambda: IndexedJob("job", indexed_job(queue="jobs"), lambda *_: ""),
    "staged-data": lambda: StagedData("job", StagedDataArgs.model_validate(sliced_job(indexed=False)), lambda *_: ""),
    "torch-job": lambda: TorchJob("job", torch_job(queue="jobs", networks=("rail0",)), lambda *_: ""),
    "train-job": lambda: TrainJob("job", train_job(queue="jobs", networks=("rail0",)), lambda *_: ""),
    "trainer": lambda: Trainer(
        "trainer", TrainerArgs(image="ghcr.io/kubeflow/trainer/trainer-controller-manager:v2.2.1")
    ),
    "training-runtime": lambda: TrainingRuntime("runtime", TrainingRuntimeArgs()),
    "image-build": lambda: ImageBuild(
        "multi-node",
        ImageBuildArgs(
            namespace="adas",
            image_name="multi-node",
            tag="21.07-1",
            base=_NVAIE,
            source=Inline(
                containerfile=containerfile(
                    multi_node(
                        _NVAIE,
                        Ofed(version="5.2-2.2.4.0", sha256="ab" * 32),
                        Sources(nccl_tests=_COMMIT, perftest=_COMMIT),
                    )
                )
            ),
            pull_secret="ngc",
        ),
    ),
    "kubelet-config": lambda: KubeletConfig("kubelet", for_machine(DGX_A100, memory_manager=True)),
    "network-operator-roce": lambda: NetworkOperator(
        "rdma", network_operator(link_layer="Ethernet", host_devices=WHOLE)
    ),
    "nic-node-policy": lambda: NicNodePolicy(
        "rdma",
        NicNodePolicyArgs(
            policy_name="former",
            node_selector={"hpc.pulumi/pool": "former"},
            link_layer="InfiniBand",
            devices=devices(DGX_A100),
            shared=SharedDevicePlugin.model_validate(PLUGIN),
            driver=DocaDriver.model_validate(DRIVER),
        ),
    ),
    "node-health-check": lambda: NodeHealthCheck(
        "node-health",
        NodeHealthCheckArgs(
            node_labels={"hpc.pulumi/gpu-node": "true"},
            min_healthy="90%",
            remediation_namespace="openshift-workload-availability",
            tolerations=(GPU_TAINT,),
        ),
    ),
    "nvidia-driver": lambda: NvidiaDriver(
        "driver",
        NvidiaDriverArgs(
            driver_name="former",
            node_selector={"hpc.pulumi/pool": "former"},
            driver=GpuDriver(version="580.173.02"),
            gpus=GpuKind(gpu=A100_SXM4_40GB),
        ),
    ),
    "compute-domains": lambda: ComputeDomains(
        "compute-domains", ComputeDomainDriverArgs(node_selector={"hpc.pulumi/gpu-node": "true"})
    ),
    "gpu-claims": lambda: GpuClaims("adas-gpu-claims", GpuClaimsArgs(namespace="adas", most=2)),
    "gpu-cluster": lambda: GpuCluster("gpus", GpuClusterArgs(gpus=(GpuKind(gpu=A100_SXM4_40GB),))),
    "nmstate": lambda: NmState("nmstate", NmStateArgs()),
    "own-objects": lambda: OwnObjects(
        "own",
        OwnObjectsArgs(
            manifests=(
                Manifest(
                    fields={
                        "apiVersion": "v1",
                        "kind": "ConfigMap",
                        "data": {"a": "1"},
                        "metadata": {"name": "settings", "namespace": "adas"},
                    }
                ),
            )
        ),
    ),
    # One job is enough: the others' pods are those of their own components.
    "performance-suite": lambda: PerformanceSuite("suite", performance_suite(runs=performance_suite().runs[:1])),
    "port-network-host-device": lambda: _network(HOST_DEVICE),
    "port-network-macvlan": lambda: _network(MACVLAN),
    "ports": lambda: Ports("ports", PortsArgs(node_selector={"node": "dgx-1"}, ports=("rail0", "rail1"), mtu=9216)),
}


@pytest.mark.parametrize("name", BUILDS)
def test_manifests_are_as_reviewed(name: str, golden: Golden) -> None:
    """A change of any object shows up as a difference that a reviewer reads."""
    golden(files(manifests(component(BUILDS[name]))), FOLDER / name)


def test_no_folder_is_left_over() -> None:
    """Every entry of BUILDS has its golden folder, and a folder that nothing is compared with is removed."""
    folders = {folder.name for folder in FOLDER.iterdir()}
    new, left = sorted(BUILDS.keys() - folders), sorted(folders - BUILDS.keys())
    assert not new, f"{', '.join(new)}: no folder in tests/components/golden/; run `make golden` and review its diff"
    assert not left, f"{', '.join(left)}: not in BUILDS; remove the folder from tests/components/golden/"


def test_every_component_is_among_them() -> None:
    """Every component is declared by a golden stack, here, or among `operators` (test_operators.py)."""
    recorded = [*map(environment, STACKS), *map(component, BUILDS.values()), every_operator()]
    made = {item.type.rpartition(":")[2] for items in recorded for item in items if item.type.startswith("hpc:")}
    missing = sorted(subject.name for subject in subjects() if subject.name not in made)
    assert not missing, (
        f"{', '.join(missing)}: no golden manifests; add an entry to BUILDS in tests/components/test_golden.py, and "
        "run `make golden`"
    )
