"""How long a collective takes: the Redpaper's curves, and what other machines, networks and faults make of them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from core.apis.nccl import bus_factor
from core.hardware.measured import NVLINK_COLLECTIVES
from toolkit.simulator.performance.communicator import Communicator
from toolkit.simulator.performance.curves import CURVES, NVLINK, Curve, Segment
from toolkit.simulator.performance.printed import seeded

PAPER_HCAS, PAPER_GBPS, PAPER_NVLINK_GBS = 4, 100, 300
PAPER_RANKS_PER_HCA = 2
"""Of one-GPU pods: eight on a node, four HCAs."""


@dataclass(frozen=True)
class Effect:
    """A figure that no table of the Redpaper gives, with where it is from."""

    name: str
    value: float
    meaning: str
    source: str


NO_GPUDIRECT = Effect(
    "no GPUDirect", 0.8, "bandwidth between nodes, of that with GPUDirect", "assumed: two more copies over PCIe"
)
ROCE = Effect(
    "RoCE", 0.926, "bandwidth between nodes, of the port's rate", "1024 bytes of payload in a packet of 1106 bytes"
)
MORE_NODES = Effect(
    "more than two nodes", 0.81, "bandwidth between nodes, of that of two", "NVIDIA/nccl issue 307: 47 and 58 GB/s"
)
ACS = Effect(
    "ACS on a PCIe bridge",
    0.5,
    "bandwidth between nodes, of that without",
    "assumed; NCCL's troubleshooting guide calls it a significant reduction",
)
PER_DOUBLING_US = Effect("each doubling of nodes", 6.0, "latency added, us", "assumed")
ETHERNET_GBPS = Effect("pod network of an InfiniBand machine", 10.0, "rate, Gb/s", "assumed; no document gives it")
TCP = Effect("TCP", 0.6, "bandwidth, of the rate", "assumed: an overlay with an MTU of 1450, one CPU a stream")
TCP_LATENCY_US = Effect(
    "TCP latency",
    1100.0,
    "us, all-reduce of two nodes",
    'the Redpaper: "thousands of us" mean Ethernet and not InfiniBand',
)
FEWER_STEPS = Effect(
    "other primitives", 0.5, "latency, of that of all-reduce", "one of its two halves (reduce-scatter, all-gather)"
)
ALONE_US = Effect("one rank", 6.0, "latency, us", "assumed: a copy on the GPU")
EFFECTS = (
    *(NO_GPUDIRECT, ACS, ROCE, MORE_NODES, PER_DOUBLING_US, ETHERNET_GBPS, TCP, TCP_LATENCY_US, FEWER_STEPS, ALONE_US),
)
CLASSES = (64 * 1024, 16 * 2**20)
"""Largest sizes, bytes, of those whose time is latency for the most part, and of those in between."""
SPREADS: Mapping[str, tuple[float, float, float]] = MappingProxyType(
    {"1x8": (0.061, 0.022, 0.005), "2x8": (0.075, 0.046, 0.009), "16x1": (0.031, 0.019, 0.002)}
)
"""Layout -> relative standard deviation of a time in each class and above: the tables' own, in against out of place."""
MOST_DEVIATIONS = 2.0
"""How far a figure may be off: further ones would show a fault that does not exist."""


def segment(curve: Curve, size: int) -> Segment:
    """Return the segment of a curve that a size is in."""
    return next((part for part in curve if size <= part.up_to), curve[-1])


def curve_us(curve: Curve, size: int) -> float:
    """Return the time of a size on a curve, us: between two segments that of the quicker, which NCCL would choose."""
    at = next((at for at, part in enumerate(curve) if size <= part.up_to), len(curve) - 1)
    own = curve[at].us(size)
    return min(own, curve[at - 1].us(size)) if at and size < curve[at].least else own


def nvlink_curve(test: str) -> str:
    """Return the collective whose curve over NVLink is that of a test: of those that have none all-gather's."""
    return test if test in NVLINK else "all_gather"


def collective_us(group: Communicator, test: str, size: int, again: object = "") -> float:
    """Return the time of one collective of `size` bytes, us; the same run has the same; `again` separates repeats."""
    drawn = seeded(group.job.run, test, size, again).gauss(0, 1)
    spread = SPREADS[_layout(group)[0]][size_class(size)]
    return steady_us(group, test, size) * math.exp(spread * min(max(drawn, -MOST_DEVIATIONS), MOST_DEVIATIONS))


def size_class(size: int) -> int:
    """Return which of the classes a size is in; the last one is above them."""
    return sum(size > largest for largest in CLASSES)


def steady_us(group: Communicator, test: str, size: int) -> float:
    """Return the same without spread."""
    ranks = len(group.ranks)
    profile = group.profile
    if ranks == 1 or profile is None:
        memory = (profile.gpu.memory_gbs or PAPER_NVLINK_GBS) if profile else PAPER_NVLINK_GBS
        return ALONE_US.value + size / (memory / 2) / 1e3
    if not group.several_hosts and profile.nvlink.generation >= NVLINK_COLLECTIVES.nvlink_generation:
        return _over_nvlink(test, size, ranks, profile.nvlink.gbs)
    latency, slope = _all_reduce(group, size)
    if test == "all_reduce":
        return latency + slope
    # As a ring moves the same bytes over the same links, its bus bandwidth is the same.
    return latency * FEWER_STEPS.value + slope * bus_factor(test, ranks) / bus_factor("all_reduce", ranks)


def _over_nvlink(test: str, size: int, ranks: int, gbs: int) -> float:
    """Return the time within a machine with the measured NVLink, or a later one, us."""
    fitted = nvlink_curve(test)
    latency = NVLINK[fitted][0].latency_us
    moved = max(curve_us(NVLINK[fitted], size) - latency, 0)
    factor = bus_factor(test, ranks) / bus_factor(fitted, NVLINK_COLLECTIVES.gpus)
    return latency + moved * factor * NVLINK_COLLECTIVES.nvlink_gbs / gbs


def _all_reduce(group: Communicator, size: int) -> tuple[float, float]:
    """Return what of the time does not depend on bandwidth, and what does, us."""
    name, paper_ranks = _layout(group)
    curve = CURVES[name]
    ours = bus_factor("all_reduce", len(group.ranks))
    # What a larger message takes longer than the smallest is bandwidth, whatever the curve calls it.
    latency = curve[0].latency_us
    moved = max(segment(curve, size).us(size) - latency, 0) * ours / bus_factor("all_reduce", paper_ranks)
    if not group.several_hosts:
        profile = group.profile
        return latency, moved * PAPER_NVLINK_GBS / (profile.nvlink.gbs if profile else PAPER_NVLINK_GBS)
    doublings = max(math.log2(len(group.hosts)) - (4 if name == "16x1" else 1), 0)
    latency += doublings * PER_DOUBLING_US.value
    if group.network == "Socket":
        rate = tcp_gbps(group) / 8 * TCP.value
        return TCP_LATENCY_US.value + doublings * PER_DOUBLING_US.value, size * ours / rate / 1e3
    return latency, moved * _slower(group, name)


def _layout(group: Communicator) -> tuple[str, int]:
    """Return the Redpaper's layout that a job is most like, and its ranks."""
    if not group.several_hosts:
        return "1x8", 8
    return ("16x1", 16) if max(map(len, group.by_host)) == 1 else ("2x8", 16)


def _slower(group: Communicator, name: str) -> float:
    """Return how many times longer data is under way between nodes than in the Redpaper's measurement."""
    speed = min(hca.rate_gbps for hcas in group.devices for hca in hcas) / PAPER_GBPS
    if name == "16x1":
        speed *= PAPER_RANKS_PER_HCA / _most_ranks_of_an_hca(group)
    else:
        speed *= min(map(len, group.devices)) / PAPER_HCAS / _most_hosts_of_a_machine(group)
        speed *= MORE_NODES.value if len(group.hosts) > 2 else 1.0  # noqa: PLR2004
    speed *= 1.0 if uses_gpudirect(group) else NO_GPUDIRECT.value
    speed *= ACS.value if any(worker.machine.faults.acs for worker in group.hosts) else 1.0
    speed *= ROCE.value if any(worker.machine.ethernet for worker in group.hosts) else 1.0
    return 1 / speed


def uses_gpudirect(group: Communicator) -> bool:
    """Return whether every network connection of a communicator has GPUDirect at its best rank."""
    return group.network == "IB" and all(
        any(group.gpudirect(rank, group.device(rank, channel)) for rank in ranks)
        for ranks in group.by_host
        for channel in range(group.channels)
    )


def tcp_gbps(group: Communicator) -> float:
    """Return the rate of the pod network: of an Ethernet machine that of its ports, Gb/s."""
    profile = group.profile
    return profile.ports.rate_gbps if profile and profile.link_layer == "Ethernet" else ETHERNET_GBPS.value


def _most_ranks_of_an_hca(group: Communicator) -> int:
    ranks_of_hca: dict[tuple[str, str], int] = {}
    for rank in group.ranks:
        hca = group.devices[rank.host][group.device(rank, 0)].name
        ranks_of_hca[rank.worker.machine.name, hca] = ranks_of_hca.get((rank.worker.machine.name, hca), 0) + 1
    return max(ranks_of_hca.values())


def _most_hosts_of_a_machine(group: Communicator) -> int:
    machines = [worker.machine.name for worker in group.hosts]
    return max(machines.count(name) for name in machines)
