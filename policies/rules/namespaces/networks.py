"""Secondary networks: whose a pod may join, and what their definitions may give it."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pydantic import Field

from core.apis.kinds import CLUSTER_NETWORK, NETWORK_ATTACHMENT_DEFINITION
from core.apis.names import NETWORKS
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Part, Violation
from policies.manifests.pods import Pod
from policies.manifests.values import Path, read
from policies.rule import Rule, Severity
from policies.views.tenants import TENANTS, Tenancy, in_one_of

LARGEST = 1 << 20
"""Characters of a text; the API server stores no more in an object."""


def parse_folded(text: str) -> Any:
    """Return what a struct gets: every key in lower case, the last of several alike; raise ValueError for no JSON."""
    return _read(text, lambda pairs: {key.casefold(): value for key, value in pairs})


def parse_every_value(text: str) -> Any:
    """Return JSON with a list of all values for each key, which is in lower case; raise ValueError for no JSON."""
    return _read(text, _by_folded_key)


def values(tree: Any, key: str) -> Iterator[Any]:
    """Yield all values of a key in an object that `every` has read."""
    yield from tree.get(key, ()) if isinstance(tree, dict) else ()


def _read(text: str, hook: Any) -> Any:
    if len(text) > LARGEST:
        raise ValueError("too long")
    try:
        return json.loads(text, object_pairs_hook=hook)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _by_folded_key(pairs: list[tuple[str, Any]]) -> dict[str, list[Any]]:
    by_key: dict[str, list[Any]] = {}
    for key, value in pairs:
        by_key.setdefault(key.casefold(), []).append(value)
    return by_key


DEFAULT_NETWORK = "v1.multus-cni.io/default-network"
ANNOTATIONS = (NETWORKS, DEFAULT_NETWORK)
_SHORT = re.compile(r"(?:([^/@\s]+)/)?([^/@\s]+)(?:@[^/@\s]+)?")
_LONGEST = 1 << 16


@dataclass(frozen=True)
class Network:
    """One network: `namespace` is empty where it is the pod's own."""

    namespace: str
    name: str


def networks(pod: Pod) -> Iterator[tuple[str, Network | None]]:
    """Yield the networks of a pod with the annotation that names each; None for an entry that cannot be read."""
    for key in ANNOTATIONS:
        if text := pod.metadata.text("annotations", key):
            for network in _parsed(text[:_LONGEST]):
                yield key, network


@lru_cache(maxsize=256)
def _parsed(text: str) -> tuple[Network | None, ...]:
    if text.lstrip().startswith(("[", "{")):
        try:
            content = parse_folded(text)
        except ValueError:
            return (None,)
        entries = content if isinstance(content, list) else [content]
        return tuple(_entry(entry) for entry in entries)
    return tuple(_short(part) for part in text.split(",") if part.strip())


def _entry(entry: object) -> Network | None:
    name, namespace = read(entry, "name"), read(entry, "namespace")
    return Network(namespace if isinstance(namespace, str) else "", name) if isinstance(name, str) else None


def _short(part: str) -> Network | None:
    match = _SHORT.fullmatch(part.strip())
    return Network(match[1] or "", match[2]) if match else None


_OF_NETWORK: Path = ("rawCNIConfig",)
_NAMED = ("device", "hwaddr", "kernelpath", "pcibusid", "deviceid", "master")
"""Keys by which a configuration names an adapter itself, instead of taking the one that the kubelet allocated."""


class NetworkNoHostDevice(Tenancy):
    """Which plugins give adapters."""

    plugins: tuple[str, ...] = Field(
        default=("host-device", "sriov", "ib-sriov"),
        description="CNI plugins that move an adapter, or a function of one, into a pod",
    )


def _network_no_host_device(subject: Obj, _: Inventory, parameters: NetworkNoHostDevice) -> Iterator[Violation]:
    if subject.kind == CLUSTER_NETWORK.kind:
        for network in subject.parts("spec", "additionalNetworks"):
            namespace = network.text("namespace") or "default"
            if not in_one_of(namespace, parameters.exempt_namespaces):
                yield from _uncounted_plugins(network, _OF_NETWORK, parameters, counted=False)
    elif not parameters.excepts(subject):
        yield from _uncounted_plugins(subject, ("spec", "config"), parameters, counted=_counted(subject))


def _uncounted_plugins(
    part: Part, place: Path, parameters: NetworkNoHostDevice, *, counted: bool
) -> Iterator[Violation]:
    """Yield the plugins of one configuration that move adapters that no resource counts."""
    text = part.text(*place)
    try:
        plugins = [*_plugins(parse_every_value(text))] if text else []
    except ValueError:
        yield part.violation("cannot be read: it is no JSON, or too long, or nested too deeply", *place)
        return
    for plugin, names_adapter in plugins:
        if plugin in parameters.plugins and (names_adapter or not counted):
            yield part.violation(f"moves an adapter of the node into pods, by the plugin {plugin}", *place)


def _counted(subject: Obj) -> bool:
    """Return whether its pods have to request a resource, by which a device plugin counts the adapters."""
    return bool(subject.text("metadata", "annotations", "k8s.v1.cni.cncf.io/resourceName"))


def _plugins(content: Any) -> Iterator[tuple[str, bool]]:
    chained = (entry for plugins in values(content, "plugins") if isinstance(plugins, list) for entry in plugins)
    for entry in (content, *chained):
        names_adapter = any(value for key in _NAMED for value in values(entry, key))
        yield from ((name, names_adapter) for name in values(entry, "type") if isinstance(name, str))


NETWORK_NO_HOST_DEVICE = Rule(
    name="network-no-host-device",
    what="A NetworkAttachmentDefinition outside the infrastructure's namespaces, or one that the cluster's network "
    "operator makes there (additionalNetworks), uses no plugin that moves an adapter of the node into a pod, unless it "
    "names the resource by which such adapters are counted, and no adapter itself.",
    why="host-device takes ib0 away from the node and from every other pod on it. No rdma/<name> is requested, so no "
    "quota, queue or rdmaHcaMax counts the adapter.",
    remedy="Let the network operator create the network (HostDeviceNetwork, MacvlanNetwork) and its resource, or name "
    f"the resource in k8s.v1.cni.cncf.io/resourceName; {TENANTS}",
    source="R-3.4.2-5, platform-facts 1.3",
    severity=Severity.MANDATORY,
    parameters=NetworkNoHostDevice,
    examine=_network_no_host_device,
    kinds=(NETWORK_ATTACHMENT_DEFINITION, CLUSTER_NETWORK),
)


class NetworkOwnNamespace(Tenancy):
    """Which namespaces have networks for all."""

    shared_namespaces: tuple[str, ...] = Field(
        default=("default", "openshift-multus", "openshift-sriov-network-operator"),
        description="namespaces whose networks every pod may join, as in Multus' own globalNamespaces",
    )


def _network_own_namespace(subject: Obj, _: Inventory, parameters: NetworkOwnNamespace) -> Iterator[Violation]:
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
    examine=_network_own_namespace,
)
