"""How a node differs from its machine file. Pure functions."""

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from core.hardware import cpus
from core.hardware.gpus import labelled
from core.hardware.profiles import Profile
from toolkit.cli.hardware import nvlinks, port_comparison
from toolkit.cli.hardware.assembly import numa_of_gpus
from toolkit.cli.hardware.facts import NODE, Facts
from toolkit.cli.hardware.port_comparison import Difference, NotCompared

_KIB_PER_GIB = 1 << 20
_MIB_PER_GIB = 1 << 10
LEAST_MEMORY = 0.97
"""Part of `memory_gib` that Linux reports at least: firmware and kernel keep up to 1.7 % (`MEMORY_REPORTED`), and a
module that is lost is 3 % where there are 32."""
_NONE = "no such node"
_FALLEN = "Look for a GPU that has left the bus (`dmesg | grep -i xid`, `lspci -d 10de:`) and reset or replace it"
_FIRMWARE = "Set SMT and the NUMA nodes of a socket (SNC, NPS) in the firmware as on the other nodes, or correct `numa`"


class Comparison(NamedTuple):
    """What was found."""

    differences: list[Difference]
    unknown: list[NotCompared]


def compare(machine: Profile, facts: Facts) -> Comparison:
    """Return the differences between a node and its machine, and what the node's outputs do not show."""
    results = [*_gpus(machine, facts), *_processors(machine, facts), *_memory(machine, facts)]
    results += port_comparison.compare(machine, facts)
    return Comparison(
        [result for result in results if isinstance(result, Difference)],
        [result for result in results if isinstance(result, NotCompared)],
    )


def _gpus(machine: Profile, facts: Facts) -> Iterator[Difference | NotCompared]:
    count = facts.get(NODE, "number of GPUs")
    if count is None:
        yield NotCompared("GPUs", "neither nvidia-smi nor lspci shows them")
        return
    if count != machine.gpus:
        yield Difference("number of GPUs", machine.gpus, count, f"{_FALLEN}, or correct `gpus`")
    label = labelled(machine.gpu)
    product = facts.get(NODE, "product of the GPUs")
    if product not in (None, label):
        yield Difference(
            "model of the GPUs", label, product, "Name the node's own machine as its `machine`, or its `pool`"
        )
    if count != machine.gpus:
        return
    yield from _places(machine, facts)
    yield from _links(machine, facts)


def _places(machine: Profile, facts: Facts) -> Iterator[Difference | NotCompared]:
    numa_nodes = dict(numa_of_gpus(facts, machine.gpus, facts.cpu_lists()))
    if machine.numa and len(numa_nodes) < machine.gpus:
        yield NotCompared("NUMA nodes of the GPUs", "nvidia-smi topo -m does not give them")
    for node in machine.numa:
        for gpu in node.gpus:
            if numa_nodes.get(gpu, node.id) != node.id:
                yield Difference(
                    f"GPU{gpu}: NUMA node",
                    node.id,
                    numa_nodes[gpu],
                    "Compare firmware settings and the slots of risers with another node, or correct `numa`",
                )
    for gpu, bus in enumerate(machine.gpu_buses):
        address = facts.get(f"GPU{gpu}", "PCI address")
        if address is not None and int(address.split(":")[1], 16) != bus:
            yield Difference(f"GPU{gpu}: PCI bus", f"{bus:02x}", address, f"{_FALLEN}, or correct `gpu_buses`")


def _links(machine: Profile, facts: Facts) -> Iterator[Difference | NotCompared]:
    gpus = range(machine.gpus)
    expected = machine.nvlink.links or [[0] * machine.gpus for _ in gpus if machine.nvlink.shape == "none"]
    if not expected:
        return
    # What is not printed is as expected.
    seen = [[*row] for row in expected]
    for gpu, other in combinations(gpus, 2):
        path = facts.get(f"GPU{gpu}", f"path to GPU{other}")
        if path is not None:
            seen[gpu][other] = seen[other][gpu] = int(path[2:]) if path.startswith("NV") else 0
    for differing in nvlinks.differing(seen, expected):
        yield Difference(
            " to ".join(f"GPU{gpu}" for gpu in differing) + (": NVLinks" if len(differing) == 1 else ""),
            nvlinks.between(expected, differing),
            nvlinks.between(seen, differing),
            "See `nvidia-smi nvlink -s` and the fabric manager's log; reset the GPUs, or replace the board",
        )
    if facts.get("GPU0", "path to GPU1") is None and machine.gpus > 1:
        yield NotCompared("NVLinks", "nvidia-smi topo -m does not show them")


def _processors(machine: Profile, facts: Facts) -> Iterator[Difference | NotCompared]:
    total = facts.get(NODE, "logical CPUs")
    cpu_lists = facts.cpu_lists()
    if total is None and not cpu_lists:
        yield NotCompared("CPUs", "neither lscpu nor numactl -H shows them")
    if total not in (None, machine.cpus):
        yield Difference("logical CPUs", machine.cpus, total, _FIRMWARE)
    expected = {node.id: cpus.write(node.cpu_set) for node in machine.numa}
    for node in sorted((expected.keys() | cpu_lists.keys()) if expected and cpu_lists else ()):
        if expected.get(node) != cpu_lists.get(node):
            yield Difference(
                f"CPUs of NUMA node {node}", expected.get(node, _NONE), cpu_lists.get(node, _NONE), _FIRMWARE
            )


def _memory(machine: Profile, facts: Facts) -> Iterator[Difference | NotCompared]:
    total = facts.get(NODE, "MemTotal, KiB")
    if total is None:
        yield NotCompared("memory", "no /proc/meminfo")
        return
    gib = total / _KIB_PER_GIB
    if gib < machine.memory_gib * LEAST_MEMORY:
        nodes = {name: facts.get(name, "memory, MiB") // _MIB_PER_GIB for name in facts.subjects("memory, MiB")}
        shares = ", ".join(f"{name.removeprefix('NUMA ')} {size}" for name, size in nodes.items())
        yield Difference(
            "memory",
            f"{machine.memory_gib} GiB",
            f"{gib:.0f} GiB" + (f" ({shares})" if shares else ""),
            "Look for a memory module that the firmware has disabled (`dmidecode -t memory`), or correct `memory_gib`",
        )
