"""What NCCL_DEBUG=INFO prints while a communicator is made: of images of 2020 and of today's.

Forms of lines: the logs of the Redpaper and of Robotic Drive, and where these have none, `INFO` and `WARN` of the
public source of NVIDIA/nccl, with logs in its issues 302, 392, 1412 and in NVIDIA/nccl-tests issue 252. NCCL is assumed
to use its own network: with the plugin of HPC-X the name would be IBext, not IB.
"""

from collections.abc import Iterator

from toolkit.simulator.performance import rings
from toolkit.simulator.performance.communicator import SOCKET_INTERFACE, Communicator, Rank, joined
from toolkit.simulator.performance.job import Worker
from toolkit.simulator.performance.ports import gpu_bus
from toolkit.simulator.performance.printed import seeded_bits

SHOWN = ("INFO", "TRACE")
"""NCCL_DEBUG with which it logs how it connects."""
SET = (
    *("NCCL_IB_DISABLE", "NCCL_IB_HCA", "NCCL_SOCKET_IFNAME", "NCCL_IB_GID_INDEX", "NCCL_IB_TC", "NCCL_NET_GDR_LEVEL"),
    *("NCCL_CROSS_NIC", "NCCL_COLLNET_ENABLE", "NCCL_ALGO", "NCCL_P2P_LEVEL"),
)
"""Variables of which it says that they are set."""
PID = 30
"""Of the first process of a pod."""


def shown(group: Communicator) -> bool:
    """Return whether the job requested these lines."""
    return (group.variable("NCCL_DEBUG") or "").upper() in SHOWN


def initialisation(group: Communicator, *, joined: bool = True) -> list[str]:
    """Return all lines of all ranks; none where NCCL_DEBUG does not ask for them.

    Ranks that are not `joined` fail while they are being connected, and never say that they are complete.
    """
    if not shown(group):
        return []
    lines = [*networks(group)]
    if not group.version.of_2020:
        lines += (log_line(group, rank, f"{_init(group, rank)} - Init START") for rank in group.ranks)
    lines += graph(group)
    lines += connections(group)
    return [*lines, *ended(group)] if joined else lines


def pid(group: Communicator, rank: Rank) -> int:
    """Return the process of a rank, as its pod numbers it."""
    return PID + rank.process - min(other.process for other in group.by_host[rank.host])


def log_line(group: Communicator, rank: Rank, message: str, *, thread: bool = True) -> str:
    """Return a line of a rank: of the thread that makes its communicator, or of the main one."""
    process = pid(group, rank)
    own = process + 10 + rank.device if thread else process
    return f"{rank.worker.name}:{process}:{own} [{rank.device}] NCCL INFO {message}"


def networks(group: Communicator) -> Iterator[str]:
    """Yield what each process says of its network."""
    version = group.version
    bracket = "[0]" if version.of_2020 else ""
    firsts = {rank.process: rank for rank in reversed(group.ranks)}
    for process in sorted(firsts):
        rank = firsts[process]
        address = f"{SOCKET_INTERFACE}:{rank.worker.address}<0>"
        variables = group.environment(rank.worker)
        if not version.of_2020:
            yield log_line(group, rank, f"cudaDriverVersion {_cuda(version.cuda)}", thread=False)
        if name := variables.get("NCCL_SOCKET_IFNAME"):
            yield log_line(group, rank, f"NCCL_SOCKET_IFNAME set by environment to {name}", thread=False)
        yield log_line(group, rank, f"Bootstrap : Using {bracket}{address}", thread=False)
        yield log_line(group, rank, _NO_PLUGIN[version.of_2020], thread=False)
        for name in SET[:2]:
            if name in variables:
                yield log_line(group, rank, f"{name} set by environment to {variables[name]}.", thread=False)
        yield from _devices(group, rank, address)
        if rank.number == 0:
            yield f"NCCL version {version.version}+cuda{version.cuda}"


_NO_PLUGIN = {
    True: "NET/Plugin : No plugin found (libnccl-net.so), using internal implementation",
    False: "NET/Plugin: No plugin found (libnccl-net.so)",
}


def _devices(group: Communicator, rank: Rank, address: str) -> Iterator[str]:
    of_2020 = group.version.of_2020
    devices = group.devices[rank.host]
    disabled = group.environment(rank.worker).get("NCCL_IB_DISABLE", "0") not in ("", "0")
    if devices:
        link = "RoCE" if rank.worker.machine.ethernet else "IB"
        listed = " ".join(f"[{index}]{hca.name}:1/{link}" for index, hca in enumerate(devices))
        order = ";" if of_2020 else "[RO];"
        yield log_line(group, rank, f"NET/IB : Using {listed} {order} OOB {address}", thread=False)
    elif not disabled:
        yield log_line(group, rank, "NET/IB : No device found.", thread=False)
    if not devices:
        yield log_line(group, rank, f"NET/Socket : Using [0]{address}", thread=False)
    if not of_2020:
        yield log_line(group, rank, f"Using network {'IB' if devices else 'Socket'}", thread=False)


def graph(group: Communicator) -> Iterator[str]:
    """Yield the rings, and what each rank is in the trees of the channels."""
    of_2020 = group.version.of_2020
    all_rings = rings.rings(group)
    many = len(all_rings)
    for channel, ring in enumerate(all_rings):
        # NCCL writes a ring from the first rank on.
        start = next(index for index, rank in enumerate(ring) if rank.number == 0)
        numbers = " ".join(f"{rank.number:3d}" for rank in (*ring[start:], *ring[:start]))
        yield log_line(group, group.ranks[0], f"Channel {channel:02d}/{many:02d} :  {numbers}")
    for rank in group.ranks:
        variables = group.environment(rank.worker)
        for name in SET[3:]:
            if name in variables:
                yield log_line(group, rank, f"{name} set by environment to {variables[name]}.")
        if of_2020:
            yield log_line(group, rank, "Threads per block : 512/640/512")
            yield log_line(group, rank, "threadThresholds 8/8/64 | 128/8/64")
        yield log_line(group, rank, "Trees " + " ".join(_trees(group, rank, channel) for channel in range(many)))
        if not of_2020:
            yield log_line(group, rank, "P2P Chunksize set to 131072")


def _trees(group: Communicator, rank: Rank, channel: int) -> str:
    """Return a rank's place in a chain of the ranks, as a tree: `[0] child/-1/-1->rank->parent`."""
    last = len(group.ranks) - 1
    child = rank.number + 1 if rank.number < last else -1
    parent = rank.number - 1
    place = f"{child}/-1/-1->{rank.number}->{parent}"
    if not group.version.of_2020:
        return f"[{channel}] {place}"
    return f"[{channel}] {place}|{parent}->{rank.number}->{child}/-1/-1"


def connections(group: Communicator) -> Iterator[str]:
    """Yield a line for each end of each channel: two for one over the network, one for one inside a host."""
    for channel, ring in enumerate(rings.rings(group)):
        if len(ring) == 1:
            return
        for source, target in zip(ring, (*ring[1:], ring[0]), strict=True):
            way = _transport(group, channel, source, target)
            if source.host == target.host:
                yield log_line(group, source, f"{way} via {_local(group, source, target)}")
            elif _over_nvlink(group, source, target):
                yield log_line(group, source, f"{way} via P2P/MNNVL")
            else:
                to, by = group.device(target, channel), group.device(source, channel)
                yield log_line(group, target, f"{way} [receive] via {_net(group, target, to, target)}")
                yield log_line(group, source, f"{way} [send] via {_net(group, source, by, group.sender(source, by))}")
    if group.variable("NCCL_COLLNET_ENABLE") == "1" and group.network == "IB" and group.several_hosts:
        yield from _collnet(group)


def _over_nvlink(group: Communicator, source: Rank, target: Rank) -> bool:
    """Return whether NVLink joins ranks of two hosts: both have a channel of one ComputeDomain, in one rack."""
    enabled = group.variable("NCCL_MNNVL_ENABLE") != "0" and not group.version.of_2020
    domain = source.worker.nvlink_domain
    return enabled and domain != "" and domain == target.worker.nvlink_domain


def _transport(group: Communicator, channel: int, source: Rank, target: Rank) -> str:
    version = group.version
    if not version.of_2020:
        return f"Channel {channel:02d}/0 : {source.number}[{source.device}] -> {target.number}[{target.device}]"
    if not version.bus_ids and source.host != target.host:
        return f"Ring {channel:02d} : {source.number} -> {target.number}"
    return f"Ring {channel:02d} : {_rank_name(group, source)} -> {_rank_name(group, target)}"


def _rank_name(group: Communicator, rank: Rank) -> str:
    return f"{rank.number}[{_bus(rank):x}]" if group.version.bus_ids else f"{rank.number}[{rank.device}]"


def _bus(rank: Rank) -> int:
    profile = rank.worker.machine.profile
    return gpu_bus(profile, rank.gpu) << 12 if profile else 0


def _local(group: Communicator, source: Rank, target: Rank) -> str:
    of_2020 = group.version.of_2020
    if not joined(source, target):
        return "direct shared memory" if of_2020 else "SHM/direct/direct"
    if not of_2020:
        return "P2P/CUMEM"
    return "P2P/direct pointer" if source.process == target.process else "P2P/IPC"


def _net(group: Communicator, rank: Rank, device: int, beside: Rank) -> str:
    """Return the way of a rank through a device; with the rank `beside` it in brackets, where that is another one."""
    through = "" if beside == rank else f"({beside.number})"
    direct = "/GDRDMA" if group.gpudirect(beside, device) else ""
    return f"NET/{group.network}/{device}{through}{direct}"


def _collnet(group: Communicator) -> Iterator[str]:
    """Yield the channels whose reductions the switches make (SHARP)."""
    for ranks in group.by_host:
        for channel in range(group.channels):
            device = group.device(ranks[0], channel)
            head = min(ranks, key=lambda rank: group.distance(rank, device))
            direct = "/GDRDMA" if group.gpudirect(head, device) else ""
            for side in ("receive", "send"):
                yield log_line(
                    group, head, f"CollNet {channel:02d}/0 : {head.number} [{side}] via COLLNET/SHARP/{device}{direct}"
                )


def ended(group: Communicator) -> Iterator[str]:
    """Yield that each rank's communicator is complete."""
    for rank in group.ranks:
        if not group.version.of_2020:
            channels = group.channels
            yield log_line(group, rank, "Connected all rings")
            yield log_line(group, rank, "Connected all trees")
            yield log_line(group, rank, "threadThresholds 8/8/64 | 128/8/64 | 512 | 512")
            yield log_line(
                group,
                rank,
                f"{channels} coll channels, 0 collnet channels, 0 nvls channels, {channels} p2p channels,"
                f" {channels} p2p channels per peer",
            )
        yield log_line(group, rank, f"{_init(group, rank)} - Init COMPLETE")


def _init(group: Communicator, rank: Rank) -> str:
    version = group.version
    comm = f"comm 0x{0x7F0000000000 + seeded_bits(38, group.job.run, 'comm', rank.number):x}"
    number = len(group.ranks)
    if not version.of_2020:
        common = f"0x{seeded_bits(64, group.job.run, 'communicator'):x}"
        return (
            f"ncclCommInitRank {comm} rank {rank.number} nranks {number} cudaDev {rank.device} nvmlDev {rank.device}"
            f" busId {_bus(rank):x} commId {common}"
        )
    where = f"busId {_bus(rank):x}" if version.bus_ids else f"nvmlDev {rank.gpu}"
    return f"{comm} rank {rank.number} nranks {number} cudaDev {rank.device} {where}"


def _cuda(version: str) -> int:
    major, minor = version.split(".")
    return 1000 * int(major) + 10 * int(minor)


def warning(group: Communicator, worker: Worker, message: str, where: str) -> str:
    """Return a line of the first rank of a pod with NCCL WARN; `where` is file and line of the source."""
    rank = next(rank for rank in group.ranks if rank.worker.name == worker.name)
    process = pid(group, rank)
    return f"{worker.name}:{process}:{process + 10 + rank.device} [{rank.device}] {where} NCCL WARN {message}"
