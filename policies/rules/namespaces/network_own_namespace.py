"""A pod joins secondary networks of its own namespace alone."""

from collections.abc import Iterator

from pydantic import Field

from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pods import Pod
from policies.rule import Rule
from policies.views.networks import networks
from policies.views.tenants import TENANTS, Tenancy

_GLOBAL = "default"


class NetworkOwnNamespace(Tenancy):
    """Which namespaces have networks for all."""

    shared_namespaces: tuple[str, ...] = Field(
        default=(_GLOBAL, "openshift-multus", "openshift-sriov-network-operator"),
        description="namespaces whose networks every pod may join, as in Multus' own globalNamespaces",
    )


def _examine(subject: Obj, _: Inventory, parameters: NetworkOwnNamespace) -> Iterator[Violation]:
    for pod in subject.pods:
        if "annotations" in pod.metadata.tree and not parameters.excepts(subject):
            yield from _pod(pod, subject, parameters)


def _pod(pod: Pod, subject: Obj, parameters: NetworkOwnNamespace) -> Iterator[Violation]:
    for key, network in networks(pod):
        place = ("annotations", key)
        if network is None:
            yield pod.metadata.violation("names networks in a form that cannot be read", *place)
        elif network.namespace and network.namespace not in (subject.namespace, *parameters.shared_namespaces):
            message = f"joins {network.name} of namespace {network.namespace}"
            if subject.namespace:
                yield pod.metadata.violation(message, *place)
            else:
                yield pod.metadata.unlinked(f"{message}, and its own is unknown", *place)


NETWORK_OWN_NAMESPACE = Rule(
    name="network-own-namespace",
    what="A pod's secondary networks, and the network that replaces its default one, are in its own namespace or in a "
    "shared one, in every form of the annotation: name, namespace/name@interface, JSON.",
    why="Through another tenant's network a pod reaches that tenant's ports and storage, past every network policy, "
    "and takes an RDMA adapter meant for it. Multus refuses this only if namespaceIsolation is on, as in OpenShift.",
    remedy=f"Declare the network in the pod's own namespace, and name it without a namespace; {TENANTS}",
    source="R-3.4.2-5, platform-facts 1.3; k8snetworkplumbingwg/multus-cni, docs/configuration.md",
    severity=Severity.MANDATORY,
    parameters=NetworkOwnNamespace,
    examine=_examine,
)
