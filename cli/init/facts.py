"""What a cluster says of itself, as far as the settings of a stack depend on it: records, made of API objects."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from apis.names import GPU_RESOURCE, NODE_ROLE, SCC_MCS, SCC_UID_RANGE
from apis.operators import operators
from apis.quantity import amount
from cli.shared import metadata, owners, unmanaged_operators
from policies.values import read
from simulator.names import SIMULATED_BY

Object = Mapping[str, Any]

_GIB = 1 << 30
_MASTERS = ("master", "control-plane")
_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
_MPI_OPERATORS = ("mpi-operator", "training-operator")
"""Images of controllers of MPIJobs."""
_UID_RANGE = re.compile(r"(\d{1,10})/(\d{1,10})")
ALL_NAMESPACES, OWN_NAMESPACE = "AllNamespaces", "OwnNamespace"


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


@dataclass(frozen=True)
class Package:
    """An operator that OperatorHub offers."""

    name: str
    source: str
    source_namespace: str
    default_channel: str
    channels: Mapping[str, frozenset[str]]
    """Name -> what its head can watch: OwnNamespace, AllNamespaces and so on; empty: unknown."""


@dataclass(frozen=True)
class Subscription:
    """An operator with a Subscription."""

    package: str
    name: str
    namespace: str
    channel: str
    source: str
    source_namespace: str
    approval: str
    watches: tuple[str, ...] | None = None
    """Namespaces by its OperatorGroup, empty: all; None: it has not exactly one."""
    group: str = ""
    """Name of its OperatorGroup; empty: it has not exactly one."""
    tool: str = ""
    """What manages it, e.g. Argo CD application gpus; empty: no mark of a tool."""
    trouble: str = ""
    """Why it is not installed; empty: it is."""


@dataclass(frozen=True)
class Controller:
    """The Deployment of an operator that OLM did not install."""

    package: str
    """Of the same operator in the catalogue."""
    namespace: str
    name: str
    version: str
    """Major and minor version by its image; empty: unknown."""
    tool: str
    """What manages it; empty: no mark of a tool."""


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

    mig: str | None
    driver: bool
    """Whether the operator brings the driver."""
    driver_version: str | None
    gds: bool
    gdrcopy: bool


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
    without_subscription: tuple[str, ...] = ()
    """NAMESPACE/NAME of versions of operators that no subscription has installed."""
    controllers: tuple[Controller, ...] = ()
    """Of operators that OLM did not install."""
    storage_classes: tuple[StorageClass, ...] = ()
    sccs: tuple[str, ...] = ()
    hosted: bool = False
    """Whether its control plane runs elsewhere (HyperShift)."""
    mtu: int | None = None
    """Of the pod network, bytes."""
    namespaces: Mapping[str, Namespace] = field(default_factory=dict)
    gpu_policy: GpuPolicy | None = None
    """None: no ClusterPolicy, or several."""
    mpi_operators: tuple[str, ...] = ()
    """NAMESPACE/NAME of Deployments that act on MPIJobs."""
    unread: tuple[str, ...] = ()
    """What the user may not read, or the server does not answer, each with the reason."""

    @property
    def release(self) -> str:
        """Release of OpenShift: major and minor version."""
        return ".".join(self.version.split(".")[:2])


def node(obj: Object) -> Node:
    """Return what is known of a node."""
    labels = metadata.labels(obj)
    roles = {key.removeprefix(NODE_ROLE) for key in labels if key.startswith(NODE_ROLE)}
    masters = ("master",) if roles & {*_MASTERS} else ()
    return Node(
        name=metadata.name(obj),
        roles=(*masters, "worker") if "worker" in roles or not masters else masters,
        cpus=int(_amount(obj, "cpu")),
        memory_gib=_amount(obj, "memory") / _GIB,
        architecture=str(read(obj, "status", "nodeInfo", "architecture") or labels.get("kubernetes.io/arch", "")),
        gpus=int(_amount(obj, GPU_RESOURCE)),
        labels=labels,
    )


def simulated(nodes: Iterable[Object]) -> bool:
    """Whether nodes say that they are simulated."""
    return any(SIMULATED_BY in metadata.annotations(one) for one in nodes)


def package(obj: Object) -> Package:
    """Return what OperatorHub says of an operator."""
    channels = {
        str(channel.get("name")): frozenset(
            str(mode.get("type")) for mode in _maps(channel, "currentCSVDesc", "installModes") if mode.get("supported")
        )
        for channel in _maps(obj, "status", "channels")
    }
    return Package(
        name=str(read(obj, "status", "packageName") or metadata.name(obj)),
        source=str(read(obj, "status", "catalogSource") or ""),
        source_namespace=str(read(obj, "status", "catalogSourceNamespace") or metadata.namespace(obj)),
        default_channel=str(read(obj, "status", "defaultChannel") or next(iter(channels), "")),
        channels=channels,
    )


def subscriptions(
    found: Iterable[Object], versions: Iterable[Object], groups: Iterable[Object]
) -> Iterator[Subscription]:
    """Yield the subscriptions; `versions` are the ClusterServiceVersions, `groups` the OperatorGroups."""
    watched: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for group in groups:
        namespaces = read(group, "spec", "targetNamespaces")
        names = tuple(map(str, namespaces)) if isinstance(namespaces, list) else ()
        watched.setdefault(metadata.namespace(group), []).append((metadata.name(group), names))
    phases = {(metadata.namespace(one), metadata.name(one)): one for one in versions}
    for obj in found:
        installed = read(obj, "status", "installedCSV")
        version = phases.get((metadata.namespace(obj), str(installed)))
        own = watched.get(metadata.namespace(obj), [])
        name, targets = own[0] if len(own) == 1 else ("", None)
        yield Subscription(
            package=str(read(obj, "spec", "name") or ""),
            name=metadata.name(obj),
            namespace=metadata.namespace(obj),
            channel=str(read(obj, "spec", "channel") or ""),
            source=str(read(obj, "spec", "source") or ""),
            source_namespace=str(read(obj, "spec", "sourceNamespace") or ""),
            approval=str(read(obj, "spec", "installPlanApproval") or "Automatic"),
            watches=targets,
            group=name,
            tool=next(owners.tools(obj), ""),
            trouble=_trouble(obj, installed, version),
        )


def without_subscription(found: Iterable[Object], versions: Iterable[Object]) -> Iterator[str]:
    """Yield the versions of operators that are there without a subscription; copies of global ones are none."""
    installed = {(metadata.namespace(one), read(one, "status", "installedCSV")) for one in found}
    for one in versions:
        copied = "olm.copiedFrom" in metadata.labels(one)
        if not copied and (metadata.namespace(one), metadata.name(one)) not in installed:
            yield f"{metadata.namespace(one)}/{metadata.name(one)}"


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
    found = _UID_RANGE.fullmatch(own.get(SCC_UID_RANGE, ""))
    return Namespace(
        (int(found[1]), int(found[2])) if found else None, own.get(SCC_MCS) or None, gpus[0] if len(gpus) == 1 else None
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
        mig=str(strategy) if strategy else None,
        driver=driver,
        driver_version=str(version) if version else None,
        gds=read(first, "spec", "gds", "enabled") is True,
        gdrcopy=read(first, "spec", "gdrcopy", "enabled") is True,
    )


def mpi_operators(deployments: Iterable[Object]) -> Iterator[str]:
    """Yield the Deployments of controllers of MPIJobs."""
    for one in deployments:
        for container in _maps(one, "spec", "template", "spec", "containers"):
            if unmanaged_operators.image_name(str(container.get("image", ""))) in _MPI_OPERATORS:
                yield f"{metadata.namespace(one)}/{metadata.name(one)}"
                break


def controllers(deployments: Iterable[Object]) -> Iterator[Controller]:
    """Yield the operators' Deployments that OLM did not make."""
    packages = {image: operator.package for operator in operators().values() for image in operator.images}
    for one in deployments:
        if "olm.owner" in metadata.labels(one):
            continue
        for image in unmanaged_operators.images(one):
            if package := packages.get(unmanaged_operators.image_name(image)):
                version = unmanaged_operators.minor_version(image.rpartition(":")[2])
                tool = next(owners.tools(one), "")
                yield Controller(package, metadata.namespace(one), metadata.name(one), version, tool)
                break


def _trouble(subscription: Object, installed: Any, version: Object | None) -> str:
    conditions = _maps(subscription, "status", "conditions")
    truths = {one.get("type"): one for one in conditions if one.get("status") == "True"}
    if failed := truths.get("ResolutionFailed"):
        return str(failed.get("message") or "OLM cannot resolve it")
    if not installed:
        return f"it is {read(subscription, 'status', 'state') or 'not handled by OLM yet'}, and nothing is installed"
    phase = read(version, "status", "phase") if version else None
    if phase != "Succeeded":
        why = read(version, "status", "message") if version else None
        return f"its version {installed} is {phase or 'missing'}" + (f": {why}" if why else "")
    return ""


def _amount(obj: Object, resource: str) -> float:
    return float(amount(read(obj, "status", "capacity", resource)) or 0)


def _maps(tree: Object, *keys: str) -> list[Mapping[str, Any]]:
    """Return the objects in a list; nothing else is one of them."""
    found = read(tree, *keys)
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []
