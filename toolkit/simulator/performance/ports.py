"""Ports of the simulated fabric, for ibstatus and ibhosts; PCI addresses; how fast messages are over one port.

Rates are the Redpaper's figure for EDR, and rules for others.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Literal, TypeVar

from core.hardware.measured import RDMA_WRITE
from core.hardware.profiles import Device, Hca, Profile
from toolkit.simulator.performance.job import Launched, Machine
from toolkit.simulator.performance.printed import Printed, seeded_bits

D = TypeVar("D", bound=Device)
SUBNET_MANAGER_LID = 0x9
FIRST_LID = 0xB
"""In the Redpaper's lab the subnet manager's switch has 0x9, the first machine's ports follow from 0xb on."""
STORAGE_MANAGER_LID = 0x1
"""Of the fabric for storage, where machines have HCAs for it: another number, as it is another manager."""
VENDOR = 0xEC0D9A03 << 32
"""Beginning of the GUIDs of a Mellanox adapter, as in the Redpaper; the other 32 bits follow from machine and port."""
SPEEDS = {10: "4X SDR", 25: "1X EDR", 40: "4X QDR", 50: "2X EDR", 56: "4X FDR"} | {
    100: "4X EDR",
    200: "4X HDR",
    400: "4X NDR",
}
"""Gb/s -> lanes and generation, as the kernel's sysfs says it."""
AGGREGATION_NODE = "Mellanox Technologies Aggregation Node"
STORAGE = tuple((f"fscc-fab3-3-{server}", port) for server in "ab" for port in range(2, 6))
"""The paper's ESS 3000: its two servers and their ports. No setting gives those of another storage."""
RATE_WITHOUT_LINK = 10
"""Gb/s that sysfs has for a port that is down: the slowest that there is."""
NOT_OPENED = (
    "ibwarn: [1] mad_rpc_open_port: can't open UMAD port ({hca}:0)",
    "/usr/sbin/ibnetdiscover: iberror: failed: discover failed",
)
_FIRST_BUS, _FIRST_OF_ADAPTERS, _BUSES = 0x1A, 0xE0, 0x100
"""Where no document gives the buses of GPUs, and of adapters: one after the other from here."""
EDR_GBPS = 100
EDR_AVERAGE, EDR_PEAK = RDMA_WRITE.average_mb_s, RDMA_WRITE.peak_mb_s
"""MB/s (of 2^20 bytes) of 64 KiB messages over one EDR port."""
SPREAD = 0.001
"""Standard deviation of a measurement: an assumption, the paper prints one."""
RDMA_MTUS = (4096, 2048, 1024, 512, 256)
"""Bytes of payload that a packet may have; 4096 on InfiniBand."""
AROUND = 96
"""Bytes that Linux reserves around the payload on Ethernet: with an MTU of 1500 it is 1024."""
ROCE_OVERHEAD = 82
"""Bytes of a RoCE v2 packet beside its payload: preamble, gap, Ethernet, IP, UDP, BTH and the two checksums."""
MESSAGE_US = 0.2
"""Time in microseconds that a message takes however small it is: 5 million a second, an assumption."""
LATENCY_US = 1.1
"""Of a write or send of two bytes, one way; a read is there and back. An assumption, below the 6 us of 3.1."""


def guid(machine: str, hca: str) -> int:
    """Return the GUID of a port."""
    return VENDOR | seeded_bits(32, machine, hca)


def in_order(hcas: Iterable[D]) -> list[D]:
    """Return ports as the kernel numbers them, mlx5_4 before mlx5_6, whatever they are for."""
    return sorted(hcas, key=lambda hca: (len(hca.name), hca.name))


def host(machine: Machine) -> str:
    """Return the name that a machine has on the fabric: without its domain."""
    return machine.name.partition(".")[0]


def lid(machines: Iterable[Machine], machine: Machine, hca: Hca) -> int:
    """Return the local identifier of a port: all ports of all machines count, up or down."""
    machine_of_name = {node.name: node for node in (*machines, machine)}
    all_ports = [(name, port.name) for name, node in machine_of_name.items() for port in node.hcas]
    return FIRST_LID + all_ports.index((machine.name, hca.name))


def default_gid(machine: Machine, hca: Hca) -> str:
    """Return the first address of a port as ibstatus writes it: fe80:, and its GUID."""
    text = f"{guid(machine.name, hca.name):016x}"
    return "fe80:0000:0000:0000:" + ":".join(text[at : at + 4] for at in range(0, 16, 4))


def is_storage(machine: Machine, hca: Hca) -> bool:
    """Whether a port is on the fabric for storage."""
    return machine.profile is not None and hca in machine.profile.storage_hcas


def link_layer(machine: Machine, device: Device) -> Literal["InfiniBand", "Ethernet"]:
    """Return what a port speaks: what its interface is called says it, where that is known."""
    named = device.named_link_layer if isinstance(device, Hca) and device in machine.storage_and_inband else None
    if named:
        return named
    return "Ethernet" if machine.ethernet and isinstance(device, Hca) else "InfiniBand"


def adapter_model(machine: Machine, device: Device) -> str:
    """Return the model of a device's adapter, as the machine's data has it; that of the compute ports for a bridge."""
    if machine.profile is None:
        return ""
    profile = machine.profile
    for hcas, printed in ((profile.storage_hcas, profile.storage_ports), (profile.inband_hcas, profile.inband_ports)):
        if printed is not None and device in hcas:
            return printed.adapter
    return profile.ports.adapter


def status(job: Launched, hca: Hca) -> list[str]:
    """Return what ibstatus prints of one port of the pod's machine."""
    machine = job.me.machine
    up, ethernet = machine.is_up(hca.name), machine.ethernet
    addressed = up and not ethernet
    rate = hca.rate_gbps if up else RATE_WITHOUT_LINK
    manager = STORAGE_MANAGER_LID if is_storage(machine, hca) else SUBNET_MANAGER_LID
    return [
        f"Infiniband device '{hca.name}' port 1 status:",
        f"\tdefault gid:\t {default_gid(machine, hca)}",
        f"\tbase lid:\t {lid(job.machines, machine, hca) if addressed else 0:#x}",
        f"\tsm lid:\t\t {manager if addressed else 0:#x}",
        f"\tstate:\t\t {'4: ACTIVE' if up else '1: DOWN'}",
        f"\tphys state:\t {'5: LinkUp' if up else '2: Polling'}",
        f"\trate:\t\t {rate} Gb/sec ({SPEEDS[rate]})" if rate in SPEEDS else f"\trate:\t\t {rate} Gb/sec",
        f"\tlink_layer:\t {'Ethernet' if ethernet else 'InfiniBand'}",
        "",
    ]


def ibstatus(words: Sequence[str], job: Launched) -> Printed:
    """Simulate ibstatus: of the ports that it is given, or of all of the machine, since sysfs hides none from a pod."""
    requested = {word.partition(":")[0] for word in words[1:]}
    existing = [hca for hca in in_order(job.me.machine.hcas) if not requested or hca.name in requested]
    if unknown := requested - {hca.name for hca in existing}:
        why = f"Fatal error:  device '{min(unknown)}': sys files not found (/sys/class/infiniband/{min(unknown)}/ports)"
        return Printed((why,), 1, why)
    return Printed(tuple(line for hca in existing for line in status(job, hca)))


def seen(job: Launched, hca: Hca) -> list[tuple[int, str]]:
    """Return GUID and description of every channel adapter that a port sees, its own last as in the Redpaper.

    No host sees ports without a link. Compute ports and storage ports of a machine that has both are two fabrics.
    Switches are two, as in the paper, and one of them aggregates.
    """
    machine = job.me.machine
    storage = is_storage(machine, hca)
    nodes = []
    for node in job.machines:
        if node.profile is None or node.ethernet:
            continue
        ports = node.profile.storage_hcas if storage else node.profile.hcas
        nodes += [
            (guid(node.name, port.name), f"{host(node)} HCA-{number}")
            for number, port in enumerate(ports, 1)
            if node.is_up(port.name)
        ]
    sharing = (node for node in job.machines if node.storage_shared and node.profile)
    if not storage and any(node.profile and not node.profile.storage_hcas for node in sharing):
        nodes += [(guid(server, f"HCA-{port}"), f"{server} HCA-{port}") for server, port in STORAGE]
    nodes.append((guid("switch", "aggregation"), AGGREGATION_NODE))
    own_guid = guid(machine.name, hca.name)
    return sorted(nodes, key=lambda entry: (entry[0] == own_guid, seeded_bits(16, entry[0])))


def ibhosts(words: Sequence[str], job: Launched) -> Printed:
    """Simulate ibhosts -C: it needs a port with a link, and leave to send management datagrams."""
    machine = job.me.machine
    names = [hca.name for hca in in_order(job.me.ports)]
    name = words[words.index("-C") + 1] if "-C" in words[:-1] else (names[0] if names else "(null)")
    hca = machine.hca(name)
    if hca is None or name not in names or machine.ethernet or not (machine.umad_for_all or not job.me.uid):
        lines = tuple(line.format(hca=name) for line in NOT_OPENED)
        return Printed(lines, 1, lines[-1])
    return Printed(tuple(f'Ca\t: {number:#018x} ports 1 "{what}"' for number, what in seen(job, hca)))


def gpu_bus(profile: Profile, gpu: int) -> int:
    """Return the PCI bus of a GPU."""
    return profile.gpu_buses[gpu] if profile.gpu_buses else _FIRST_BUS + gpu


def gpu_address(profile: Profile, gpu: int) -> str:
    """Return the PCI address of a GPU as nvidia-smi prints it, 00000000:06:00.0."""
    return f"00000000:{gpu_bus(profile, gpu):02X}:00.0"


def device_address(profile: Profile, device: Device) -> str:
    """Return the PCI address of an adapter's port as lspci -D prints it, 0000:18:00.0.

    Of adapters that have none in the profile each is on a bus of its own, which is invented.
    """
    if device.pci:
        return device.pci
    taken = {int(hca.pci.split(":")[1], 16) for hca in profile.devices if hca.pci}
    taken |= {gpu_bus(profile, gpu) for gpu in range(profile.gpus)}
    free = [
        number for number in (*range(_FIRST_OF_ADAPTERS, _BUSES), *range(1, _FIRST_OF_ADAPTERS)) if number not in taken
    ]
    unknown = [hca.name for hca in profile.devices if not hca.pci]
    return f"0000:{free[unknown.index(device.name)]:02x}:00.0"


def packet_payload(machine: Machine, hca: str) -> int:
    """Return the bytes of payload that packets of a port have: on Ethernet what fits into its MTU."""
    if not machine.ethernet:
        return RDMA_MTUS[0]
    return next((size for size in RDMA_MTUS if size + AROUND <= machine.mtu(hca)), RDMA_MTUS[-1])


def link_mb_s(machine: Machine, gbps: int, mtu: int) -> float:
    """Return what large messages reach over one port, MB/s of 2^20 bytes, before the spread of a measurement."""
    as_edr = EDR_AVERAGE * gbps / EDR_GBPS
    if machine.ethernet:
        return min(as_edr, gbps * 1e9 / 8 * mtu / (mtu + ROCE_OVERHEAD) / (1 << 20))
    return as_edr


def message_mb_s(size: int, full: float) -> float:
    """Return MB/s of messages of a size; the link's rate for large ones, the adapter's rate of messages for small."""
    sent = size / (full * (1 << 20)) * 1e6
    longer, shorter = max(sent, MESSAGE_US), min(sent, MESSAGE_US)
    # Of two limits the narrower one counts, with a soft corner where they meet.
    return size / (1 << 20) * 1e6 / (longer * math.pow(1 + (shorter / longer) ** 8, 1 / 8))


def message_us(size: int, full: float, ways: int) -> float:
    """Return the us of a message of a size, there (one way) or there and back (two); `full` is the link's MB/s."""
    return LATENCY_US * ways + size / (full * (1 << 20)) * 1e6
