"""The ranks of a job and how NCCL joins them: from what its pods have, and its environment asks for."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from core.apis import nccl as settings
from core.hardware.profiles import Hca, Profile
from toolkit.simulator.performance.job import Launched, Worker

SOCKET_INTERFACE = "eth0"
LEVELS: Mapping[str, int] = {"LOC": 0, "PIX": 1, "PXB": 2, "PHB": 3, "NODE": 3, "SYS": 5}
"""How far apart GPU and HCA may be for GPUDirect; numbers are the old spelling."""
DEFAULT_LEVEL = 2
"""PXB: what NCCL takes without NCCL_NET_GDR_LEVEL, in all versions here."""
FAR = 5
SAME_NODE = 3


@dataclass(frozen=True)
class Nccl:
    """One version. What it prints is learnt from its public source and from logs in issues of NVIDIA/nccl."""

    version: str
    cuda: str
    of_2020: bool
    """`Ring 00 : ...`, HCAs listed backwards as by the verbs library of then, and `error` in nccl-tests."""
    bus_ids: bool = True
    """Of 2020: whether channels name the bus of a GPU, as from 2.5 on; before that they give its number."""


_RELEASES = (
    # Of 19.10 and 20.03 NVIDIA's release notes of TensorFlow; of 2023 what an image prints in NVIDIA/nccl issue 941; of
    # 24.03 and 25.02 general knowledge.
    ((19, 10), Nccl("2.4.8", "10.1", of_2020=True, bus_ids=False)),
    ((20, 3), Nccl("2.6.3", "10.2", of_2020=True)),
    ((23, 3), Nccl("2.17.1", "12.1", of_2020=False)),
    ((24, 3), Nccl("2.20.5", "12.4", of_2020=False)),
    ((25, 2), Nccl("2.25.1", "12.8", of_2020=False)),
)
"""First monthly release of NGC -> what is in it; images between two have the older one's here."""
_MONTH = re.compile(r":.*?(?<![\d.])(\d\d)\.(0[1-9]|1[0-2])(?![\d.])")


def nccl(job: Launched) -> Nccl:
    """Return the NCCL of a job's image, by the month in its tag; for others, which are built today, the newest."""
    match = _MONTH.search(job.image)
    if match is None:
        return _RELEASES[-1][1]
    month = (int(match[1]), int(match[2]))
    fitting = [version for first, version in _RELEASES if first <= month]
    return fitting[-1] if fitting else _RELEASES[0][1]


@dataclass(frozen=True)
class Rank:
    """One rank: a GPU in a process."""

    number: int
    process: int
    worker: Worker
    device: int
    """Number of the GPU in its pod."""
    host: int
    """Number of its pod among those of the communicator: to NCCL every pod is a host."""

    @property
    def gpu(self) -> int:
        """Number of the GPU on the machine."""
        return self.worker.gpus[self.device]


@dataclass(frozen=True)
class Communicator:
    """All ranks of a job."""

    job: Launched
    ranks: tuple[Rank, ...]

    @property
    def version(self) -> Nccl:
        """The NCCL of the image."""
        return nccl(self.job)

    @cached_property
    def hosts(self) -> tuple[Worker, ...]:
        """Pods with ranks, in the order of their first."""
        return tuple({rank.worker.name: rank.worker for rank in self.ranks}.values())

    @cached_property
    def by_host(self) -> tuple[tuple[Rank, ...], ...]:
        """Ranks of each host."""
        return tuple(tuple(rank for rank in self.ranks if rank.host == host) for host in range(len(self.hosts)))

    @property
    def profile(self) -> Profile | None:
        """Machine of the first host."""
        return self.hosts[0].machine.profile if self.hosts else None

    def environment(self, worker: Worker) -> Mapping[str, str]:
        """Return the variables of the processes in a pod."""
        return {**worker.environment, **self.job.environment}

    def variable(self, name: str) -> str | None:
        """Return a variable of the first rank, None where it is not set."""
        return self.environment(self.hosts[0]).get(name) if self.hosts else None

    @cached_property
    def devices(self) -> tuple[tuple[Hca, ...], ...]:
        """HCAs that NCCL uses on each host, in its order."""
        return tuple(self._devices(worker) for worker in self.hosts)

    @property
    def network(self) -> str:
        """`IB` when every host has an HCA, else `Socket`."""
        return "IB" if self.devices and all(self.devices) else "Socket"

    @property
    def mixed(self) -> bool:
        """Whether some hosts have HCAs and others none: their networks cannot be connected."""
        return any(self.devices) and not all(self.devices)

    @property
    def several_hosts(self) -> bool:
        """Whether ranks have to use a network."""
        return len(self.hosts) > 1

    @property
    def channels(self) -> int:
        """Rings that NCCL makes."""
        profile = self.profile
        if len(self.ranks) == 1 or profile is None:
            return 1
        if not self.several_hosts:
            return 12 if profile.nvlink.generation <= 2 else 24  # noqa: PLR2004 - two for each link of a GPU
        if max(map(len, self.by_host)) == 1 or self.network == "Socket":
            return 2
        return max(min(map(len, self.devices)), 1)

    def device(self, rank: Rank, channel: int) -> int:
        """Return NCCL's number of the network device that a rank uses for a channel.

        One GPU takes the HCA that is nearest to it; several share out all of the host.
        """
        devices = self.devices[rank.host]
        if self.network == "Socket":
            return 0
        if len(self.by_host[rank.host]) > 1:
            return channel % len(devices)
        nearest = min(_distance(rank, hca) for hca in devices)
        return next(index for index, hca in enumerate(devices) if _distance(rank, hca) == nearest)

    def gpudirect(self, rank: Rank, device: int) -> bool:
        """Return whether a rank and a network device of its host use GPUDirect."""
        if self.network == "Socket" or not rank.worker.machine.gpudirect:
            return False
        return _distance(rank, self.devices[rank.host][device]) <= self.level(rank.worker)

    def sender(self, rank: Rank, device: int) -> Rank:
        """Return the rank whose GPU sends through a network device what `rank` has to send.

        Since NCCL 2.12 it is the one nearest to the device, if NVLink reaches it (PXN). Receiving has no such detour.
        """
        if self.version.of_2020 or self.network == "Socket":
            return rank
        reached = (other for other in self.by_host[rank.host] if other == rank or joined(rank, other))
        return min(reached, key=lambda other: (self.distance(other, device), other != rank))

    def distance(self, rank: Rank, device: int) -> int:
        """Return how far a rank's GPU is from a network device, as a level of NCCL_NET_GDR_LEVEL."""
        return _distance(rank, self.devices[rank.host][device])

    def level(self, worker: Worker) -> int:
        """Return NCCL_NET_GDR_LEVEL as a number."""
        level = self.environment(worker).get("NCCL_NET_GDR_LEVEL", "").strip()
        if level.isdecimal():
            return min(int(level[:9]), FAR)
        return LEVELS.get(level.upper(), DEFAULT_LEVEL)

    def _devices(self, worker: Worker) -> tuple[Hca, ...]:
        environment = self.environment(worker)
        if environment.get("NCCL_IB_DISABLE", "0") not in ("", "0"):
            return ()
        ports = chosen(worker.ports, environment.get("NCCL_IB_HCA", ""))
        return ports[::-1] if self.version.of_2020 else ports


def chosen(ports: Sequence[Hca], value: str) -> tuple[Hca, ...]:
    """Return the ports that a NCCL_IB_HCA means; `^` in front: those that it does not."""
    excluded = value.startswith("^")
    tests = [means for _, means in settings.hca_list(value.removeprefix("^"))]
    if not tests:
        return tuple(ports)
    return tuple(hca for hca in ports if any(means(hca.name) for means in tests) is not excluded)


def joined(rank: Rank, other: Rank) -> bool:
    """Return whether two GPUs of a machine have NVLink between them; where no document has the matrix, they do."""
    profile = rank.worker.machine.profile
    return profile is None or profile.nvlink.joins(rank.gpu, other.gpu)


def _distance(rank: Rank, hca: Hca) -> int:
    if rank.gpu in hca.gpus and hca.distance:
        return LEVELS[hca.distance]
    profile = rank.worker.machine.profile
    same = profile is not None and any(node.id == hca.numa and rank.gpu in node.gpus for node in profile.numa)
    return SAME_NODE if same else FAR


def communicator(job: Launched, gpus: int = 1) -> Communicator | None:
    """Return the ranks of a job whose processes drive so many GPUs each; None when a pod has not enough GPUs."""
    ranks: list[Rank] = []
    hosts: dict[str, int] = {}
    used: dict[str, int] = {}
    for process, worker in enumerate(job.processes):
        first = used.get(worker.name, 0)
        used[worker.name] = first + gpus
        if used[worker.name] > len(worker.gpus) or not worker.machine.has_driver:
            return None
        host = hosts.setdefault(worker.name, len(hosts))
        ranks += [Rank(process * gpus + i, process, worker, first + i, host) for i in range(gpus)]
    return Communicator(job, tuple(ranks))
