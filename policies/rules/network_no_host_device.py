"""No tenant's network definition moves an adapter of the node into a pod."""

import json
from collections.abc import Iterator
from typing import Any

from pydantic import Field

from apis.kinds import NETWORK_ATTACHMENT_DEFINITION
from policies.findings import Severity
from policies.inventory import Inventory
from policies.objects import Obj
from policies.rule import Rule
from policies.values import read
from policies.views.tenants import TENANTS, Tenancy
from policies.violation import Violation

_CONFIG = ("spec", "config")
_LARGEST = 1 << 20


class NetworkNoHostDevice(Tenancy):
    """Which plugins give adapters."""

    plugins: tuple[str, ...] = Field(
        default=("host-device", "sriov", "ib-sriov"),
        description="CNI plugins that move an adapter, or a function of one, into a pod",
    )


def _examine(subject: Obj, _: Inventory, parameters: NetworkNoHostDevice) -> Iterator[Violation]:
    text = subject.text(*_CONFIG)
    if not text or parameters.excepts(subject) or _counted(subject):
        return
    plugins = _plugins(text)
    if plugins is None:
        yield subject.violation("cannot be read: it is no JSON, or too long, or nested too deeply", *_CONFIG)
    for plugin in plugins or ():
        if plugin in parameters.plugins:
            yield subject.violation(f"moves an adapter of the node into pods, by the plugin {plugin}", *_CONFIG)


def _counted(subject: Obj) -> bool:
    """Return whether its pods have to request a resource, by which a device plugin counts the adapters."""
    return bool(subject.text("metadata", "annotations", "k8s.v1.cni.cncf.io/resourceName"))


def _plugins(text: str) -> list[str] | None:
    """Return the plugins of a configuration; None where it cannot be read."""
    if len(text) > _LARGEST:
        return None
    try:
        content: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    chained = read(content, "plugins")
    entries = [content, *(chained if isinstance(chained, list) else ())]
    return [name for entry in entries if isinstance(name := read(entry, "type"), str)]


NETWORK_NO_HOST_DEVICE = Rule(
    name="network-no-host-device",
    what="A NetworkAttachmentDefinition outside the infrastructure's namespaces uses no plugin that moves an adapter "
    "of the node into a pod, unless it names the resource by which such adapters are counted.",
    why="host-device takes ib0 away from the node and from every other pod on it. No rdma/<name> is requested, so no "
    "quota, queue or rdmaHcaMax counts the adapter.",
    remedy="Let the network operator create the network (HostDeviceNetwork, MacvlanNetwork) and its resource, or name "
    f"the resource in k8s.v1.cni.cncf.io/resourceName; {TENANTS}",
    source="R-3.4.2-5, platform-facts 1.3",
    severity=Severity.MANDATORY,
    parameters=NetworkNoHostDevice,
    examine=_examine,
    kinds=(NETWORK_ATTACHMENT_DEFINITION,),
)
