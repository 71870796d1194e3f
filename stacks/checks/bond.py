"""What is wrong with the ports of a bond."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stacks.checks.repeated import repeated
from stacks.fabric_settings import Ethernet

if TYPE_CHECKING:
    from stacks.platform import Settings


def problems(settings: "Settings") -> Iterator[str]:
    """Yield ports that are there twice, or that are the bond."""
    bond = settings.fabric.bond if isinstance(settings.fabric, Ethernet) else None
    if bond is None:
        return
    ports = bond.ports or settings.port_names
    yield from repeated("fabric.bond.ports:", ports)
    if bond.interface in ports:
        yield f"fabric.bond.interface {bond.interface} is one of its ports; give it a name of its own, e.g. bond0"
