"""Keys of each virtual machine's configuration."""

from collections.abc import Iterator

from stacks.settings.site.esxi import EsxiSettings, GuestMachine
from toolkit.site.output import File, Open

_PEERS = {"pciPassthru.allowP2P": "true", "pciPassthru.RelaxACSforP2P": "true"}
"""Peer-to-peer traffic: allowed, and sent directly by the PCIe switch above the device that has ATS."""


def path(machine: GuestMachine) -> str:
    """Return the path of a machine's file."""
    return f"esxi/{machine.name}.vmx.txt"


def keys(machine: GuestMachine) -> dict[str, str]:
    """Return the keys of a machine with their values."""
    numa = {} if machine.numa_node is None else {"numa.nodeAffinity": str(machine.numa_node)}
    gpus = {f"pciPassthru{number}.cfg.gpu-pci-id": address for number, address in sorted(machine.gpus.items())}
    return {**_PEERS, **gpus, **numa}


def files(settings: EsxiSettings) -> Iterator[File | Open]:
    """Yield a file for each machine; open is the NUMA node that was not read yet."""
    for machine in settings.machines:
        if machine.numa_node is None:
            yield Open(
                f"the NUMA node of {machine.name}'s GPU and adapter",
                f"run `ats.sh show` on {machine.host}, and set numa_node of the machine in site.esxi",
            )
        note = f"# {machine.name} on {machine.host}: VM options, Advanced, Configuration Parameters; while it is off.\n"
        lines = "".join(f'{key} = "{value}"\n' for key, value in keys(machine).items())
        yield File(path(machine), note + lines, sources=("N-2.3", "N-2.4", "N-4.3"))
