"""What a cluster says of itself, as far as the settings of a stack depend on it: records, made of API objects."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from components.base.scheduling import Taint
from core.apis import devices
from core.apis.names import GPU_PRODUCT, GPU_RESOURCE, NODE_ROLE, SCC_MCS, SCC_UID_RANGE
from core.apis.quantity import amount
from core.simulated import SIMULATED_BY
from policies.manifests.values import read
from toolkit.cli.init.operator_facts import Controller, Package, Subscription
from toolkit.cli.shared import metadata

Object = Mapping[str, Any]

COUNT = "nvidia.com/gpu.count"
"""Labels by which GPU feature discovery names and counts a node's GPUs."""
_GIB = 1 << 30
_MASTERS = ("master", "control-plane")
_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
_UID_RANGE = re.compile(r"(\d{1,10})/(\d{1,10})")


@dataclass(frozen=True)
class Connection:
    """How commands and settings reach the cluster."""

    kubeconfig: str
    context: str


@dataclass(frozen=True)
class Node:
    """One node."""

    name: str
    roles: tuple[str, ...]
    cpus: int
    memory_gib: float
    architecture: str
    """As Kubernetes names it, e.g. amd64."""
    gpus: int
    """That it offers to pods."""
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    """That a site has given it."""


@dataclass(frozen=True)
class StorageClass:
    """A class of storage."""

    name: str
    default: bool


@dataclass(frozen=True)
class Namespace:
    """The ids that OpenShift has given a namespace, and its share of the GPUs."""

    uid_range: tuple[int, int] | None
    """First id and size; None: not given yet."""
    mcs: str | None
    """SELinux level; None: not given yet."""
    quota: tuple[str, int] | None = None
    """Name of its ResourceQuota of GPUs, and how many; None: none, or several."""


@dataclass(frozen=True)
class GpuPolicy:
    """What the GPU Operator's ClusterPolicy has of the settings; None: it leaves it to the operator."""

    name: str
    mig: str | None
    driver: bool
    """Whether the operator brings the driver."""
    driver_version: str | None
    gds: bool
    gdrcopy: bool
    metrics: str
    """ConfigMap with the exporter's metrics; empty: the exporter's own list."""


@dataclass(frozen=True)
class Cluster:
    """A cluster, as it was when it was asked."""

    version: str
    """Of OpenShift, e.g. 4.20.3."""
    uid: str
    nodes: tuple[Node, ...]
    simulated: bool = False
    packages: Mapping[str, Package] = field(default_factory=dict)
    subscriptions: tuple[Subscription, ...] = ()
    operator_groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Namespace -> names of its OperatorGroups."""
    without_subscription: tuple[str, ...] = ()
    """NAMESPACE/NAME of versions of operators that no subscription has installed."""
    controllers: tuple[Controller, ...] = ()
    """Of operators that OLM did not install."""
    storage_classes: tuple[StorageClass, ...] = ()
    sccs: tuple[str, ...] = ()
    pools: tuple[str, ...] = ()
    """Names of its MachineConfigPools."""
    hosted: bool = False
    """Whether its control plane runs elsewhere (HyperShift)."""
    mtu: int | None = None
    """Of the pod network, bytes."""
    namespaces: Mapping[str, Namespace] = field(default_factory=dict)
    gpu_policy: GpuPolicy | None = None
    """None: no ClusterPolicy, or several."""
    gpu_cluster: bool = False
    """Whether the GPU Operator serves a GPUCluster: pods get GPUs by claims."""
    node_features: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Namespace -> names of its NodeFeatureDiscoveries."""
    mpi_operators: tuple[str, ...] = ()
    """NAMESPACE/NAME of Deployments that act on MPIJobs."""
    unready: tuple[str, ...] = ()
    """Sentences about operators' objects that are not ready."""
    unread: tuple[str, ...] = ()
    """What the user may not read, or the server does not answer, each with the reason."""

    @property
    def release(self) -> str:
        """Release of OpenShift: major and minor version."""
        return ".".join(self.version.split(".")[:2])


def node(obj: Object, by_claims: Sequence[devices.Attributes] = ()) -> Node:
    """Return what is known of a node; `by_claims` are the GPUs that its ResourceSlices have, which no label names."""
    gpus = [device for device in by_claims if device.get("type") == "gpu"]
    product = str(gpus[0].get("productName", "")).replace(" ", "-") if gpus else ""
    labels = {**({GPU_PRODUCT: product, COUNT: str(len(gpus))} if product else {}), **metadata.labels(obj)}
    roles = {key.removeprefix(NODE_ROLE) for key in labels if key.startswith(NODE_ROLE)}
    masters = ("master",) if roles & {*_MASTERS} else ()
    return Node(
        name=metadata.name(obj),
        roles=(*masters, "worker") if "worker" in roles or not masters else masters,
        cpus=int(_amount(obj, "cpu")),
        memory_gib=_amount(obj, "memory") / _GIB,
        architecture=str(read(obj, "status", "nodeInfo", "architecture") or labels.get("kubernetes.io/arch", "")),
        gpus=int(_amount(obj, GPU_RESOURCE)) + len(gpus),
        labels=labels,
        taints=tuple(metadata.repelling(obj)),
    )


def simulated(nodes: Iterable[Object]) -> bool:
    """Whether nodes say that they are simulated."""
    return any(SIMULATED_BY in metadata.annotations(obj) for obj in nodes)


def storage_class(obj: Object) -> StorageClass:
    """Return what is known of a class of storage."""
    default = metadata.annotations(obj).get(_DEFAULT_CLASS) == "true"
    return StorageClass(metadata.name(obj), default)


def namespace(obj: Object, quotas: Iterable[Object] = ()) -> Namespace:
    """Return what is known of a namespace; `quotas` are those of all namespaces."""
    gpus = [
        (metadata.name(quota), int(amount(share) or 0))
        for quota in quotas
        if metadata.namespace(quota) == metadata.name(obj)
        for share in [read(quota, "spec", "hard", f"requests.{GPU_RESOURCE}")]
        if share is not None
    ]
    own = metadata.annotations(obj)
    match = _UID_RANGE.fullmatch(own.get(SCC_UID_RANGE, ""))
    return Namespace(
        (int(match[1]), int(match[2])) if match else None, own.get(SCC_MCS) or None, gpus[0] if len(gpus) == 1 else None
    )


def gpu_policy(policies: Iterable[Object]) -> GpuPolicy | None:
    """Return what is known of the one ClusterPolicy."""
    first: Object
    others: list[Object]
    first, *others = [*policies, {}]
    if not first or others != [{}]:
        return None
    driver = read(first, "spec", "driver", "enabled") is not False
    strategy, version = read(first, "spec", "mig", "strategy"), read(first, "spec", "driver", "version")
    return GpuPolicy(
        name=metadata.name(first),
        mig=str(strategy) if strategy else None,
        driver=driver,
        driver_version=str(version) if version else None,
        gds=read(first, "spec", "gds", "enabled") is True,
        gdrcopy=read(first, "spec", "gdrcopy", "enabled") is True,
        metrics=str(read(first, "spec", "dcgmExporter", "config", "name") or ""),
    )


def _amount(obj: Object, resource: str) -> float:
    return float(amount(read(obj, "status", "capacity", resource)) or 0)
