"""How the network interfaces of a node's adapters are called: by the kernel, or by udev rules. Pure functions."""

import re
from collections.abc import Iterator

from core.hardware.profiles import Profile
from toolkit.simulator.actors import ignition
from toolkit.simulator.actors.api import Object

RULES = "/etc/udev/rules.d/"
_MATCH = re.compile(r'(?:^|[,\s])KERNELS=="([^"]*)"')
_NAME = re.compile(r'(?:^|[,\s])NAME:?="([^"]*)"')


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
    """Return the interfaces of a machine in the order of its ports; none where no document names them.

    A rule counts only where a port has its PCI address: another one names nothing.
    """
    names = renamed(rendered)
    ports = (*profile.hcas, *profile.storage_hcas) if profile else ()
    return [names.get(port.pci or "", port.interface) for port in ports]
