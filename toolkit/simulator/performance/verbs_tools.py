"""What tools print of a node's verbs devices: ibstat, ibdev2netdev, and where sysfs has them."""

from collections.abc import Sequence

from core.hardware.adapters import adapter
from core.hardware.profiles import Device
from core.hardware.profiles.records import OtherDevice
from toolkit.simulator.performance import ports
from toolkit.simulator.performance.job import Launched
from toolkit.simulator.performance.ports import device_address
from toolkit.simulator.performance.printed import Printed

NO_RATE = 40
"""Gb/s that a port without a link shows (public outputs of ports without a cable have 10 or 40)."""
CAPABILITIES = {"InfiniBand": 0xA651E848, "Ethernet": 0x00010000}
FIRMWARE = "0.0.0"
"""No data here gives a firmware."""


def ibstat(words: Sequence[str], job: Launched) -> Printed:
    """Simulate ibstat of all verbs devices or of those that are named: sysfs hides none from a pod."""
    requested = {word for word in words[1:] if not word.startswith("-")}
    existing = [device for device in _devices(job) if not requested or device.name in requested]
    if unknown := requested - {device.name for device in existing}:
        why = f"ibpanic: [1] main: '{min(unknown)}' IB device can't be found: (No such file or directory)"
        return Printed((why,), 1, why)
    if not existing:
        return Printed()
    return Printed(tuple(line for device in existing for line in _stat(job, device)))


def ibdev2netdev(_words: Sequence[str], job: Launched) -> Printed:
    """Simulate ibdev2netdev: a pod sees the interfaces of its own network namespace only."""
    machine = job.me.machine
    if not job.me.host_network:
        return Printed()
    rows = {
        device.name: machine.interfaces.get(device.name, device.interface)
        for device in _devices(job)
        if not isinstance(device, OtherDevice)
    }
    return Printed(
        tuple(
            f"{name} port 1 ==> {interface} ({'Up' if machine.is_up(name) else 'Down'})"
            for name, interface in sorted(rows.items())
        )
    )


def in_sysfs(job: Launched) -> list[str]:
    """Return /sys/class/infiniband as ls -l shows it, which has the PCI address of each device."""
    profile = job.me.machine.profile
    if profile is None:
        return []
    date = f"{job.started:%b} {job.started.day:2} {job.started:%H:%M}"
    return [
        f"lrwxrwxrwx. 1 root root 0 {date} {device.name} -> "
        f"../../devices/pci{address[:-5]}/{address}/infiniband/{device.name}"
        for device in sorted(profile.devices, key=lambda port: port.name)
        for address in [device_address(profile, device)]
    ]


def _devices(job: Launched) -> list[Device]:
    profile = job.me.machine.profile
    return ports.in_order(profile.devices) if profile else []


def _stat(job: Launched, device: Device) -> list[str]:
    machine = job.me.machine
    up = machine.is_up(device.name) and not isinstance(device, OtherDevice)
    layer = ports.link_layer(machine, device)
    on_fabric = up and layer == "InfiniBand"
    number = ports.guid(machine.name, device.name)
    compute = next((hca for hca in machine.hcas if hca.name == device.name), None)
    lid = ports.lid(job.machines, machine, compute) if on_fabric and compute else 0
    manager = ports.STORAGE_MANAGER_LID if compute and ports.is_storage(machine, compute) else ports.SUBNET_MANAGER_LID
    rows = [
        ("State", "Active" if up else "Down"),
        ("Physical state", "LinkUp" if up else "Disabled"),
        ("Rate", device.rate_gbps if up and not isinstance(device, OtherDevice) else NO_RATE),
        ("Base lid", lid),
        ("LMC", 0),
        ("SM lid", manager if on_fabric else 0),
        ("Capability mask", f"{CAPABILITIES[layer]:#010x}"),
        ("Port GUID", f"{number:#018x}"),
        ("Link layer", layer),
    ]
    return [
        f"CA '{device.name}'",
        f"\tCA type: MT{adapter(ports.adapter_model(machine, device)).ca_type}",
        "\tNumber of ports: 1",
        f"\tFirmware version: {FIRMWARE}",
        "\tHardware version: 0",
        f"\tNode GUID: {number:#018x}",
        f"\tSystem image GUID: {number:#018x}",
        "\tPort 1:",
        *(f"\t\t{name}: {value}" for name, value in rows),
    ]
