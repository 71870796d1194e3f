"""slurm.conf and what it includes: nodes by their machine, GPUs by their CPUs, and units as switches."""

import re
from collections.abc import Iterator, Sequence

from core.hardware.fabric import unit_of
from core.hardware.hostlist import expanded, folded
from core.hardware.profiles import Profile
from core.hardware.profiles.records import MEMORY_REPORTED
from stacks.settings.site.scheduler import SlurmPartition, SlurmSettings
from stacks.site.site import Site
from toolkit.site.output import File, Open

_MIB = 1024
# As DeepOps' role for Slurm has it (NVIDIA/deepops): cores and memory are consumed, and limits of locked memory
# are the node's own.
_FIXED = """\
SlurmUser=slurm
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
ProctrackType=proctrack/cgroup
TaskPlugin=task/affinity,task/cgroup
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory,CR_CORE_DEFAULT_DIST_BLOCK,CR_ONE_TASK_PER_CORE
PropagateResourceLimitsExcept=MEMLOCK
PrologFlags=Alloc,Serial,Contain
ReturnToService=2
GresTypes=gpu"""
_CGROUP = "ConstrainCores=yes\nConstrainDevices=yes\nConstrainRAMSpace=yes\n"


def files(site: Site, settings: SlurmSettings) -> Iterator[File | Open]:
    """Yield the files that slurmctld and slurmd read."""
    hosts = [host.short for host in site.gpu_hosts]
    machine = next(host.machine for host in site.gpu_hosts if host.machine)
    kind = gpu_type(machine)
    tree = machine.reference_design == "superpod"
    lines = [
        f"ClusterName={site.stack}",
        f"SlurmctldHost={settings.controller}",
        _FIXED,
        *(["TopologyPlugin=topology/tree"] if tree else []),
        f"NodeName={folded(hosts)} Sockets={machine.sockets} CoresPerSocket={machine.cpu_cores // machine.sockets} "
        f"ThreadsPerCore={machine.threads_per_core} RealMemory={int(machine.memory_gib * _MIB * MEMORY_REPORTED)} "
        f"Gres=gpu:{kind}:{machine.gpus} State=UNKNOWN",
        *(_partition(partition, hosts, first=partition is settings.partitions[0]) for partition in settings.partitions),
    ]
    yield File("slurm/slurm.conf", "\n".join(lines) + "\n", sources=("D-5.1",))
    yield File("slurm/gres.conf", _gres(machine, kind), sources=("D-2.6", "D-5.1"))
    yield File("slurm/cgroup.conf", _CGROUP, sources=("D-5.1", "D-5.3"))
    if tree:
        yield File("slurm/topology.conf", _topology(hosts), sources=("D-3.5", "D-3.6"))


def gpu_type(machine: Profile) -> str:
    """Return the type of a machine's GPUs, part of the name by which NVML knows them."""
    match = re.search(r"\b([ABHV]\d+)", machine.gpu_model)
    return match[1].lower() if match else "gpu"


def _partition(partition: SlurmPartition, hosts: Sequence[str], *, first: bool) -> str:
    own = [name for expression in partition.hosts for name in expanded(expression)] or hosts
    return (
        f"PartitionName={partition.name} Nodes={folded(own)} Default={'YES' if first else 'NO'} "
        f"MaxNodes={partition.max_nodes or 'UNLIMITED'} MaxTime={partition.max_minutes or 'INFINITE'} State=UP"
    )


def _gres(machine: Profile, kind: str) -> str:
    """Return the GPUs with the cores beside them: their physical indexes, without the second threads of cores."""
    if not machine.numa:
        return "AutoDetect=nvml\n"
    return "".join(
        f"Name=gpu Type={kind} File=/dev/nvidia[{','.join(map(str, node.gpus))}] "
        f"Cores={_span(sorted(cpu for cpu in node.cpu_set if cpu < machine.cpu_cores))}\n"
        for node in sorted(machine.numa, key=lambda node: node.gpus)
        if node.gpus
    )


def _span(cores: Sequence[int]) -> str:
    whole = list(cores) == list(range(cores[0], cores[-1] + 1))
    return f"{cores[0]}-{cores[-1]}" if whole else ",".join(map(str, cores))


def _topology(hosts: Sequence[str]) -> str:
    """Return one switch for each scalable unit: its eight leaves are planes of it, which Slurm's tree cannot say."""
    units: dict[tuple[int, int], list[str]] = {}
    for index, host in enumerate(hosts):
        units.setdefault(unit_of(index), []).append(host)
    lines = [f"SwitchName=pod{pod}unit{unit} Nodes={folded(own)}" for (pod, unit), own in units.items()]
    names = [f"pod{pod}unit{unit}" for pod, unit in units]
    if len(names) > 1:
        lines.append(f"SwitchName=top Switches={','.join(names)}")
    return "\n".join(lines) + "\n"
