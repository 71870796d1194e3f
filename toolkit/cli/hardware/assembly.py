"""A machine file's fields, from the facts of a node."""

from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

from core.hardware import cpus
from core.hardware.gpus import ARCHITECTURES, gpu_of_short_name, labelled
from core.hardware.profiles.records import MELLANOX_PCI_VENDOR, NVIDIA_PCI_VENDOR, Reach
from toolkit.cli.hardware import fabric_ports, nvlinks
from toolkit.cli.hardware.facts import BETWEEN_NUMA, MEMORY, MOST_CPUS, NODE, Fact, Facts, leave_open
from toolkit.cli.hardware.machine_file import MachineFields
from toolkit.cli.hardware.rails import Port

_KIB_PER_GIB = 1 << 20
_MIB_PER_GIB = 1 << 10
_UNEQUAL = 0.05
"""Part by which the sizes of NUMA nodes and MemTotal may differ: the kernel's own memory is in one of them only."""


def assemble(facts: Facts) -> MachineFields:
    """Return the fields of a node; what contradicts itself is left open, with both lines."""
    machine = MachineFields()
    machine.put("model", facts.get(NODE, "machine"), "no label nvidia.com/gpu.machine")
    gpus = facts.get(NODE, "number of GPUs") or None
    machine.put("gpus", gpus, "no output of nvidia-smi with all GPUs")
    _gpu(facts, machine)
    _processors(facts, machine)
    _memory(facts, machine)
    numa = _numa(facts, machine)
    if gpus is None:
        machine.missing |= dict.fromkeys(("nvlink", "link_layer", "ports", "hcas"), "the number of GPUs is not known")
    else:
        nvlinks.put_nvlink(facts, machine)
        if lost := nvlinks.lost_gpus(machine):
            machine.faults.append(lost)
        _ports(facts, machine, numa)
    _vendors(facts, machine)
    for contradiction in facts.contradictions.values():
        leave_open(machine.fields, machine.missing, contradiction)
        machine.contradictions.append(contradiction.text)
    return machine


def _gpu(facts: Facts, machine: MachineFields) -> None:
    label = facts.get(NODE, "product of the GPUs")
    gpu_names = [
        f"{architecture}/{name}"
        for architecture, architecture_gpus in ARCHITECTURES.items()
        for name, gpu in architecture_gpus.gpus.items()
        if labelled(gpu) == label
    ]
    architecture = str(facts.get(NODE, "architecture of the GPUs") or "").lower().partition(" ")[0]
    memory = facts.get(NODE, "memory of a GPU, MiB")
    short = facts.get(NODE, "shortened model of the GPUs") if label is None else None
    if short and memory and (name := gpu_of_short_name(short, memory)):
        gpu_names = [name]
        machine.remarks.append(f"gpu: by the beginning of its name, {short}, and its {memory} MiB")
    if len(gpu_names) == 1:
        machine.fields["gpu"] = gpu_names[0]
    elif label and architecture in ARCHITECTURES and memory:
        machine.fields["gpu"] = {
            "model": facts.get(NODE, "model of the GPUs") or label,
            "architecture": architecture,
            "memory_gb": max(1, memory // _MIB_PER_GIB),
            "memory_mib": memory,
        }
    elif short:
        why = "no GPU of core/hardware/architectures, or several: `nvidia-smi -q` prints the whole name"
        machine.missing["gpu"] = f"{short} with {memory} MiB is {why}"
    else:
        shown = facts.get(NODE, "model of the GPUs") or label
        machine.missing["gpu"] = (
            f"core/hardware/architectures has no {shown}" if label else "no output has the GPUs' model"
        )
    buses = [facts.get(f"GPU{gpu}", "PCI address") for gpu in range(machine.fields.get("gpus", 0))]
    if buses and all(bus is not None and bus.startswith("00000000:") for bus in buses):
        machine.fields["gpu_buses"] = [int(bus.split(":")[1], 16) for bus in buses]


def _processors(facts: Facts, machine: MachineFields) -> None:
    for name, what in (("sockets", "sockets"), ("cpu_model", "CPU model")):
        if facts.get(NODE, what):
            machine.fields[name] = facts.get(NODE, what)
    if (architecture := facts.get(NODE, "CPU architecture")) in ("x86_64", "aarch64"):
        machine.fields["cpu_architecture"] = architecture
    sockets, cores, threads, total = (
        facts.get(NODE, what) for what in ("sockets", "cores of a socket", "threads of a core", "logical CPUs")
    )
    if not (sockets and cores and threads):
        machine.missing["cpu_cores"] = "no output of lscpu"
    elif sockets * cores * threads != (total or sockets * cores * threads) or sockets * cores * threads > MOST_CPUS:
        why = f"lscpu: {total} CPUs are not {sockets} sockets x {cores} cores x {threads} threads"
        machine.missing["cpu_cores"] = why
    else:
        machine.fields |= {"cpu_cores": sockets * cores, "threads_per_core": threads}


def _memory(facts: Facts, machine: MachineFields) -> None:
    sizes = [facts.fact(name, "memory, MiB") for name in facts.subjects("memory, MiB")]
    total = facts.fact(NODE, "MemTotal, KiB")
    summed = sum(size.value for size in sizes if size is not None)
    if total and sizes and sizes[0] and abs(summed * 1024 - total.value) > _UNEQUAL * max(summed * 1024, total.value):
        of_nodes = Fact(f"{summed} MB in the NUMA nodes", sizes[0].place)
        facts.contradict(NODE, MEMORY, total._replace(value=f"MemTotal {total.value} kB"), of_nodes)
    gib = total.value // _KIB_PER_GIB if total else None
    machine.put("memory_gib", gib or None, "no /proc/meminfo")
    if gib and MEMORY not in facts.contradictions:
        machine.remarks.append("memory_gib is MemTotal, which is less than what is installed")


def _numa(facts: Facts, machine: MachineFields) -> dict[int, int]:
    """Set the NUMA nodes, and return that of each GPU, as far as they are known."""
    nodes = {int(name.split()[-1]): facts.fact(name, "CPUs") for name in facts.subjects("CPUs")}
    lists = facts.cpu_lists()
    gpus = dict(numa_of_gpus(facts, machine.fields.get("gpus", 0), lists))
    if not lists:
        affinities = {node: facts.get(f"GPU{gpu}", "CPU affinity") for gpu, node in gpus.items()}
        lists = {node: text for node, text in affinities.items() if text}
    for gpu, node in gpus.items():
        own, whole = facts.fact(f"GPU{gpu}", "CPU affinity"), nodes.get(node)
        if own and own.value and whole and whole.value and not cpus.parse(own.value) <= cpus.parse(whole.value):
            facts.contradict(f"GPU{gpu}", BETWEEN_NUMA, own, whole)
    count = machine.fields.get("cpu_cores", 0) * machine.fields.get("threads_per_core", 0)
    every = sorted(cpu for text in lists.values() for cpu in cpus.parse(text))
    if not lists or every != list(range(count or len(every))):
        machine.missing["numa"] = "no output of lscpu or numactl -H with all nodes"
    elif len(gpus) != machine.fields.get("gpus"):
        machine.missing["numa"] = "nvidia-smi topo -m gives not the NUMA node of each GPU"
    else:
        machine.fields["numa"] = [
            {
                "id": node,
                "cpus": text,
                "gpus": [gpu for gpu, at in gpus.items() if at == node],
                **({"memory_gib": size} if (size := _gib(facts, node)) else {}),
            }
            for node, text in sorted(lists.items())
        ]
    bare = [node for node, fact in nodes.items() if fact is not None and not fact.value and _gib(facts, node)]
    if bare and len(bare) == machine.fields.get("gpus"):
        machine.fields["gpu_memory_nodes"] = sorted(bare)
    return gpus


def numa_of_gpus(facts: Facts, gpus: int, lists: Mapping[int, str]) -> Iterator[tuple[int, int]]:
    """Yield each GPU with its NUMA node, as far as it is known; `lists` are the CPUs of the nodes."""
    for gpu in range(gpus):
        numa, own = facts.get(f"GPU{gpu}", "NUMA affinity"), facts.get(f"GPU{gpu}", "CPU affinity")
        # Nodes without CPUs are printed as well, where the GPUs' memory makes some.
        numa_nodes = {*(cpus.parse(numa) if numa else ())}
        nodes = (
            numa_nodes & lists.keys()
            if lists and numa_nodes
            else numa_nodes or {node for node in lists if lists[node] == own}
        )
        if len(nodes) == 1:
            yield gpu, nodes.pop()


def _gib(facts: Facts, node: int) -> int:
    return (facts.get(f"NUMA node {node}", "memory, MiB") or 0) // _MIB_PER_GIB


def _ports(facts: Facts, machine: MachineFields, numa: dict[int, int]) -> None:
    gpus = machine.fields["gpus"]
    rails = fabric_ports.find(facts, gpus)
    if rails.undecided is not None:
        machine.missing |= dict.fromkeys(("link_layer", "ports"), "the rails are not known")
        machine.missing["hcas"] = rails.undecided
        machine.remarks += [f"may be a rail: {text}" for text in fabric_ports.candidates(facts, rails)]
        machine.remarks += [f"no rail: {name}: {why}" for name, why in rails.no_rails.items()]
        return
    layers = {fabric_ports.link_layer(facts, port.name) for port in rails.ports}
    layer = layers.pop() if len(layers) == 1 else None
    machine.put("link_layer", layer, "no output of ibstat or ibdev2netdev with all rails")
    rates = {fabric_ports.rate(facts, port.name) for port in rails.ports}
    rate = rates.pop() if len(rates) == 1 else None
    adapter = fabric_ports.adapter(facts, rails)
    ports = {"count": len(rails.ports), "rate_gbps": rate, "adapter": adapter} if rate and adapter else None
    machine.put("ports", ports, "no output of ibstat with the rate and the type of all rails")
    machine.fields["hcas"] = fabric_ports.hcas(facts, rails, numa)
    lacking = [name for name in ("rate_gbps", "numa") if any(name not in hca for hca in machine.fields["hcas"])]
    machine.missing |= {f"hcas: {name}": "not known of each port; add it to its entry" for name in lacking}
    if any(hca["netdev"] is None for hca in machine.fields["hcas"]):
        why = "null where no output names the interface (ibdev2netdev); RDMA needs it, unless tuning.rail_names is on"
        machine.missing["hcas: netdev"] = why
    if down := [port.name for port in rails.ports if rate and not facts.get(port.name, "rate, Gb/s")]:
        machine.remarks.append(f"no link: {', '.join(down)}; rate_gbps is that of the ports with the same chip")
    machine.remarks += _reach(rails.ports, gpus, machine.fields.get("nvlink", {}).get("links") or ())
    others = fabric_ports.other_devices(facts, rails, numa, gpus)
    if others:
        machine.fields["other_devices"] = others
        machine.remarks.append(
            "other_devices: move ports for storage to storage_hcas, those of the cluster to inband_hcas"
        )
    if unplaced := sorted(rails.no_rails.keys() - {device["name"] for device in others}, key=fabric_ports.by_number):
        machine.remarks.append(
            f"no output gives the NUMA node of {', '.join(unplaced)} (`lspci -vnn` does): add them to storage_hcas, "
            "inband_hcas or other_devices"
        )


def _reach(ports: Sequence[Port], gpus: int, links: Sequence[Sequence[int]]) -> Iterator[str]:
    """Yield which GPUs have no port next to them, and what that means for GPUDirect."""
    bare = sorted({*range(gpus)} - {gpu for port in ports for gpu in port.gpus})
    near = {gpu for gpu in range(gpus) if any(port.paths[gpu] in get_args(Reach) for port in ports)}
    far = [gpu for gpu in range(gpus) if gpu not in near and not (links and any(links[gpu][other] for other in near))]
    over_bridges = not any(port.nearest for port in ports)
    if over_bridges:
        yield "no port is at PIX or PXB of a GPU: all ports that are alike are taken for compute ports"
    if bare:
        yield f"no port is next to GPU {', '.join(map(str, bare))}"
    if far:
        listed = ", ".join(map(str, far))
        yield f"jobs use no GPUDirect: GPU {listed} reach every port over the link between sockets only"
    elif over_bridges:
        yield "jobs use GPUDirect over host bridges (PHB)"


def _vendors(facts: Facts, machine: MachineFields) -> None:
    labels = [name.split()[-1] for name in facts.subjects("present")]
    seen = [NVIDIA_PCI_VENDOR] * ("gpus" in machine.fields)
    seen += [MELLANOX_PCI_VENDOR] * any(hca["name"].startswith("mlx") for hca in machine.fields.get("hcas", ()))
    machine.put("pci_vendors", labels or seen or None, "no labels of node feature discovery")
