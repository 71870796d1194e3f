"""What is wrong with the ports of a bond."""

from collections.abc import Iterator

from components.fabric.bond import unfit
from stacks.settings.fabric import Ethernet
from stacks.settings.platform import Settings


def problems(settings: Settings) -> Iterator[str]:
    """Yield ports that are given twice, or that are the bond."""
    for pool in settings.gpu_pools:
        bond = pool.fabric.bond if isinstance(pool.fabric, Ethernet) else None
        if bond:
            yield from (f"fabric.bond.{problem}" for problem in unfit(bond.interface, bond.ports or pool.port_names))
