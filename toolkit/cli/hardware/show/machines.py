"""The GPU nodes of a stack: what they have, what they reserve for themselves, and how their ports lie to their GPUs."""

from collections.abc import Iterator
from itertools import combinations

from core.apis.kinds import MPI_JOB_V2BETA1
from core.hardware import topology
from core.hardware.gpus import Architecture
from core.hardware.measured import training
from core.hardware.placement import share
from core.hardware.profiles import Hca, Ports, Profile
from core.hardware.profiles.facts import Processor
from stacks.layers import fabric
from stacks.settings.platform import Settings
from stacks.settings.resolved_pool import Pool
from toolkit.cli.hardware.show.section import Cell, Row, Section, calculated


def machines(pool: Pool) -> Section:
    """Return number and parts of the machines, what each reserves, and what a job gets with one GPU."""
    profile, kept, notes = pool.machine, pool.reserved, list[str]()
    kubelet = pool.tuning.kubelet if pool.tuning else None
    part = calculated(notes, share, profile, 1, kept)
    row: Row = {
        "machine": profile.name,
        "model": profile.model,
        "machines": len(pool.nodes),
        "GPUs of each": profile.gpus,
        "GPUs": profile.gpus * len(pool.nodes),
        "GPU": profile.gpu_model,
        "compute ports of each": _ports(profile.ports),
        "storage ports of each": _ports(profile.storage_ports) if profile.storage_ports else "the compute ports",
        "logical CPUs": profile.cpus,
        "memory, GiB": profile.memory_gib,
        "reserved CPUs": kept.cpus,
        "reserved memory, GiB": kept.memory_gib,
        "Scale pagepool, GiB": topology.pagepool_gib(profile) if pool.has_scale_clients else None,
        "reserved CPUs of the kubelet": calculated(
            notes, topology.reserved_cpus, profile, kubelet.reserved if kubelet else topology.SYSTEM_CPUS
        ),
        "a job's CPUs for each GPU": part.cpus if part else None,
        "a job's memory for each GPU, GiB": part.memory_gib if part else None,
    }
    if profile.numa and kubelet is None:
        notes.append(
            "the setting tuning.kubelet reserves no CPUs for the system; those above are what it could reserve"
        )
    if pool.reserve:
        notes.append("what is reserved is as the setting reserve has it; the pagepool follows from the machine alone")
    return Section("Machines", (row,), tuple(notes))


def gpus(profile: Profile) -> Section:
    """Return the figures of a GPU, as far as documents give them."""
    gpu, link = profile.gpu, profile.nvlink
    row: Row = {
        "GPU": gpu.model,
        "architecture": gpu.architecture,
        "memory, GB": gpu.memory_gb,
        "memory, GB/s": gpu.memory_gbs,
        "SMs": gpu.sms,
        "highest clock of the SMs, MHz": gpu.most_sm_mhz,
        "highest clock of memory, MHz": gpu.most_memory_mhz,
        "L2 cache, KiB": gpu.l2_kib,
        "shared memory of a block, KiB": gpu.shared_memory_kib,
        "power limit, W": gpu.watts,
        "NVLink": f"generation {link.generation}, {link.shape}",
        "NVLink both ways, GB/s": link.gbs,
        "TF32": "yes" if profile.architecture.has_tf32 else "no",
        "tensor cores": ", ".join(profile.architecture.tensor_precisions) or None,
        "tensor cores against the generation before": _factors(profile.architecture),
        "MIG instances": gpu.mig_instances,
    }
    return Section("GPU", (row,), source="D-2.1, D-2.3")


def _factors(architecture: Architecture) -> str | None:
    factors = [f"{factor} x in {use}" for use, factor in architecture.tensor_factors.items()]
    factors += [f"{architecture.sparsity} x on sparse matrices"] if architecture.sparsity > 1 else []
    return ", ".join(factors) or None


def chassis(profile: Profile) -> Section | None:
    """Return what a machine is beyond its GPUs and ports; None: no document has it."""
    facts = profile.facts
    if facts is None:
        return None
    cpu, supplies = facts.processor or Processor(), facts.supplies
    clocks = [f"{mhz:,}" if mhz else "-" for mhz in (cpu.least_mhz, cpu.base_mhz, cpu.boost_mhz)]
    row: Row = {
        "machine": profile.name,
        "system as delivered": facts.system,
        "processor": profile.cpu_model,
        "lowest, base and highest clock, MHz": " / ".join(clocks) if cpu.base_mhz else None,
        "cTDP of a processor, W": cpu.watts,
        "L2 cache of a core, KiB": cpu.l2_kib,
        "L3 cache of a processor, KiB": cpu.l3_kib,
        "NUMA nodes of a socket": cpu.numa_nodes,
        "PCIe generation": cpu.pcie_generation,
        "between sockets": cpu.links,
        "local disks": ", ".join(f"{disk.count} x {disk.gb:,} GB {disk.kind} ({disk.use})" for disk in facts.disks)
        or None,
        "drive bays": facts.bays,
        "PCIe slots": facts.slots,
        "power supplies": f"{supplies.count} of {supplies.watts:,} W, {supplies.spare} to spare" if supplies else None,
        "fans": facts.fans,
        "room, degrees Celsius": f"{facts.celsius[0]} to {facts.celsius[1]}" if facts.celsius else None,
    }
    return Section("Chassis", ({key: value for key, value in row.items() if value is not None},), source=facts.source)


def published(profile: Profile) -> Section | None:
    """Return how published trainings scale, where the machine's document compares itself with them."""
    if profile.reference_design != "supermicro":
        return None
    base = training.submission()
    rows: list[Row] = [
        {
            "benchmark": name,
            "id": row.id,
            "system": row.system,
            "GPUs": row.accelerators,
            "minutes": f"{row.minutes[name]:g}",
            "efficiency": f"{efficiency:.0%}",
        }
        for name in base.minutes
        for row in training.MLPERF
        if (efficiency := training.efficiencies(name).get(row.id)) is not None
    ]
    note = (
        f"efficiency against {base.id}, {base.system} with {base.accelerators} GPUs: fewer minutes on more GPUs; "
        "larger systems also train with other parameters"
    )
    return Section("Published minutes of MLPerf v0.6", tuple(rows), (note,), source="S-3.3")


def _ports(ports: Ports) -> str:
    return f"{ports.count} of {ports.rate_gbps} Gb/s ({ports.adapter})"


def rails(pool: Pool) -> Section:
    """Return which port is on which plane of the fabric, and near to which GPUs."""
    profile = pool.machine
    if not profile.hcas:
        note = f"no document names the {profile.ports.count} ports of {profile.name}; the setting `ports` can"
        return Section("Ports", (), (note,), source="D-3.6")
    renamed = pool.tuning is not None and pool.tuning.rail_names
    rows = [_port(rail.index, rail.name if renamed else rail.hca.netdev, rail.hca) for rail in topology.rails(profile)]
    rows += [_port("storage", hca.netdev, hca) for hca in profile.storage_hcas]
    return Section("Ports", tuple(rows), tuple(_notes(pool, renamed=renamed)), source="D-3.6")


def _notes(pool: Pool, *, renamed: bool) -> Iterator[str]:
    profile = pool.machine
    if pool.fabric.kind != "infiniband" and profile.link_layer == "InfiniBand" and not pool.named_ports:
        names = "rails' names and PCI addresses apply" if renamed else "the setting `ports` gives others"
        yield f"names are those of InfiniBand mode, and the fabric is {pool.fabric.kind}; {names}"
    alone = [gpu for gpu in range(profile.gpus) if not topology.nearest_hcas(profile, gpu)]
    if alone:
        yield f"no port is known to be near to the GPUs {', '.join(map(str, alone))}"
    for hca, other in combinations(profile.hcas, 2):
        # Ports at one bridge have the same GPUs there, and ports at different ones have none in common.
        shared = sorted({*hca.gpus} & {*other.gpus})
        if shared and hca.distance == other.distance and {*hca.gpus} != {*other.gpus}:
            yield (
                f"{hca.name} and {other.name} are both near to the GPUs {', '.join(map(str, shared))}, and not to the "
                "same GPUs: compare `gpus` with `nvidia-smi topo -m`"
            )


def _port(rail: int | str, interface: str | None, hca: Hca) -> Row:
    return {
        "rail": rail,
        "HCA": hca.name,
        "interface": interface,
        "NUMA": hca.numa,
        "GPUs near": hca.gpus,
        "path": hca.distance if hca.gpus else "none",
        "PCI": hca.pci,
    }


def _level(notes: list[str], pool: Pool) -> Cell:
    """Return the level of jobs that name no transport."""
    if far := topology.out_of_reach(pool.machine):
        listed = ", ".join(map(str, far))
        notes.append(f"jobs use no GPUDirect: GPU {listed} reach every port over the link between sockets only")
        return pool.transport.environment(words=True)["NCCL_NET_GDR_LEVEL"]
    return calculated(notes, topology.gpudirect_level, pool.machine)


def nccl(pool: Pool, settings: Settings) -> Section:
    """Return NCCL's variables for the ports."""
    notes: list[str] = []
    variables: dict[str, Cell]
    if pool.uses_rdma:
        variables = {
            "NCCL_NET_GDR_LEVEL": _level(notes, pool),
            "NCCL_IB_HCA": calculated(notes, topology.nccl_ib_hca, pool.hcas),
        }
    else:
        variables = dict(pool.transport.environment(words=True))
    kind = settings.version.mpi_job
    if pool.uses_rdma and kind is not None and kind.version != MPI_JOB_V2BETA1.version:
        notes.append(f"jobs of {kind.version} get the level as a number, and no NCCL_IB_HCA, as in 2020")
    return Section("NCCL", (variables | fabric.environment(pool, settings),), tuple(notes))
