"""Asks a cluster for what `toolkit.cli.init.facts` has: GETs alone."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from core.apis import devices, kinds
from core.apis.kinds import Kind
from core.apis.names import CLUSTER_VERSION, INFRASTRUCTURE, NETWORK_CONFIG
from policies.manifests.values import read as value
from toolkit.cli.init import facts, operator_facts
from toolkit.cli.shared import metadata
from toolkit.cli.shared.cluster_client import Cluster, RefusedError
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.preflight import installed_versions
from toolkit.cli.shared.preflight.update_checks import unready_operands

T = TypeVar("T")
_RIGHTS = (
    "Log in as a user who may read the cluster (role cluster-reader; `oc adm policy add-cluster-role-to-user "
    "cluster-reader USER`), and run it again."
)


def read(cluster: Cluster) -> facts.Cluster:
    """Return what a cluster says of itself.

    Raises Problem where it does not answer, is not OpenShift 4, or does not let the user read version and nodes. What
    else is refused is among the `unread`.
    """
    version = _version(cluster)
    nodes = _required(lambda: cluster.list(kinds.NODE), kinds.NODE)
    reader = _Reader(cluster)
    versions = reader.all(kinds.CLUSTER_SERVICE_VERSION)
    subscriptions, operator_groups = reader.all(kinds.SUBSCRIPTION), reader.all(kinds.OPERATOR_GROUP)
    namespaces = reader.all(kinds.NAMESPACE)
    quotas = reader.all(kinds.RESOURCE_QUOTA)
    network = reader.get(kinds.NETWORK_CONFIG, NETWORK_CONFIG)
    infrastructure = reader.get(kinds.INFRASTRUCTURE, INFRASTRUCTURE)
    mtu = value(network, "status", "clusterNetworkMTU")
    kube_system = next((namespace for namespace in namespaces if metadata.name(namespace) == "kube-system"), {})
    packages = map(operator_facts.package, reader.all(kinds.PACKAGE_MANIFEST))
    deployments = reader.all(kinds.DEPLOYMENT)
    published = devices.published(reader.all(kinds.RESOURCE_SLICE))
    unready = tuple(unready_operands(reader.all))
    return facts.Cluster(
        version=version,
        uid=metadata.uid(kube_system),
        nodes=tuple(
            sorted(
                (facts.node(node, published.get(metadata.name(node), ())) for node in nodes), key=lambda node: node.name
            )
        ),
        simulated=facts.simulated(nodes),
        packages={package.name: package for package in packages},
        subscriptions=tuple(operator_facts.subscriptions(subscriptions, versions, operator_groups)),
        operator_groups=operator_facts.by_namespace(operator_groups),
        without_subscription=tuple(operator_facts.without_subscription(subscriptions, versions)),
        controllers=tuple(operator_facts.controllers(deployments)),
        storage_classes=tuple(map(facts.storage_class, reader.all(kinds.STORAGE_CLASS))),
        sccs=tuple(map(metadata.name, reader.all(kinds.SECURITY_CONTEXT_CONSTRAINTS))),
        pools=tuple(map(metadata.name, reader.all(kinds.MACHINE_CONFIG_POOL))),
        hosted=value(infrastructure, "status", "controlPlaneTopology") == "External",
        mtu=mtu if isinstance(mtu, int) else None,
        namespaces={metadata.name(namespace): facts.namespace(namespace, quotas) for namespace in namespaces},
        gpu_policy=facts.gpu_policy(reader.all(kinds.CLUSTER_POLICY)),
        gpu_cluster=bool(reader.all(kinds.GPU_CLUSTER)),
        node_features=operator_facts.by_namespace(reader.all(kinds.NODE_FEATURE_DISCOVERY_V1)),
        mpi_operators=tuple(operator_facts.mpi_operators(deployments)),
        unready=unready,
        unread=tuple(dict.fromkeys(reader.refused)),
    )


class _Reader:
    """Asks for what init can do without, and notes what is refused."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.refused: list[str] = []

    def all(self, kind: Kind) -> list[Mapping[str, Any]]:
        """Return all objects of a kind; none where they cannot be read."""
        objects: list[dict[str, Any]] = self._answer(lambda: self._cluster.list(kind), kind, [])
        return [obj for obj in objects if isinstance(obj, Mapping)]

    def get(self, kind: Kind, name: str) -> Mapping[str, Any]:
        """Return an object; an empty one where it is not there, or cannot be read."""
        return self._answer(lambda: self._cluster.read(kind, "", name), kind, None) or {}

    def _answer(self, ask: Callable[[], T], kind: Kind, otherwise: T) -> T:
        try:
            return ask()
        except RefusedError as error:
            self.refused.append(f"{kind.plural}: {error.reason}")
        except ValueError:
            self.refused.append(f"{kind.plural}: the server's answer is not JSON")
        return otherwise


def _version(cluster: Cluster) -> str:
    cluster_version = _required(lambda: cluster.read(kinds.CLUSTER_VERSION, "", CLUSTER_VERSION), kinds.CLUSTER_VERSION)
    version = installed_versions.release_of(cluster_version)
    if version is None:
        raise Problem(
            f"context {cluster.context!r} leads to {cluster.server}, which has no ClusterVersion: no OpenShift 4",
            "Name a kubeconfig and a context of an OpenShift cluster (--kubeconfig, --context).",
        )
    return version


def _required(ask: Callable[[], T], kind: Kind) -> T:
    try:
        return ask()
    except RefusedError as error:
        if error.reason.startswith(("401", "403")):
            raise Problem(f"{kind.plural} cannot be read: {error.reason}", _RIGHTS) from None
        raise
    except ValueError:
        raise Problem(
            f"what answers for {kind.plural} sends no JSON: it is not an API server",
            "Correct the server in the kubeconfig, or the proxy before it.",
        ) from None
