"""How NCCL fails where a pod or its node lacks something: the lines with the cause, and what is returned."""

from toolkit.simulator.performance.communicator import Communicator, Nccl
from toolkit.simulator.performance.nccl_log import initialisation, shown, warning
from toolkit.simulator.performance.printed import Printed

SYSTEM_ERROR = {True: "unhandled system error", False: "unhandled system error (run with NCCL_DEBUG=INFO for details)"}
NCCL_ERROR = 3
"""Exit code of nccl-tests."""
_OWN_GID_SINCE = (2, 21)
"""First NCCL that looks for a RoCE v2 address by itself (nccl #1573 for containers: 2.26)."""


def failure(group: Communicator) -> Printed | None:
    """Return what NCCL prints until it fails, with the cause as message; None when the ranks are joined."""
    lines = fault(group)
    if not lines:
        return None
    return Printed((*initialisation(group, joined=False), *lines), NCCL_ERROR, lines[0].partition("NCCL WARN ")[2])


def fault(group: Communicator) -> tuple[str, ...]:
    """Return the lines of NCCL that say why the ranks cannot be joined; none when they can.

    Only what goes between hosts needs RDMA: ranks of one pod have NVLink or its memory.
    """
    if not group.several_hosts:
        return ()
    if group.mixed:
        return _mixed(group)
    if group.network != "IB":
        return ()
    return _memlock(group) or _gid(group)


def _memlock(group: Communicator) -> tuple[str, ...]:
    """Return what comes of the limit on locked memory; IPC_LOCK alone does not lift it."""
    bound = [worker for worker in group.hosts if not worker.may_pin]
    if group.version.of_2020:
        lines = [warning(group, worker, "Call to ibv_reg_mr failed", "misc/ibvwrap.cc:212") for worker in bound]
        trace = (
            "transport/net_ib.cc:640 -> 2",
            "include/net.h:21 -> 2",
            "transport/net.cc:167 -> 2",
            "init.cc:840 -> 2",
        )
    else:
        text = "Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory"
        lines = [warning(group, worker, text, "misc/ibvwrap.cc:278") for worker in bound]
        trace = (
            "transport/net_ib.cc:1442 -> 2",
            "transport/net.cc:831 -> 2",
            "transport.cc:165 -> 2",
            "init.cc:1263 -> 2",
        )
    return tuple(lines) + (_trace(group, bound[0].name, trace) if bound else ())


def _gid(group: Communicator) -> tuple[str, ...]:
    """Return what comes of a RoCE port without an index: NCCL takes its first address, of no routed network."""
    version = _number(group.version)
    lost = [
        worker
        for worker in group.hosts
        if worker.machine.ethernet and "NCCL_IB_GID_INDEX" not in group.environment(worker) and version < _OWN_GID_SINCE
    ]
    text = "NET/IB : Got completion with error 12, opcode 1, len 0, vendor err 129"
    return tuple(warning(group, worker, text, "transport/net_ib.cc:1295") for worker in lost)


def _mixed(group: Communicator) -> tuple[str, ...]:
    """Return what comes of pods with InfiniBand among others with TCP: the first connection between them fails."""
    without = [worker for worker, devices in zip(group.hosts, group.devices, strict=True) if not devices]
    others = [worker for worker, devices in zip(group.hosts, group.devices, strict=True) if devices]
    text = f"Net : Connect to {others[0].address}<41235> failed : Connection refused"
    return tuple(warning(group, worker, text, "include/socket.h:403") for worker in without)


def _trace(group: Communicator, host: str, places: tuple[str, ...]) -> tuple[str, ...]:
    if not shown(group):
        return ()
    rank = next(rank for rank in group.ranks if rank.worker.name == host)
    return tuple(f"{host}:30:{40 + rank.device} [{rank.device}] NCCL INFO {place}" for place in places)


def _number(version: Nccl) -> tuple[int, ...]:
    return tuple(int(part) for part in version.version.split("."))
