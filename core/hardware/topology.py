"""Views of a machine's topology: which port for which GPU, which CPUs for whom."""

from collections.abc import Iterable
from itertools import chain
from typing import get_args

from pydantic import Field

from core.apis.nccl import GdrLevel
from core.hardware import cpus
from core.hardware.placement import Reserve
from core.hardware.profiles import Hca, Profile
from core.model import Model

PAGEPOOL_PART = 4
"""The Redpaper's pagepool is 128 GiB of 512: a quarter of the memory."""
SYSTEM_GIB, SYSTEM_PART = 16, 32
"""Memory that a node reserves for itself beside the pagepool: 16 GiB, on larger machines a 32nd part; a choice.

Firmware and kernel take 1.7 % of the nominal memory (public Slurm configurations of machines with eight GPUs have
RealMemory 515600 and 1031736 MiB of 512 and 1024 GiB), the kubelet 1.1 GiB, and DaemonSets ask for one or two more.
"""
SYSTEM_CPUS = Reserve().cpus
DAEMON_CPUS = 4
"""CPUs that GPU pods leave beside the kubelet's reserved ones: for DaemonSets, launchers, helpers; a choice."""
_HOST_BRIDGES = ("PHB", "NODE")
"""Paths that NCCL counts as PHB: over the host bridges of one NUMA node."""
LEAST_DAEMON_CPUS = 1
"""What the DaemonSets of OpenShift and the operators ask for on a GPU node, about half a CPU, as whole CPUs."""


class Rail(Model):
    """A plane of the fabric: HCA i of every machine is on plane i, and traffic of one plane stays on it."""

    index: int = Field(ge=0, description="number of the plane")
    hca: Hca

    @property
    def name(self) -> str:
        """A name for its interface that is the same on every machine, and that the kernel gives to none: rail0."""
        return f"rail{self.index}"


def rails(profile: Profile) -> tuple[Rail, ...]:
    """Return the planes that a machine is on; none if its ports have no names."""
    return tuple(Rail(index=index, hca=hca) for index, hca in enumerate(profile.hcas))


def nearest_hcas(profile: Profile, gpu: int) -> tuple[Hca, ...]:
    """Return the ports next to a GPU, in the order of the rails; none if no document says which.

    Raises ValueError for a GPU that the machine does not have.
    """
    if not 0 <= gpu < profile.gpus:
        raise ValueError(f"{profile.name} has the GPUs 0-{profile.gpus - 1}, not {gpu}")
    return tuple(hca for hca in profile.hcas if gpu in hca.gpus)


def gpudirect_level(profile: Profile) -> GdrLevel:
    """Return the NCCL_NET_GDR_LEVEL at which each GPU may use GPUDirect with the ports nearest to it.

    PIX where one bridge lies between. Where there are two, PIX would turn GPUDirect off: there it is PXB, and PHB where
    host bridges are between some GPU and its nearest port, which NCCL's default, PXB, excludes.
    Raises ValueError for a machine of which no document says how far its ports are, and for one with GPUs that reach
    every port over the link between sockets only.
    """
    distances = {hca.distance for hca in profile.hcas if hca.gpus and hca.distance is not None}
    if far := out_of_reach(profile):
        raise ValueError(
            f"{profile.name}: GPU {', '.join(map(str, far))} reach every port over the link between sockets only"
        )
    if not distances:
        raise ValueError(f"{profile.name}: no port is known to be next to a GPU; set it in `ports` (gpus, distance)")
    levels: tuple[GdrLevel, ...] = get_args(GdrLevel)
    least = levels.index("PHB" if distances & {*_HOST_BRIDGES} else "PXB" if "PXB" in distances else "PIX")
    if not _has_paths(profile):
        return levels[least]
    return next((level for level in levels[least:] if len(_gpus_within(profile, level)) == profile.gpus), "PHB")


def out_of_reach(profile: Profile) -> tuple[int, ...]:
    """Return the GPUs that no port can reach by GPUDirect; none where no document gives the paths.

    A GPU with NVLink to one that has a port uses that (PXN). On Grace processors NVLink-C2C joins GPUs and ports, which
    the matrix does not show.
    """
    if not _has_paths(profile) or profile.cpu_architecture == "aarch64":
        return ()
    return tuple(sorted({*range(profile.gpus)} - _gpus_within(profile, "PHB")))


def _has_paths(profile: Profile) -> bool:
    """Return whether the path of each port to each GPU is known."""
    return bool(profile.hcas) and all(hca.distances for hca in profile.hcas)


def _gpus_within(profile: Profile, level: GdrLevel) -> set[int]:
    """Return the GPUs that have a port within a level, or NVLink to one that has."""
    within = {"PIX": ("PIX",), "PXB": ("PIX", "PXB"), "PHB": ("PIX", "PXB", *_HOST_BRIDGES)}[level]
    gpus = {gpu for hca in profile.hcas for gpu, path in enumerate(hca.distances) if path in within}
    return gpus | {gpu for gpu in range(profile.gpus) if any(profile.nvlink.joins(gpu, other) for other in gpus)}


def nccl_ib_hca(hcas: Iterable[Hca]) -> str:
    """Return the NCCL_IB_HCA that means exactly these ports.

    The sign in front makes NCCL compare whole names: mlx5_1 alone also means mlx5_10. Raises ValueError for no ports,
    since NCCL takes an empty value for all of them.
    """
    names = [hca.name for hca in hcas]
    if not names:
        raise ValueError("NCCL_IB_HCA without a port means every port; name at least one")
    return "=" + ",".join(names)


def cpus_without_gpus(profile: Profile) -> frozenset[int]:
    """Return the logical CPUs of the NUMA nodes without a GPU; none where every node has one."""
    return frozenset(cpu for node in profile.numa if not node.gpus for cpu in node.cpu_set)


def reserved_cpus(profile: Profile, count: int = SYSTEM_CPUS) -> str:
    """Return `count` logical CPUs for the system and the Scale daemon, as reservedSystemCPUs of a KubeletConfig.

    Whole cores. From NUMA nodes without GPUs, the one with the storage ports first; where every node has GPUs,
    equally from all. Raises ValueError for a count that is not a number of whole cores or more than there is, and for a
    machine without a NUMA map.
    """
    if not profile.numa:
        raise ValueError(f"{profile.name}: no document gives its NUMA nodes; leave the CPU and Topology Managers off")
    cores, remainder = divmod(count, profile.threads_per_core)
    if remainder or cores < 1:
        raise ValueError(f"reserve whole cores of {profile.threads_per_core} CPUs, at least one, not {count} CPUs")
    with_storage = {hca.numa for hca in profile.storage_hcas}
    free = sorted((node for node in profile.numa if not node.gpus), key=lambda node: node.id not in with_storage)
    queues = [sorted(cpu for cpu in node.cpu_set if cpu < profile.cpu_cores) for node in free or profile.numa]
    chosen = tuple(chain.from_iterable(queues if free else zip(*queues, strict=True)))
    if cores > len(chosen):
        raise ValueError(f"{profile.name} has {len(chosen) * profile.threads_per_core} CPUs to reserve, not {count}")
    siblings = range(0, profile.cpus, profile.cpu_cores)
    return cpus.write(core + sibling for core in chosen[:cores] for sibling in siblings)


def pagepool_gib(profile: Profile) -> int:
    """Return the Scale pagepool for this machine, GiB: the part of its memory that the Redpaper gives."""
    return profile.memory_gib // PAGEPOOL_PART


def system_gib(profile: Profile) -> int:
    """Return the memory that this machine reserves for itself beside a pagepool, GiB."""
    return max(SYSTEM_GIB, profile.memory_gib // SYSTEM_PART)


def reserve(profile: Profile, *, pagepool: bool = True, kubelet_reserved: int = 0) -> Reserve:
    """Return what this machine reserves from its pods; `pagepool`: it is a Spectrum Scale client.

    On a machine with NUMA nodes without GPUs these nodes' CPUs: a pod that got some of them would not have its CPUs
    beside its GPUs. They are left for daemons, launchers and the Scale daemon. `kubelet_reserved` CPUs are not pod's,
    so daemons need some more than those.
    """
    scale = pagepool_gib(profile) if pagepool else 0
    daemons = kubelet_reserved + DAEMON_CPUS if kubelet_reserved else 0
    system = len(cpus_without_gpus(profile)) or SYSTEM_CPUS
    return Reserve(cpus=max(system, daemons), memory_gib=scale + system_gib(profile))


def least_reserve(profile: Profile, kubelet_reserved: int = 0) -> Reserve:
    """Return what the machine must reserve, or no pod with all its GPUs ever fits beside the DaemonSets.

    `kubelet_reserved` are the CPUs of the KubeletConfig; without one OpenShift reserves half a CPU.
    """
    return Reserve(cpus=max(kubelet_reserved, 1) + LEAST_DAEMON_CPUS, memory_gib=system_gib(profile))
