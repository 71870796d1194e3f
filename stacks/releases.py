"""Which API generations and versions an OpenShift release means: the one place that knows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from apis import kinds
from apis.kinds import Kind
from components.image_build import REGISTRY
from components.machine_config import Ignition
from components.mpi_scc import Base
from components.scale_csi import Generation

ReleaseName = Literal["3.11", "4.4", "4.20"]


@dataclass(frozen=True)
class Release:
    """One OpenShift release, as far as the platform depends on it. None: the release has no such thing."""

    name: ReleaseName
    kubernetes: str
    """Minor version of the release's Kubernetes, which decides what the API server serves."""
    simulated_as: Literal["4.4", "current"] | None
    """Whose security constraints a simulated cluster of it has; None: it is rendered and checked, but runs nowhere."""
    scc_base: Base
    runtime_hook: bool
    """Whether pods tell the container runtime's hook what they need of the driver (B-5.3)."""
    pod_security: bool
    """Whether namespaces say what of the pod security standards holds."""
    registry: str
    """The cluster's own registry, as pods name it."""
    ignition_version: Ignition | None = None
    node_feature_discovery: Kind | None = None
    node_feature_discovery_instance: str = ""
    special_resource: Kind | None = None
    mpi_job: Kind | None = None
    scale_csi: Generation | None = None
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Path of a setting that chooses a variant -> what this release can be given there."""
    lacks: Mapping[str, str] = field(default_factory=dict)
    """Path of a setting that this release does not know -> what it would need."""
    needs: Mapping[str, str] = field(default_factory=dict)
    """Path of a setting that this release cannot be without, where what it is part of is there -> what for."""


_QUEUES = "Kueue"
_MACHINE_CONFIGS = "machine configuration by operators"
_NAMESPACE_NAMES = "namespaces that carry their name as a label (Kubernetes 1.21)"
_LOCAL_CLUSTER = "version 3 of the Scale CSI driver"

RELEASES: dict[ReleaseName, Release] = {
    "3.11": Release(
        name="3.11",
        kubernetes="1.11",
        simulated_as=None,
        scc_base="restricted",
        runtime_hook=True,
        pod_security=False,
        registry="docker-registry.default.svc:5000",
        choices={"gpu.enablement": ("device-plugin",), "fabric.kind": ("ethernet",)},
        lacks={
            "fabric.bond": "nmstate",
            "mpi_operator": "an MPI operator that is built here (v1alpha2 wants Kubernetes 1.16)",
            "node_feature_discovery": "OperatorHub",
            "queues": _QUEUES,
            "priority_classes": "scheduling.k8s.io/v1 (Kubernetes 1.14)",
            "storage": "OperatorHub",
            "tuning": _MACHINE_CONFIGS,
            "tenants.*.reachable_from": _NAMESPACE_NAMES,
            "tenants.*.data.long_handle": _LOCAL_CLUSTER,
        },
    ),
    "4.4": Release(
        name="4.4",
        kubernetes="1.17",
        simulated_as="4.4",
        scc_base="restricted",
        runtime_hook=False,
        pod_security=False,
        registry=REGISTRY,
        ignition_version="2.2.0",
        node_feature_discovery=kinds.NODE_FEATURE_DISCOVERY_V1ALPHA1,
        node_feature_discovery_instance="nfd-master-server",
        special_resource=kinds.SPECIAL_RESOURCE_V1ALPHA1,
        mpi_job=kinds.MPI_JOB_V1ALPHA2,
        scale_csi="2.0",
        choices={
            "gpu.enablement": ("special-resource-operator", "device-plugin"),
            "fabric.kind": ("infiniband", "ethernet"),
            "fabric.plugin.kind": ("daemon-set",),
            "storage.classes.*.volumes.kind": ("independent-fileset", "dependent-fileset", "directory"),
        },
        lacks={
            "fabric.bond": "nmstate",
            "queues": _QUEUES,
            "storage.classes.*.expandable": "a resizer in version 2.0 of the Scale CSI driver",
            "storage.local_cluster": _LOCAL_CLUSTER,
            "tuning": "a Topology Manager that is no preview",
            "tenants.*.reachable_from": _NAMESPACE_NAMES,
            "tenants.*.data.long_handle": _LOCAL_CLUSTER,
        },
        needs={
            "mpi_operator.kubectl_delivery_image": "launchers reach their workers with kubectl",
            "storage.host_path": "version 2.0 of the Scale CSI driver mounts it",
        },
    ),
    "4.20": Release(
        name="4.20",
        kubernetes="1.33",
        simulated_as="current",
        scc_base="restricted-v2",
        runtime_hook=False,
        pod_security=True,
        registry=REGISTRY,
        ignition_version="3.2.0",
        node_feature_discovery=kinds.NODE_FEATURE_DISCOVERY_V1,
        node_feature_discovery_instance="nfd-instance",
        mpi_job=kinds.MPI_JOB_V2BETA1,
        scale_csi="3",
        choices={"gpu.enablement": ("gpu-operator", "device-plugin")},
        lacks={
            "mpi_operator.kubectl_delivery_image": "launchers that use kubectl; today's use SSH",
            "storage.host_path": "version 2.0 of the Scale CSI driver",
        },
        needs={"storage.local_cluster": "version 3 of the Scale CSI driver asks which cluster the nodes are part of"},
    ),
}
