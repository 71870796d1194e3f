"""What nvidia-smi prints of the GPUs that a pod was given, from its machine's data.

With -q, as text and as XML (-x), each GPU; with topo -m how GPUs and the machine's adapters are joined.
"""

from collections.abc import Iterator, Sequence

from core.apis.names import SIMULATED
from core.hardware.gpus import ARCHITECTURES
from core.hardware.profiles import Device, Profile
from toolkit.simulator.performance import ports
from toolkit.simulator.performance.job import Launched
from toolkit.simulator.performance.ports import gpu_address
from toolkit.simulator.performance.printed import seeded_bits

Entry = tuple[str, str, "str | list[Entry]"]
"""What a value is called in the text and in the XML, and the value, or what belongs to it."""
WIDTH = 38
"""Columns of a name in the text."""
DTD = "nvsmi_device_v13.dtd"
NOT_GIVEN = "N/A"
FIRST_WITH_NUMA, FIRST_WITH_NICS, FIRST_WITH_GPU_NUMA = 450, 515, 530
"""First driver branches that print the column NUMA Affinity, that call adapters NIC0, that print GPU NUMA ID."""
LEGEND = (
    "Legend:",
    "",
    "  X    = Self",
    "  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)",
    "  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node",
    "  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)",
    "  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)",
    "  PIX  = Connection traversing at most a single PCIe bridge",
    "  NV#  = Connection traversing a bonded set of # NVLinks",
)


def as_text(job: Launched, profile: Profile, memory_mib: int, cuda: str) -> list[str]:
    """Return the text form."""
    lines = ["", "==============NVSMI LOG==============", ""]
    lines += [_pair(0, name, value) for name, _, value in _head(job, cuda)]
    lines.insert(-1, "")
    for gpu in job.me.gpus:
        lines += [f"GPU {gpu_address(profile, gpu)}", *_text(_gpu(job, profile, gpu, memory_mib), 1), ""]
    return lines


def as_xml(job: Launched, profile: Profile, memory_mib: int, cuda: str) -> list[str]:
    """Return the XML form, an element a line."""
    lines = ['<?xml version="1.0" ?>', f'<!DOCTYPE nvidia_smi_log SYSTEM "{DTD}">', "<nvidia_smi_log>"]
    lines += _xml(_head(job, cuda), 1)
    for gpu in job.me.gpus:
        lines.append(f'\t<gpu id="{gpu_address(profile, gpu)}">')
        lines += [*_xml(_gpu(job, profile, gpu, memory_mib), 2), "\t</gpu>"]
    return [*lines, "", "</nvidia_smi_log>"]


def _head(job: Launched, cuda: str) -> list[tuple[str, str, str]]:
    return [
        ("Timestamp", "timestamp", f"{job.started:%a %b} {job.started.day:2} {job.started:%H:%M:%S %Y}"),
        ("Driver Version", "driver_version", job.me.machine.driver or "unknown"),
        ("CUDA Version", "cuda_version", cuda),
        ("Attached GPUs", "attached_gpus", str(len(job.me.gpus))),
    ]


def uuid(machine: str, gpu: int) -> str:
    """Return the UUID of a machine's GPU, GPU-6f1b..., which is invented."""
    digits = f"{seeded_bits(128, machine, 'gpu', gpu):032x}"
    return "GPU-" + "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _gpu(job: Launched, profile: Profile, gpu: int, memory_mib: int) -> list[Entry]:
    address = gpu_address(profile, gpu)
    mode = "Disabled" if profile.gpu.mig_instances else NOT_GIVEN
    watts = f"{profile.gpu.watts}.00 W" if profile.gpu.watts else NOT_GIVEN
    return [
        ("Product Name", "product_name", profile.gpu.model),
        ("Product Brand", "product_brand", ARCHITECTURES[profile.gpu.architecture].brand),
        ("Product Architecture", "product_architecture", profile.gpu.architecture.capitalize()),
        ("Persistence Mode", "persistence_mode", "Enabled"),
        ("MIG Mode", "mig_mode", [("Current", "current_mig", mode), ("Pending", "pending_mig", mode)]),
        ("GPU UUID", "uuid", uuid(job.me.machine.name, gpu)),
        ("Minor Number", "minor_number", str(gpu)),
        ("PCI", "pci", [("Bus", "pci_bus", f"0x{address[9:11]}"), ("Bus Id", "pci_bus_id", address)]),
        (
            "FB Memory Usage",
            "fb_memory_usage",
            [
                ("Total", "total", f"{memory_mib} MiB"),
                ("Used", "used", "0 MiB"),
                ("Free", "free", f"{memory_mib} MiB"),
            ],
        ),
        ("GPU Power Readings", "gpu_power_readings", [("Current Power Limit", "current_power_limit", watts)]),
        ("Processes", "processes", "None"),
    ]


def _text(entries: list[Entry], depth: int) -> Iterator[str]:
    for name, _, value in entries:
        if isinstance(value, str):
            yield _pair(depth, name, value)
        else:
            yield f"{'    ' * depth}{name}"
            yield from _text(value, depth + 1)


def _pair(depth: int, name: str, value: str) -> str:
    return f"{'    ' * depth + name:<{WIDTH}}: {value}"


def _xml(entries: "list[Entry] | list[tuple[str, str, str]]", depth: int) -> Iterator[str]:
    indent = "\t" * depth
    for _, tag, value in entries:
        if isinstance(value, str):
            yield f"{indent}<{tag}>{value}</{tag}>"
        else:
            yield f"{indent}<{tag}>"
            yield from _xml(value, depth + 1)
            yield f"{indent}</{tag}>"


def topology_matrix(profile: Profile, gpus: Sequence[int], branch: int) -> list[str]:
    """Return what is printed of a pod's GPUs, numbered from 0 in it, and of all adapters of the machine."""
    if not profile.numa or not (profile.nvlink.links or profile.nvlink.shape == "none"):
        return [f"{SIMULATED}: no document gives the matrix of {profile.name}"]
    hcas = ports.in_order(profile.devices)
    nics = branch >= FIRST_WITH_NICS
    names = [f"GPU{index}" for index, _ in enumerate(gpus)]
    adapters = [f"NIC{index}" if nics else hca.name for index, hca in enumerate(hcas)]
    head = [*names, *adapters, "CPU Affinity"]
    head += ["NUMA Affinity"] * (branch >= FIRST_WITH_NUMA) + ["GPU NUMA ID"] * (branch >= FIRST_WITH_GPU_NUMA)
    rows = ["\t" + "\t".join(head)]
    for name, gpu in zip(names, gpus, strict=True):
        cells = [_between_gpus(profile, gpu, other) for other in gpus] + [_to_hca(profile, gpu, hca) for hca in hcas]
        rows.append(_row(name, [*cells, *_affinity(profile, gpu, branch)]))
    for name, hca in zip(adapters, hcas, strict=True):
        cells = [_to_hca(profile, gpu, hca) for gpu in gpus] + [_between_hcas(profile, hca, other) for other in hcas]
        rows.append(_row(name, cells))
    printed = [*rows, "", *LEGEND]
    if nics:
        printed += ["", "NIC Legend:", "", *(f"  {name}: {hca.name}" for name, hca in zip(adapters, hcas, strict=True))]
    return printed


def _row(name: str, cells: Sequence[str]) -> str:
    return "\t".join((name, *(f" {cell} " if cell == "X" else cell for cell in cells)))


def _numa(profile: Profile, gpu: int) -> int:
    return next(node.id for node in profile.numa if gpu in node.gpus)


def _affinity(profile: Profile, gpu: int, branch: int) -> list[str]:
    node = next(node for node in profile.numa if gpu in node.gpus)
    printed = [node.cpus]
    if branch >= FIRST_WITH_NUMA:
        printed.append(str(node.id))
    if branch >= FIRST_WITH_GPU_NUMA:
        printed.append("N/A")
    return printed


def _between_gpus(profile: Profile, gpu: int, other: int) -> str:
    if gpu == other:
        return "X"
    if profile.nvlink.links and (bonded := profile.nvlink.links[gpu][other]):
        return f"NV{bonded}"
    return "NODE" if _numa(profile, gpu) == _numa(profile, other) else "SYS"


def _to_hca(profile: Profile, gpu: int, hca: Device) -> str:
    if hca.distances:
        return hca.distances[gpu]
    if gpu in hca.gpus and hca.distance:
        return hca.distance
    return "PHB" if _numa(profile, gpu) == hca.numa else "SYS"


def _between_hcas(profile: Profile, port: Device, other: Device) -> str:
    """Return how two ports are joined: of one card, below the same bridges, or as their NUMA nodes are."""
    if port == other:
        return "X"
    if port.pci and other.pci and port.pci.rpartition(".")[0] == other.pci.rpartition(".")[0]:
        return "PIX"
    if port.distance and set(port.gpus) & set(other.gpus):
        return port.distance
    return ("NODE" if any(hca.distances for hca in profile.hcas) else "PHB") if port.numa == other.numa else "SYS"
