"""No tenant's network definition moves an adapter of the node into a pod."""

from collections.abc import Iterator
from typing import Any

from pydantic import Field

from core.apis.kinds import CLUSTER_NETWORK, NETWORK_ATTACHMENT_DEFINITION
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Part, Violation
from policies.manifests.values import Path
from policies.rule import Rule
from policies.views.go_json import parse_every_value, values
from policies.views.tenants import TENANTS, Tenancy, in_one_of

_CONFIG: Path = ("spec", "config")
_ADDITIONAL: Path = ("spec", "additionalNetworks")
_OF_NETWORK: Path = ("rawCNIConfig",)
_NAMED = ("device", "hwaddr", "kernelpath", "pcibusid", "deviceid", "master")
"""Keys by which a configuration names an adapter itself, instead of taking the one that the kubelet allocated."""


class NetworkNoHostDevice(Tenancy):
    """Which plugins give adapters."""

    plugins: tuple[str, ...] = Field(
        default=("host-device", "sriov", "ib-sriov"),
        description="CNI plugins that move an adapter, or a function of one, into a pod",
    )


def _examine(subject: Obj, _: Inventory, parameters: NetworkNoHostDevice) -> Iterator[Violation]:
    if subject.kind == CLUSTER_NETWORK.kind:
        for network in subject.parts(*_ADDITIONAL):
            namespace = network.text("namespace") or "default"
            if not in_one_of(namespace, parameters.exempt_namespaces):
                yield from _uncounted_plugins(network, _OF_NETWORK, parameters, counted=False)
    elif not parameters.excepts(subject):
        yield from _uncounted_plugins(subject, _CONFIG, parameters, counted=_counted(subject))


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
    """Yield the plugins of a configuration, and whether each names its adapter itself."""
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
    examine=_examine,
    kinds=(NETWORK_ATTACHMENT_DEFINITION, CLUSTER_NETWORK),
)
