"""Files of a node that programs on it read, as its machine has them: pure functions.

What no machine file says is empty or 0: device numbers of GPUs, SR-IOV, disks, modules of the kernel.
"""

from collections.abc import Iterator, Mapping, Sequence

from core.hardware.adapters import adapter
from core.hardware.profiles import MELLANOX_PCI_VENDOR, NVIDIA_PCI_VENDOR, Hca, Profile
from toolkit.simulator.names import system_version

Files = Mapping[str, str]
"""Path below / -> text; a path that ends in / is an empty folder."""
FEATURES = "etc/kubernetes/node-feature-discovery/features.d"
"""Folder where programs leave labels for the worker of Node Feature Discovery."""
DISPLAY = "0x030200"
"""PCI class of a GPU: a 3D controller."""
ADAPTERS = {"InfiniBand": "0x020700", "Ethernet": "0x020000"}
"""PCI class of a port, by what it speaks."""
BRIDGE = {"class": "0x060000", "vendor": "0x8086", "device": "0x0000"}
"""A host bridge, which every machine has."""
NO_SWAP = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
_PCI = "sys/bus/pci/devices"
_FIRST_BUS = 0x10
"""Of devices whose address no document gives."""


def of_node(machine: Profile | None, *, kernel: str, release: str) -> Files:
    """Return the files of a node with this machine, None for a plain one; `release` is OpenShift's, e.g. 4.20."""
    # RHCOS; the last is what the GPU Operator finds its Driver Toolkit by.
    system = {"ID": "rhcos", "VERSION_ID": release, "OSTREE_VERSION": system_version(release)}
    files = {
        "etc/os-release": "".join(f'{name}="{value}"\n' for name, value in system.items()),
        "proc/modules": "",
        "proc/swaps": NO_SWAP,
        "proc/sys/kernel/osrelease": f"{kernel}\n",
        "sys/block/": "",
        "sys/class/net/lo/mtu": "65536\n",
        "sys/devices/system/cpu/online": "0\n",
        "sys/fs/selinux/enforce": "1\n",
    }
    for number in _numa_nodes(machine):
        files[f"sys/bus/node/devices/node{number}/online"] = "1\n"
    for address, device in (("0000:00:00.0", BRIDGE), *(_devices(machine) if machine else ())):
        whole = {"subsystem_vendor": "0x0000", "subsystem_device": "0x0000", **device}
        files |= {f"{_PCI}/{address}/{name}": f"{value}\n" for name, value in whole.items()}
    for port in (*machine.hcas, *machine.storage_hcas, *machine.inband_hcas) if machine else ():
        if port.netdev:
            interface = f"sys/class/net/{port.netdev}"
            files |= {
                f"{interface}/device/": "",
                f"{interface}/operstate": "up\n",
                f"{interface}/speed": f"{port.rate_gbps * 1000}\n",
            }
    return files


def _numa_nodes(machine: Profile | None) -> Sequence[int]:
    if machine is None:
        return (0,)
    return [node.id for node in machine.numa] or range(machine.sockets)


def _devices(machine: Profile) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield PCI address and attributes of GPUs and ports."""
    ports = [*_ports(machine)] if MELLANOX_PCI_VENDOR in machine.pci_vendors else []
    taken = {_address(bus) for bus in machine.gpu_buses} | {hca.pci for hca, _, _ in ports if hca and hca.pci}
    free = (address for bus in range(_FIRST_BUS, 1 << 16) if (address := _address(bus)) not in taken)
    for gpu in range(machine.gpus):
        numa = next((node.id for node in machine.numa if gpu in node.gpus), 0)
        address = _address(machine.gpu_buses[gpu]) if machine.gpu_buses else next(free)
        yield address, _device(DISPLAY, NVIDIA_PCI_VENDOR, 0, numa)
    for hca, layer, number in ports:
        address = (hca.pci if hca else None) or next(free)
        yield address, _device(ADAPTERS[layer], MELLANOX_PCI_VENDOR, number, hca.numa if hca else 0)


def _ports(machine: Profile) -> Iterator[tuple[Hca | None, str, int]]:
    """Yield the ports, None for one without a name, with what they speak and the PCI number of their adapter."""
    for group, hcas in (
        (machine.ports, machine.hcas),
        (machine.storage_ports, machine.storage_hcas),
        (machine.inband_ports, machine.inband_hcas),
    ):
        if group is None:
            continue
        number = adapter(group.adapter).ca_type
        for hca in hcas or [None] * group.count:
            # The compute ports may run in another mode than their names are of.
            own = None if group is machine.ports or hca is None else hca.named_link_layer
            yield hca, own or machine.link_layer, number


def _address(bus: int) -> str:
    return f"{bus >> 8:04x}:{bus & 0xFF:02x}:00.0"


def _device(device_class: str, vendor: str, number: int, numa: int) -> Mapping[str, str]:
    return {"class": device_class, "vendor": f"0x{vendor}", "device": f"0x{number:04x}", "numa_node": str(numa)}
