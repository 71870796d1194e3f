"""What tools print of a node's processors, memory and PCI devices, which no container hides: lscpu, numactl, lspci."""

from collections.abc import Iterator, Sequence

from core.apis.names import SIMULATED
from core.hardware import cpus
from core.hardware.adapters import adapter
from core.hardware.profiles import MELLANOX_PCI_VENDOR, NVIDIA_PCI_VENDOR, Device, Profile
from core.hardware.profiles.records import MEMORY_REPORTED
from toolkit.simulator.performance import nvidia_smi, ports
from toolkit.simulator.performance.job import Launched
from toolkit.simulator.performance.ports import device_address, gpu_address
from toolkit.simulator.performance.printed import Printed

MEMINFO, MODULES = "/proc/meminfo", "/proc/modules"
FIRST_PEERMEM = 470
"""First branch of the driver that brings nvidia_peermem; before it Mellanox's nv_peer_mem is there."""
UNKNOWN_SIZE = 16384
"""Bytes of a module that no document prints: the smallest that the kernel shows."""
_MIB_PER_GIB = 1 << 10
_KIB_PER_GIB = 1 << 20
_NEAR, _FAR = 10, 21
"""Distances of NUMA nodes: the kernel's own, and what firmware of two sockets gives."""
UNKNOWN_DEVICE = 0
"""PCI device id of a GPU, which no data here gives."""


def lscpu(_words: Sequence[str], job: Launched) -> Printed:
    """Simulate lscpu; of a machine without a list of NUMA nodes without them."""
    profile = job.me.machine.profile
    if profile is None:
        return _unknown("processors", job)
    rows = [
        ("Architecture", profile.cpu_architecture),
        ("CPU(s)", profile.cpus),
        ("On-line CPU(s) list", f"0-{profile.cpus - 1}"),
        ("Thread(s) per core", profile.threads_per_core),
        ("Core(s) per socket", profile.cpu_cores // profile.sockets),
        ("Socket(s)", profile.sockets),
        *([("NUMA node(s)", len(_nodes(profile)))] if profile.numa else []),
        *([("Model name", profile.cpu_model)] if profile.cpu_model else []),
        *((f"NUMA node{node} CPU(s)", listed) for node, listed, _ in _nodes(profile)),
    ]
    return Printed(tuple(f"{f'{name}:':<36}{value}".rstrip() for name, value in rows))


def numactl(words: Sequence[str], job: Launched) -> Printed:
    """Simulate numactl -H."""
    profile = job.me.machine.profile
    if not {"-H", "--hardware"} & {*words[1:]}:
        return Printed()
    if profile is None or not profile.numa:
        return _unknown("NUMA nodes", job)
    nodes = _nodes(profile)
    numbers = [node for node, _, _ in nodes]
    lines = [f"available: {len(nodes)} nodes ({cpus.write(numbers)})"]
    for node, text, size in nodes:
        listed = " ".join(map(str, sorted(cpus.parse(text)))) if text else ""
        lines += [
            f"node {node} cpus: {listed}".rstrip(),
            f"node {node} size: {size} MB",
            f"node {node} free: {size} MB",
        ]
    lines += ["node distances:", f"node {' '.join(f'{node:>3}' for node in numbers)}"]
    for row in numbers:
        lines.append(f"{row:>3}: {' '.join(f'{_NEAR if row == other else _FAR:>3}' for other in numbers)}")
    return Printed(tuple(lines))


def cat(words: Sequence[str], job: Launched) -> Printed:
    """Simulate cat of /proc/meminfo; of other files nothing is known."""
    if MEMINFO not in words[1:]:
        return Printed()
    profile = job.me.machine.profile
    if profile is None:
        return _unknown("memory", job)
    total = int(profile.memory_gib * MEMORY_REPORTED * _KIB_PER_GIB)
    return Printed(tuple(f"{f'{name}:':<16}{total:>8} kB" for name in ("MemTotal", "MemFree", "MemAvailable")))


def awk(words: Sequence[str], job: Launched) -> Printed:
    """Simulate awk over /proc/modules, as the program node-report has it: the list of lsmod; of other files nothing."""
    if MODULES not in words[1:]:
        return Printed()
    rows = (f"{name} {size} {used} {by}".rstrip() for name, size, used, by in _modules(job))
    return Printed(("Module                  Size  Used by", *rows))


def _modules(job: Launched) -> Iterator[tuple[str, int, int, str]]:
    """Yield modules with size, references and users; sizes are the Redpaper's where it has them."""
    machine = job.me.machine
    profile = machine.profile
    if profile is None:
        return
    if machine.has_driver:
        by_module = machine.gpudirect and profile.architecture.peer_memory == "nvidia-peermem"
        peer = "nvidia_peermem" if int((machine.driver or "0").partition(".")[0]) >= FIRST_PEERMEM else "nv_peer_mem"
        if by_module:
            yield peer, 13163, 0, ""
        yield "nvidia_uvm", UNKNOWN_SIZE, 0, ""
        yield "nvidia", UNKNOWN_SIZE, 1 + by_module, "nvidia_uvm" + f",{peer}" * by_module
    if machine.hcas:
        yield "mlx5_ib", UNKNOWN_SIZE, 0, ""
        yield "ib_core", UNKNOWN_SIZE, 1, "mlx5_ib"
        yield "mlx5_core", UNKNOWN_SIZE, 1, "mlx5_ib"


def lspci(words: Sequence[str], job: Launched) -> Printed:
    """Simulate lspci, of GPUs and adapters, with -D, -nn, -v and -d VENDOR: as far as these show in them."""
    profile = job.me.machine.profile
    if profile is None:
        return _unknown("PCI devices", job)
    letters = "".join(word[1:] for word in words[1:] if word.startswith("-"))
    vendor = next((word.strip(":") for word in words[1:] if word.endswith(":")), "")
    devices: list[tuple[str, str, str, str, int, int | None]] = [
        (device_address(profile, port), MELLANOX_PCI_VENDOR, *_of_port(job, port)) for port in profile.devices
    ]
    for gpu in range(profile.gpus):
        numa = next((node.id for node in profile.numa if gpu in node.gpus), None)
        address = gpu_address(profile, gpu)[4:].lower()
        kind = "3D controller [0302]"
        devices.append((address, NVIDIA_PCI_VENDOR, kind, "NVIDIA Corporation Device", UNKNOWN_DEVICE, numa))
    lines = []
    for address, owner, kind, name, device, numa in sorted(devices, key=lambda device_row: device_row[0]):
        if vendor and owner != vendor:
            continue
        shown = address if "D" in letters or not address.startswith("0000:") else address[5:]
        numbers = f" [{owner}:{device:04x}]" if "nn" in letters else ""
        lines.append(f"{shown} {kind if 'nn' in letters else kind.partition(' [')[0]}: {name}{numbers}")
        if "v" in letters:
            lines += [f"\tNUMA node: {numa}", ""] if numa is not None else [""]
    return Printed(tuple(lines))


def _of_port(job: Launched, port: Device) -> tuple[str, str, int, int]:
    chip = adapter(ports.adapter_model(job.me.machine, port))
    kind = "Ethernet controller [0200]" if ports.link_layer(job.me.machine, port) == "Ethernet" else None
    return kind or "Infiniband controller [0207]", f"Mellanox Technologies {chip.lspci}", chip.ca_type, port.numa


def _nodes(profile: Profile) -> list[tuple[int, str, int]]:
    """Return each NUMA node with its CPUs and its memory, MiB; a GPU's own memory is one without CPUs."""
    of_gpu = nvidia_smi.memory_mib(profile)
    whole = int(profile.memory_gib * MEMORY_REPORTED * _MIB_PER_GIB) - of_gpu * len(profile.gpu_memory_nodes)
    documented = sum(node.memory_gib or 0 for node in profile.numa) * _MIB_PER_GIB
    nodes = [
        (
            node.id,
            node.cpus,
            int(whole * node.memory_gib * _MIB_PER_GIB / documented) if node.memory_gib else whole // len(profile.numa),
        )
        for node in profile.numa
    ]
    return sorted([*nodes, *((node, "", of_gpu) for node in profile.gpu_memory_nodes)])


def _unknown(what: str, job: Launched) -> Printed:
    profile = job.me.machine.profile
    return Printed((f"{SIMULATED}: no document gives the {what} of {profile.name if profile else 'this node'}",))
