"""A node with a rendered MachineConfig: annotations, interfaces, what it leaves for pods. Pure functions."""

import json
import re
from collections.abc import Iterator

from core.apis import quantity
from core.hardware.profiles import Profile
from toolkit.simulator import names
from toolkit.simulator.actors import ignition, kubelet_settings
from toolkit.simulator.actors.api import Object

RULES = "/etc/udev/rules.d/"
_MATCH = re.compile(r'(?:^|[,\s])KERNELS=="([^"]*)"')
_NAME = re.compile(r'(?:^|[,\s])NAME:?="([^"]*)"')


def annotations(profile: Profile | None, rendered: Object) -> dict[str, str | None]:
    """Return the annotations of the simulator for a node that runs with the configuration."""
    names_now = interfaces(profile, rendered)
    return {
        names.MEMLOCK: names.UNLIMITED if ignition.memlock_unlimited(rendered) else None,
        names.INTERFACES: json.dumps(names_now) if names_now else None,
        names.KERNEL_ARGUMENTS: " ".join(rendered["spec"].get("kernelArguments") or []) or None,
        names.EXTENSIONS: " ".join(rendered["spec"].get("extensions") or []) or None,
    }


def refusal(node: Object, profile: Profile | None, rendered: Object) -> str | None:
    """Return why the node's kubelet does not start with the configuration, None if it does."""
    cpus = quantity.whole((node.get("status") or {}).get("capacity", {}).get("cpu")) or 0
    return kubelet_settings.refusal(kubelet_settings.kubelet_of(rendered), profile, cpus)


def allocatable_patch(node: Object, rendered: Object) -> Object | None:
    """Return the status patch that gives a node its CPUs and memory for pods, None if it has them."""
    status = node.get("status") or {}
    if "cpu" not in (status.get("capacity") or {}):
        return None
    amounts = kubelet_settings.allocatable(kubelet_settings.kubelet_of(rendered), status["capacity"])
    have = status.get("allocatable") or {}
    same = all(quantity.amount(have.get(name)) == quantity.amount(amount) for name, amount in amounts.items())
    return None if same else {"status": {"allocatable": amounts}}


def renamed(rendered: Object) -> dict[str, str]:
    """Return PCI address -> name of the interface, from the udev rules of a rendered MachineConfig."""
    return {address: name for text in _rules(rendered) for address, name in _names(text)}


def _rules(rendered: Object) -> Iterator[str]:
    for file in rendered["spec"]["config"].get("storage", {}).get("files") or []:
        if file["path"].startswith(RULES) and file["path"].endswith(".rules"):
            yield ignition.file_text(file)


def _names(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        address, name = _MATCH.search(line), _NAME.search(line)
        if address and name and not line.lstrip().startswith("#"):
            yield address[1], name[1]


def interfaces(profile: Profile | None, rendered: Object) -> list[str]:
    """Return the interfaces of a machine in the order of its ports; none where nothing names them.

    A rule counts only where a port has its PCI address: another one names nothing.
    """
    names = renamed(rendered)
    ports = (*profile.hcas, *profile.storage_hcas) if profile else ()
    return [names.get(port.pci or "", port.interface) for port in ports]
