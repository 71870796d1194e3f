"""nvidia-smi topo -m: how the GPUs of a pod and the adapters of its machine are joined."""

from collections.abc import Sequence

from core.apis.names import SIMULATED
from core.hardware.profiles import Device, Profile
from toolkit.simulator.performance import ports

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


def lines(profile: Profile, gpus: Sequence[int], branch: int) -> list[str]:
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
