"""What the platform's components declare, whole, in each generation; the others are in test_golden."""

import inspect
import pkgutil
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import pulumi
import pytest
from syrupy.assertion import SnapshotAssertion

import components
from apis import kinds
from components.component import Component
from components.gpu_operator import GpuOperator
from components.memlock import Memlock, MemlockArgs
from components.mpi_job import MpiJob
from components.mpi_operator import MpiOperator, MpiOperatorArgs
from components.mpi_scc import MpiScc, MpiSccArgs
from components.network_operator import NetworkOperator
from components.node_feature_discovery import NodeFeatureDiscovery, NodeFeatureDiscoveryArgs
from components.node_labels import NodeLabels, NodeLabelsArgs
from components.node_pool import NodePool, NodePoolArgs
from components.olm_operator import OlmOperator, OlmOperatorArgs
from components.pool_rollout import PoolRollout, PoolRolloutArgs
from components.port_network import PortNetwork, PortNetworkArgs
from components.ports import Ports, PortsArgs
from components.pull_secret import PullSecret, PullSecretArgs
from components.rdma_device_plugin import RdmaDevicePlugin, RdmaDevicePluginArgs
from components.rdma_test import RdmaTest, RdmaTestArgs
from components.scale_csi import GuiAccount, ScaleCluster, ScaleCsi, ScaleCsiArgs
from components.special_resource import SpecialResource, SpecialResourceArgs
from components.static_volume import StaticVolume, StaticVolumeArgs, VolumeHandle
from hardware.gpus import A100_SXM4_40GB, V100_SXM2_32GB
from rendering.recorder import Registration
from tests.components import test_gpu_operator, test_mpi_job, test_network_operator, test_port_network
from tests.components.test_golden import BUILDS as OTHERS
from tests.components.test_pull_secret import ACCOUNTS
from tests.components.test_rdma_device_plugin import IMAGE, devices
from tests.support.declared import declared
from tests.support.recorded import component

_CLUSTER = ScaleCluster.model_validate(
    {
        "id": "16217308676014575381",
        "gui_host": "192.168.1.30",
        "secret": "csisecret-local",
        "primary": {"file_system": "fs0", "fileset": "csifset"},
    }
)
_DATA = VolumeHandle(cluster_id=_CLUSTER.id, file_system_uid="099B6A7A:5EB99743", path="/gpfs/ess3000_4M/adas")


def _no_log(*_: str) -> str:
    return ""


def _features(generation: kinds.Kind, instance: str) -> NodeFeatureDiscovery:
    args = NodeFeatureDiscoveryArgs(kind=generation, namespace="openshift-nfd", instance=instance)
    return NodeFeatureDiscovery("node-features", args)


def _network(**changes: Any) -> PortNetwork:
    usual = {"network": "rail0", "namespace": "adas", "addresses": test_port_network.ADDRESSES}
    return PortNetwork("rail0", PortNetworkArgs.model_validate(usual | changes))


BUILDS: Mapping[str, Callable[[], object]] = {
    "memlock": lambda: Memlock("memlock", MemlockArgs(ignition_version="2.2.0")),
    "node-labels": lambda: NodeLabels("labels", NodeLabelsArgs(labels={"dgx-1": {"scale": "true"}})),
    "node-pool": lambda: NodePool("pool", NodePoolArgs(pool="gpu")),
    "pool-rollout": lambda: PoolRollout("nodes", PoolRolloutArgs(pool="gpu", parts={"50-gpu-rail-names": "0a1b"})),
    "ports": lambda: Ports("ports", PortsArgs(node_selector={"node": "dgx-1"}, ports=("rail0", "rail1"), mtu=9216)),
    "olm-operator": lambda: OlmOperator(
        "nfd", OlmOperatorArgs(namespace="openshift-nfd", package="nfd", channel="stable", cluster_monitoring=True)
    ),
    "node-features-v1alpha1": lambda: _features(kinds.NODE_FEATURE_DISCOVERY_V1ALPHA1, "nfd-master-server"),
    "node-features-v1": lambda: _features(kinds.NODE_FEATURE_DISCOVERY_V1, "nfd-instance"),
    "special-resource": lambda: SpecialResource(
        "gpus", SpecialResourceArgs(kind=kinds.SPECIAL_RESOURCE_V1ALPHA1, namespace="openshift-sro")
    ),
    "gpu-operator-v100": lambda: GpuOperator(
        "gpus",
        test_gpu_operator.arguments(
            V100_SXM2_32GB, "580.95.05", gpudirect=test_gpu_operator.PEERMEM | {"host_ofed": True}, gdrcopy=True
        ),
    ),
    "gpu-operator-a100": lambda: GpuOperator(
        "gpus",
        test_gpu_operator.arguments(A100_SXM4_40GB, "595.91.07", gpudirect=test_gpu_operator.DMA_BUF, mig="mixed"),
    ),
    "rdma-device-plugin": lambda: RdmaDevicePlugin("rdma", RdmaDevicePluginArgs(devices=devices(2), image=IMAGE)),
    "network-operator-infiniband": lambda: NetworkOperator("rdma", test_network_operator.arguments()),
    "network-operator-roce": lambda: NetworkOperator(
        "rdma", test_network_operator.arguments(link_layer="Ethernet", host_devices=test_network_operator.WHOLE)
    ),
    "port-network-macvlan": lambda: _network(attachment=test_port_network.MACVLAN),
    "port-network-host-device": lambda: _network(attachment=test_port_network.HOST_DEVICE),
    "mpi-operator-v1alpha2": lambda: MpiOperator(
        "mpi-operator",
        MpiOperatorArgs(
            kind=kinds.MPI_JOB_V1ALPHA2,
            image="mpioperator/mpi-operator:v0.2.3",
            kubectl_delivery_image="mpioperator/kubectl-delivery:v0.2.3",
        ),
    ),
    "mpi-operator-v2beta1": lambda: MpiOperator(
        "mpi-operator", MpiOperatorArgs(kind=kinds.MPI_JOB_V2BETA1, image="mpioperator/mpi-operator:0.8.0")
    ),
    "mpi-scc-restricted": lambda: MpiScc("mpi-scc", MpiSccArgs(base="restricted")),
    "mpi-job-v1alpha2": lambda: MpiJob("job", test_mpi_job.arguments(), _no_log),
    "rdma-test": lambda: RdmaTest(
        "test",
        RdmaTestArgs.model_validate(
            {
                "namespace": "adas",
                "job_name": "mofed-test-job",
                "image": "mellanox/centos_7_4_mofed_4_2_1_2_0_0_60:latest",
                "client_node": "dgx-1",
                "server_node": "dgx-2",
                "rdma_resources": ("rdma/shared_ib0",),
                "hcas": ("mlx5_0",),
                "hca": "mlx5_0",
                "account": "mpi",
                "seccomp": True,
            }
        ),
        _no_log,
    ),
    "scale-csi-2": lambda: ScaleCsi(
        "scale-csi",
        ScaleCsiArgs(
            generation="2.0",
            namespace="ibm-spectrum-scale-csi-driver",
            host_path="/gpfs/fs0",
            clusters=(_CLUSTER,),
            ca_certificate="-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----",
        ),
        pulumi.Output.secret({_CLUSTER.secret: GuiAccount(username="csi", password="x")}),
    ),
    "static-volume": lambda: StaticVolume(
        "adas-data",
        StaticVolumeArgs(
            volume_name="adas-data-pv01", claim_name="adas-data-pvc", handle=_DATA, capacity="100Gi", protect=True
        ),
        "adas",
    ),
    "pull-secret": lambda: PullSecret(
        "pull", PullSecretArgs(namespace="adas", secret_name="pull"), pulumi.Output.secret(dict(ACCOUNTS))
    ),
}


@pytest.mark.parametrize("name", BUILDS)
def test_manifests_are_as_reviewed(name: str, snapshot: SnapshotAssertion) -> None:
    """Prevents a change of any object from going unseen: the snapshot's difference is what a reviewer reads."""
    found: list[dict[str, Any]] = declared(BUILDS[name])
    assert found == snapshot


def test_every_component_is_among_them() -> None:
    """Prevents a component whose objects nobody has read."""
    made: set[str] = set()
    for build in (*BUILDS.values(), *OTHERS.values()):
        recorded: tuple[Registration, ...] = component(build)
        made |= {item.type.rpartition(":")[2] for item in recorded if item.type.startswith("hpc:")}
    modules = [import_module(f"components.{module.name}") for module in pkgutil.iter_modules(components.__path__)]
    known = {
        name
        for module in modules
        for name, each in inspect.getmembers(module, inspect.isclass)
        if issubclass(each, Component) and each.__module__ == module.__name__ and each is not Component
    }
    assert known - made == set()
