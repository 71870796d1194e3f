"""The ports of a node as a machine file has them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from core.hardware.adapters import model_of
from core.hardware.profiles.records import MELLANOX_PCI_VENDOR
from toolkit.cli.hardware.facts import LSPCI, MATRIX, NODE, Facts
from toolkit.cli.hardware.rails import Port, Rails, choose

_SAME_NODE = ("PIX", "PXB", "PHB", "NODE")
"""Paths that stay on one NUMA node."""
_BY_SYSTEMD = re.compile(r"(?:ib|en)(?:P(\d+))?p(\d+)s(\d+)(?:f(\d+))?(?:np\d+)?$")
_VIRTUAL = re.compile(r"v\d+(?:np\d+)?$")


def find(facts: Facts, gpus: int) -> Rails:
    """Return the rails of a node; records what contradicts itself."""
    unnamed = facts.fact(NODE, "unnamed columns")
    if unnamed is not None:
        return Rails(undecided=f"columns of the matrix have no name ({unnamed.value}, {unnamed.place})")
    names = facts.subjects("column of the matrix")
    if not names:
        return Rails(undecided="no output of nvidia-smi topo -m with network devices")
    _devices_agree(facts, names)
    on_grace = facts.get(NODE, "CPU architecture") == "aarch64"
    return choose([_port(facts, name, gpus) for name in names], gpus, on_grace=on_grace)


def candidates(facts: Facts, rails: Rails) -> list[str]:
    """Return the devices that may be rails of a node of which it is not decided, each with what is known of it."""
    devices = {*facts.subjects("column of the matrix"), *facts.subjects("interface"), *facts.subjects("link layer")}
    return [f"{name}{_details(facts, name)}" for name in sorted(devices - rails.no_rails.keys(), key=by_number)]


def hcas(facts: Facts, rails: Rails, numa: Mapping[int, int]) -> list[dict[str, Any]]:
    """Return the rails as `hcas`; `numa` is the NUMA node of each GPU. What is not known is left out."""
    nodes = _numa_nodes(facts, numa)
    return [
        {
            "name": port.name,
            "netdev": facts.get(port.name, "interface"),
            **_without_unknown(numa=nodes.get(port.name)),
            "gpus": [*port.gpus],
            "distance": port.distance,
            **_without_unknown(rate_gbps=rate(facts, port.name), pci=pci(facts, port.name)),
            "distances": [*port.paths],
        }
        for port in rails.ports
    ]


def other_devices(facts: Facts, rails: Rails, numa: Mapping[int, int], gpus: int) -> list[dict[str, Any]]:
    """Return the devices that are not rails as `other_devices`; one without a known NUMA node is left out."""
    nodes = _numa_nodes(facts, numa)
    return [
        {
            "name": name,
            "what": f"{why}{_details(facts, name)}",
            "numa": nodes[name],
            **_without_unknown(pci=pci(facts, name)),
            "distances": [path(facts, name, gpu) for gpu in range(gpus)],
        }
        for name, why in sorted(rails.no_rails.items(), key=lambda item: by_number(item[0]))
        if name in nodes
    ]


def link_layer(facts: Facts, name: str) -> Any:
    """Return InfiniBand or Ethernet, by ibstat or by the interface's name; None: not known."""
    interface = facts.get(name, "interface") or ""
    by_name = "InfiniBand" if interface.startswith("ib") else "Ethernet" if interface.startswith("e") else None
    return facts.get(name, "link layer") or by_name


def rate(facts: Facts, name: str) -> int | None:
    """Return the line rate in Gb/s: of a port without a link that of the others with the same chip, if all have one."""
    own: int | None = facts.get(name, "rate, Gb/s")
    chip = facts.get(name, "CA type")
    rates = {
        facts.get(other, "rate, Gb/s") for other in facts.subjects("rate, Gb/s") if facts.get(other, "CA type") == chip
    }
    return own if own is not None or chip is None or len(rates) != 1 else rates.pop()


def adapter(facts: Facts, rails: Rails) -> str | None:
    """Return the model of the rails' adapter, its CA type where no name is known; None where there are several."""
    chips = {facts.get(port.name, "CA type") for port in rails.ports}
    if len(chips) != 1 or None in chips:
        return None
    (chip,) = chips
    return str(facts.get(chip, "adapter") or model_of(str(chip)) or chip)


def pci(facts: Facts, name: str) -> str | None:
    """Return the PCI address: as ibdev2netdev -v prints it, or by the interface's name if lspci has a device there."""
    pci_address: str | None = facts.get(name, "PCI address")
    place = _BY_SYSTEMD.match(facts.get(name, "interface") or "")
    if pci_address is not None or place is None:
        return pci_address
    domain, bus, slot, function = (int(number or 0) for number in place.groups())
    address = f"{domain:04x}:{bus:02x}:{slot:02x}.{function}"
    device = facts.get(f"PCI {address}", "device") or ""
    return address if any(vendor in device for vendor in (MELLANOX_PCI_VENDOR, "Mellanox")) else None


def _port(facts: Facts, name: str, gpus: int) -> Port:
    interface = facts.get(name, "interface")
    return Port(
        name=name,
        paths=tuple(path(facts, name, gpu) for gpu in range(gpus)),
        has_interface=True if interface else False if facts.get(NODE, "interfaces of all ports") else None,
        link_layer=link_layer(facts, name),
        rate_gbps=rate(facts, name),
        virtual=is_virtual(facts, name),
        chip=facts.get(name, "CA type"),
        card=_card(facts, name),
    )


def _card(facts: Facts, name: str) -> str:
    """Return the first port of the card that a port is on: ports of one card are at PIX of each other."""
    names = facts.subjects("column of the matrix")
    same = (other for other in names if other == name or _between(facts, name, other) == "PIX")
    return next(same, name)


def _between(facts: Facts, device: str, other: str) -> Any:
    first, second = sorted((device, other), key=by_number)
    return facts.get(first, f"path to {second}")


def is_virtual(facts: Facts, name: str) -> bool:
    """Return whether a device is a virtual function, by lspci or its interface's name."""
    device = facts.get(f"PCI {pci(facts, name)}", "device") or ""
    return "Virtual Function" in device or _VIRTUAL.search(facts.get(name, "interface") or "") is not None


def path(facts: Facts, name: str, gpu: int) -> str | None:
    """Return the PCIe path between a device and a GPU; None where no matrix gives it."""
    device, other = sorted((name, f"GPU{gpu}"), key=by_number)
    path_type = facts.get(device, f"path to {other}")
    return path_type if path_type in (*_SAME_NODE, "SYS") else None


def _devices_agree(facts: Facts, names: Sequence[str]) -> None:
    """Record devices that one output has and another lacks, and link layers that are not those of the interface."""
    columns = facts.fact(names[0], "column of the matrix")
    for what in ("interface", "port GUID"):
        for name in facts.subjects(what):
            fact = facts.fact(name, what)
            if columns is not None and fact is not None and name not in names and name.startswith("mlx"):
                facts.contradict(name, MATRIX, fact, columns._replace(value="not in the matrix"))
    for name in facts.subjects("link layer"):
        fact, interface = facts.fact(name, "link layer"), facts.fact(name, "interface")
        if fact and interface and {fact.value, interface.value[:2]} in ({"Ethernet", "ib"}, {"InfiniBand", "en"}):
            facts.contradict(name, "link layer", fact, interface._replace(value=f"interface {interface.value}"))
    listed = next(iter(facts.subjects("device")), None)
    lspci = facts.fact(listed, "device") if facts.get(NODE, "PCI devices of the adapters") and listed else None
    for name in facts.subjects("PCI address"):
        fact = facts.fact(name, "PCI address")
        if lspci and fact and name.startswith("mlx") and facts.fact(f"PCI {fact.value}", "device") is None:
            facts.contradict(name, LSPCI, fact, lspci._replace(value="not in lspci"))


def _numa_nodes(facts: Facts, numa: Mapping[int, int]) -> dict[str, int]:
    """Return the NUMA nodes of devices: as lspci -v has it, or that of what is on the same node."""
    names = facts.subjects("column of the matrix")
    numa_nodes: dict[str, int] = {}
    for name in names:
        by_lspci = facts.get(f"PCI {pci(facts, name)}", "NUMA node")
        by_gpu = next((node for gpu, node in sorted(numa.items()) if path(facts, name, gpu) in _SAME_NODE), None)
        if (node := by_gpu if by_gpu is not None else by_lspci) is not None:
            numa_nodes[name] = node
    for name in (name for name in names if name not in numa_nodes):
        for other in [*numa_nodes]:
            if _between(facts, name, other) in _SAME_NODE:
                numa_nodes[name] = numa_nodes[other]
    return numa_nodes


def _details(facts: Facts, name: str) -> str:
    properties = [facts.get(name, "interface"), link_layer(facts, name)]
    speed = facts.get(name, "rate, Gb/s")
    shown = [*(detail for detail in properties if detail), *([f"{speed} Gb/s"] if speed else [])]
    return f" ({', '.join(shown)})" if shown else ""


def _without_unknown(**fields: object) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value is not None}


def by_number(name: str) -> tuple[int, str]:
    """Return a key by which mlx5_10 comes after mlx5_9."""
    return len(name), name
