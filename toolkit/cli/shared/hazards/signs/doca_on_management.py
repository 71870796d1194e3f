"""The adapters' driver on nodes whose own network is on a Mellanox adapter: its restart takes the node off the network.

The container unloads mlx5_core to load its own; what comes back are basic settings of the ports, without VLANs, bonds
and Open vSwitch, so that the node stays NotReady.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from core.apis import kinds, names
from core.wording import plural
from policies.manifests.values import entries, mapping, read, selects
from stacks.settings.fabric import NetworkOperatorPlugin
from stacks.settings.platform import Settings
from toolkit.cli.shared import metadata
from toolkit.cli.shared.hazards import nodes
from toolkit.cli.shared.hazards.hazard import Hazard
from toolkit.cli.shared.hazards.hazard import nodes as place
from toolkit.cli.shared.hazards.live import Live, UnreadError

Object = Mapping[str, Any]
_NAME = "doca-on-management-interface"
_MODULE = "mlx5_core"
_PORTS = ("ethernet", "infiniband")
_ETHERNET = f"{names.NODE_FEATURE}pci-0200_"
_MELLANOX = f"{_ETHERNET}15b3"
_REMEDY = (
    "Leave these nodes with the driver of their system (no `driver` of the plugin, or a pool of their own without "
    "`adapter_driver`), or move their management to another adapter; have serial access before the driver starts."
)
_SOURCE = "github.com/Mellanox/network-operator/issues/2176; Known Limitations of the Network Operator 24.10"


def hazards(settings: Settings, live: Live) -> Iterator[Hazard]:
    """Yield nodes that would lose their network, by their interfaces or the classes of their PCI labels.

    Raises UnreadError where a node with such an adapter has neither.
    """
    at_risk = _at_risk(settings, live)
    if not at_risk:
        return
    states = {metadata.name(state): state for state in live.list(kinds.NODE_NETWORK_STATE)}
    by_port: dict[str, list[str]] = {}
    by_label, unknown = [], []
    for node in at_risk:
        name = metadata.name(node)
        drivers = carriers(states.get(name, {}), _addresses(node))
        if drivers and all(drivers.values()):
            mellanox = sorted(port for port, driver in drivers.items() if driver == _MODULE)
            if mellanox:
                by_port.setdefault(", ".join(mellanox), []).append(name)
        elif labels := {label for label in metadata.labels(node) if label.startswith(_ETHERNET)}:
            # The vendor alone may be that of InfiniBand ports; with the class it is of Ethernet.
            if all(label.startswith(_MELLANOX) for label in labels):
                by_label.append(name)
        else:
            unknown.append(name)
    for ports, names_ in sorted(by_port.items()):
        cause = f"the address of the node is on {ports}, of {_MODULE}, which the DOCA driver's container restarts"
        yield Hazard(_NAME, place(names_), cause, _REMEDY, _SOURCE)
    if by_label:
        cause = "all Ethernet adapters that node feature discovery finds are Mellanox, and the DOCA driver is declared"
        yield Hazard(_NAME, place(by_label), cause, _REMEDY, _SOURCE)
    if unknown:
        some = f"{plural(len(unknown), 'node')}, e.g. {min(unknown)}"
        raise UnreadError(f"no NodeNetworkState with drivers says which adapter has the address of {some}")


def _at_risk(settings: Settings, live: Live) -> list[Object]:
    """Return the nodes with an adapter that get the driver, by the settings or by a policy of the cluster."""
    declared = {node.name for pool in settings.gpu_pools if _has_driver(pool.fabric) for node in pool.nodes}
    policies = (*live.list(kinds.NIC_CLUSTER_POLICY), *live.list(kinds.NIC_NODE_POLICY))
    applied = [policy for policy in policies if mapping(policy, "spec", "ofedDriver")]
    if not (declared or applied):
        return []
    return [
        node
        for node in live.list(kinds.NODE)
        if nodes.has_adapter(node)
        and (metadata.name(node) in declared or any(_selects(policy, metadata.labels(node)) for policy in applied))
    ]


def _has_driver(fabric: object) -> bool:
    plugin = getattr(fabric, "plugin", None)
    return isinstance(plugin, NetworkOperatorPlugin) and plugin.driver is not None


def _selects(policy: Object, labels: Mapping[str, str]) -> bool:
    """Whether a policy's operands run on a node: a NicClusterPolicy has an affinity, a NicNodePolicy a selector."""
    affinity = mapping(policy, "spec", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    terms = entries(affinity, "nodeSelectorTerms")
    if terms and not any(selects({"matchExpressions": read(term, "matchExpressions")}, labels) for term in terms):
        return False
    return selects({"matchLabels": mapping(policy, "spec", "nodeSelector")}, labels)


def _addresses(node: Object) -> set[str]:
    addresses = entries(node, "status", "addresses")
    return {str(read(entry, "address")) for entry in addresses if read(entry, "type") == "InternalIP"}


def carriers(state: Object, addresses: Iterable[str]) -> dict[str, str]:
    """Return the ports below the interfaces that have an address of a node, each with its driver, empty if unknown.

    From an address on br-ex, an interface of Open vSwitch, the way goes to the other ports of its bridge, of the same
    name; then from bonds, bridges and VLANs to what they are on.
    """
    interfaces = [entry for entry in entries(state, "status", "currentState", "interfaces") if read(entry, "name")]
    bridges = [entry for entry in interfaces if entry.get("type") == "ovs-bridge"]
    others = {str(entry["name"]): entry for entry in interfaces if not str(entry.get("type")).startswith("ovs-")}
    node_addresses = {*addresses}
    waiting = [interface for interface in interfaces if node_addresses & _own(interface)]
    leaves: dict[str, str] = {}
    seen: set[str] = set()
    while waiting:
        interface = waiting.pop()
        seen.add(str(interface["name"]))
        below = [others[name] for name in _below(interface, bridges) if name in others]
        if not below and interface.get("type") in _PORTS:
            leaves[str(interface["name"])] = str(interface.get("driver") or "")
        waiting += [other for other in below if other["name"] not in seen]
    return leaves


def _own(interface: Object) -> set[str]:
    return {str(read(entry, "ip")) for family in ("ipv4", "ipv6") for entry in entries(interface, family, "address")}


def _below(interface: Object, bridges: Iterable[Object]) -> Iterator[str]:
    """Yield the names of what an interface is on."""
    if interface.get("type") == "ovs-interface":
        ports = ([*_ports(bridge)] for bridge in bridges)
        yield from (port for of_bridge in ports if interface["name"] in of_bridge for port in of_bridge)
    else:
        yield from _ports(interface)


def _ports(interface: Object) -> Iterator[str]:
    for port in entries(interface, "link-aggregation", "port"):
        yield str(port)
    for port in entries(interface, "bridge", "port"):
        yield str(read(port, "name"))
        yield from (str(read(member, "name")) for member in entries(port, "link-aggregation", "port"))
    if base := read(interface, "vlan", "base-iface"):
        yield str(base)
