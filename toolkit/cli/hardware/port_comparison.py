"""How the ports of a node differ from those of its machine file."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from core.hardware.profiles import Hca, Profile
from toolkit.cli.hardware import fabric_ports
from toolkit.cli.hardware.facts import Facts
from toolkit.cli.hardware.rails import Port

_TYPE = {"InfiniBand": 1, "Ethernet": 2}
"""Values of LINK_TYPE_P1 of the adapters' firmware."""


class Difference(NamedTuple):
    """One difference, with what to do about it."""

    what: str
    expected: object
    seen: object
    remedy: str

    def __str__(self) -> str:
        return f"{self.what}: expected {self.expected}, found {self.seen}; {self.remedy}"


class NotCompared(NamedTuple):
    """What could not be compared."""

    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.what}: not compared: {self.why}"


def compare(machine: Profile, facts: Facts) -> Iterator[Difference | NotCompared]:
    """Yield what differs: missing and further devices, and paths, NUMA nodes, interfaces, link layers and rates."""
    expected = (*machine.hcas, *machine.storage_hcas, *machine.inband_hcas)
    sure = {*facts.subjects("column of the matrix"), *facts.subjects("port GUID"), *facts.subjects("interface")}
    names = sure | {name for name in facts.subjects("PCI address") if not name.startswith("GPU")}
    if not expected:
        yield NotCompared("ports", f"{machine.name} gives no names of ports")
        return
    if not names:
        yield NotCompared("ports", "neither nvidia-smi topo -m nor ibstat nor /sys/class/infiniband shows them")
        return
    at = {address: name for name in names if (address := fabric_ports.pci(facts, name)) is not None}
    matched = {machine_port.name: _device(machine_port, names, at) for machine_port in expected}
    for port in expected:
        device = matched[port.name]
        if device is None:
            where = f" at {port.pci}" if port.pci else ""
            yield Difference(
                f"port {port.name}{where}",
                "present",
                "missing",
                "See `lspci -d 15b3:` and `dmesg | grep mlx5`, and reseat or replace the adapter; or correct the file",
            )
        else:
            yield from _port(machine, port, device, facts)
    yield from _swapped(expected, matched, facts)
    if not any("path to" in what for what in facts.properties("GPU0")) and machine.hcas:
        yield NotCompared("paths from GPUs to ports", "nvidia-smi topo -m does not show them")
    if not facts.subjects("link layer"):
        yield NotCompared("link layer and rate of the ports", "ibstat does not show them")
    devices = {device.name for device in machine.devices} | {device for device in matched.values() if device}
    for name in sorted(names - devices, key=lambda name: (len(name), name)):
        if not fabric_ports.is_virtual(facts, name):
            yield Difference(
                f"device {name}",
                "none of this name",
                "present",
                "Add it to `other_devices`, so that no job uses it, or to the ports that it belongs to",
            )


def _device(port: Hca, names: set[str], at: Mapping[str, str]) -> str | None:
    """Return the device that is a port: the one at its PCI address or, where addresses are not known, of its name."""
    if port.pci is not None and at:
        return at.get(port.pci)
    return port.name if port.name in names else None


def _port(machine: Profile, port: Hca, device: str, facts: Facts) -> Iterator[Difference | NotCompared]:
    if device != port.name:
        yield Difference(
            f"port at {port.pci}: device",
            port.name,
            device,
            "An adapter was added or is missing, so that numbers move: correct `name`, which NCCL_IB_HCA selects by",
        )
    yield from _place(machine, port, device, facts)
    if facts.get(device, "link layer") is None:
        return
    if port in machine.hcas and fabric_ports.link_layer(facts, device) != machine.link_layer:
        address = port.pci or "<PCI address>"
        yield Difference(
            f"{device}: link layer",
            machine.link_layer,
            fabric_ports.link_layer(facts, device),
            f"`mlxconfig -d {address} set LINK_TYPE_P1={_TYPE[machine.link_layer]}` and a restart of the node",
        )
    if port in machine.inband_hcas:
        return  # its rate is that of the cluster's own network, whatever the adapter can do
    rate = facts.get(device, "rate, Gb/s")
    if rate is None:
        yield Difference(
            f"{device}: link", f"{port.rate_gbps} Gb/s", "no link", "Check cable, transceiver and switch port"
        )
    elif rate != port.rate_gbps:
        yield Difference(
            f"{device}: rate",
            f"{port.rate_gbps} Gb/s",
            f"{rate} Gb/s",
            "Check cable and switch port, whose slower side decides; or correct `rate_gbps`",
        )


def _place(machine: Profile, port: Hca, device: str, facts: Facts) -> Iterator[Difference]:
    numa = facts.get(f"PCI {fabric_ports.pci(facts, device)}", "NUMA node")
    if numa not in (None, port.numa):
        yield Difference(f"{device}: NUMA node", port.numa, numa, "Put the adapter into its slot, or correct `numa`")
    paths = tuple(fabric_ports.path(facts, device, gpu) for gpu in range(machine.gpus))
    if None in paths:
        return
    at, expected = Port(device, paths), (port.gpus, port.distance if port.gpus else None)
    # Of a port that is to be next to no GPU it is not compared with which GPUs it shares a NUMA node.
    measured = (at.gpus, at.distance) if at.nearest or (at.distance and port.gpus) else ((), None)
    if measured != expected:
        rail = f"rail {machine.hcas.index(port)} ({device})" if port in machine.hcas else device
        yield Difference(
            f"{rail}: next to",
            _next_to(*expected),
            _next_to(*measured),
            "Put adapter and cable where they are on the other nodes, or correct `hcas`, in the order of the rails",
        )


def _next_to(gpus: tuple[int, ...], distance: str | None) -> str:
    return f"GPU {', '.join(map(str, gpus))} ({distance})" if gpus else "no GPU"


def _swapped(expected: tuple[Hca, ...], matched: Mapping[str, str | None], facts: Facts) -> Iterator[Difference]:
    """Yield ports whose interface is another port's: those that udev renamed have a new name, which is none's."""
    owner = {port.netdev: port.name for port in expected if port.netdev}
    for port in expected:
        interface = facts.get(matched[port.name] or "", "interface")
        if port.netdev and interface != port.netdev and interface in owner:
            yield Difference(
                f"{matched[port.name]}: interface",
                port.netdev,
                f"{interface}, that of {owner[interface]}",
                "Check udev rules and the slots of the adapters, or correct `netdev`",
            )
