"""The messages of NCCL that hold facts, as its versions write them."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

_MARKS = (" NCCL INFO", " NCCL WARN", " NCCL TRACE")
_WITHOUT_HEAD = ("NCCL INFO", "NCCL WARN", "NCCL TRACE", "NCCL version ")

_LINE = re.compile(
    r"(?:\[\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[^\]]*\] )?"  # NCCL 2.26 and later, for warnings
    r"(?P<host>[A-Za-z0-9_][\w.-]*):\d+:\d+ \[-?\d+\]"
    r"(?: [\w./-]+:\d+)? NCCL (?P<level>INFO|WARN|TRACE) (?P<message>.*)"
)
HEAD = re.compile(rb"([A-Za-z0-9_][A-Za-z0-9_.-]*):\d+:\d+ \[-?\d+\]")
"""The head of a line of INFO, before its mark, when nothing was put before it; its group is the host."""
_OF_RAS = " compiled with CUDA "
"""In the first line of `ncclras`, which no process prints."""
VERSION = re.compile(r"NCCL version (?P<version>\d+\.\d+[\w.-]*)(?:\+cuda(?P<cuda>\d+(?:\.\d+)+))?")

COMMUNICATOR = re.compile(
    r"(?:\w+ )?comm 0x[0-9a-f]+ rank (?P<rank>\d{1,7}) n[rR]anks (?P<nranks>\d{1,7})"
    r"(?: .*- (?P<what>[A-Z]\w+) (?P<state>START|COMPLETE)| .* MNNVL \d+)"
)
INFINIBAND = re.compile(r"NET/IB : Using(?P<devices>(?: \[\d+\]\S+| \[\d+\]=\{.*\})*) (?:\[RO\])?; OOB (?P<oob>.+)")
DEVICE = re.compile(r"\[(?P<index>\d+)\] ?(?P<name>\w[\w.-]*):\d+/(?P<link>IB|RoCE)(?:/SHARP)?")
_INTERFACES = r"(?P<interfaces>(?: (?:\[\d+\])?[^\s:]+:[^\s<]*<\d+>)+)"
SOCKET = re.compile(r"NET/Socket ?: Using" + _INTERFACES)
BOOTSTRAP = re.compile(r"Bootstrap ?: Using" + _INTERFACES)
INTERFACE = re.compile(r"(?:\[\d+\])?(?P<name>[^\s:]+):[^\s<]*<\d+>")
CONNECTED = re.compile(r"Connected all \w+(?:,.*)?")
NETWORK = re.compile(r"Using network (?P<name>\S.*)")
TREES = re.compile(r"Trees(?: \[\d+\] -?\d+(?:(?:/|->|\|)-?\d+)*)+")
THREADS = re.compile(r"Using \d+ threads, Min Comp Cap \d+, Trees (?P<state>disabled|enabled\b.*)")
RING_OF_RANKS = re.compile(
    r"Channel (?P<channel>\d{1,4})(?:/(?P<of>\d{1,4}))? :(?:  +\d+| \d+(?= )|(?<=/\d\d :) 0$)(?: +\d+)*"
)
NEIGHBOURS = re.compile(r"(?:Ring|Tree) \d+ : -?\d+ -> \d+ -> -?\d+(?:/-?\d+)*(?: comm 0x[0-9a-f]+.*)?")
CHANNELS = re.compile(r"(?P<count>\d{1,5}) coll channels, .*\d+ p2p channels per peer")
NO_COLLNET = re.compile(r"(?:Cannot initialize CollNet|CollNet is not|CollNet disabled).*")
NO_GPUDIRECT = re.compile(r"(?:NET/[^:]+ : )?GPU Direct RDMA Disabled .*")
GPUDIRECT = re.compile(r"(?:NET/[^:]+ : )?GPU Direct RDMA Enabled .*")
INFINIBAND_DISABLED = re.compile(r"NCCL_IB_DISABLE set (?:by environment )?to 1\.?")
GPUDIRECT_OFF = re.compile(r"NCCL_NET_GDR_LEVEL set (?:by environment )?to (?:0|LOC)\.?")
NO_PLUGIN = re.compile(r"NET/Plugin ?: (?:No plugin found|Could not find: libnccl-net\.so).*")
PLUGIN = re.compile(r"NET/Plugin ?: Loaded net plugin (?P<name>\S.*?) \(v\d+\)")
NO_INFINIBAND = re.compile(r"NET/IB : No device found\..*")
NO_VERBS = re.compile(r"Failed to open libibverbs\.so.*")

_END = re.compile(
    rb"(?:Channel|Ring) (?P<channel>\d{1,4})(?:/(?P<connection>\d{1,3}))? : "
    rb"(?P<from>\d{1,7})(?:\[(?P<gpu>[0-9a-f]+)\])? -> (?P<to>\d{1,7})(?:\[(?P<other>[0-9a-f]+)\])?"
    rb"(?:(?: \[(?:send|receive)\])? via (?:(?P<p2p>P2P/(?:direct pointer|IPC|CUMEM|MNNVL|indirect(?=/)))"
    rb"(?:/\d+\[[0-9a-f]+\])?(?:/read)?(?:/CE)?"
    rb"|(?P<shm>direct shared memory|SHM(?:/(?:direct|CE)){0,2}))"
    rb"| \[(?P<side>send|receive)\] via (?P<net>NET/\w[\w .-]*)/(?P<device>\d{1,4})(?:\(\d+\))?"
    rb"(?P<gdr>/GDRDMA(?:\(PCI\))?)?(?:/Shared)?)"
    rb"(?: comm 0x[0-9a-f]+ nRanks \d+)?"  # RCCL
)
_COLLNET = re.compile(
    rb"Coll(?:Net)? (?P<channel>\d{1,4})(?:/(?P<connection>\d{1,3}))? : (?P<rank>\d{1,7}) "
    rb"\[(?P<side>send|receive)\] via (?P<net>COLLNET/\w[\w .-]*)/(?P<device>\d{1,4})(?P<gdr>/GDRDMA(?:\(PCI\))?)?"
)

BEGINNINGS = (
    "Channel ",
    "Ring ",
    "Tree ",
    "Trees [",
    "CollNet ",
    "Coll ",
    "NET/IB : Using",
    "NET/Socket : Using",
    "Bootstrap : Using",
    "Using network ",
    "Connected all ",
    "NCCL version ",
    "comm 0x",
    "ncclCommInitRank comm 0x",
)
"""How messages begin that must be whole: one that begins so and is in no known form has been cut or mixed."""


PIECE = re.compile(
    r" via (?:P2P|SHM|NET|COLLNET)/| via direct shared memory|Channel \d\d|- Init COMPLETE|: Using \[0\]"
    r"|:\d+:\d+ \["
)
"""Text that is only in messages that must be whole."""

_RANK_BITS = 24
_RANK = (1 << _RANK_BITS) - 1


@dataclass(frozen=True, eq=False)
class Kind:
    """What one end of a channel prints: the end of its first rank, unless it receives.

    There is one of each, so that they are compared by identity: that is looked up for each line.
    """

    transport: str
    receives: bool
    device: int | None
    """NCCL's index of the network device; None: no network."""
    gpudirect: bool
    equal_gpus: bool = False
    """Whether NCCL gives the GPUs of both ranks the same number, or bus id, which no two GPUs of a host have."""


@lru_cache(maxsize=10_000)
def _kind(transport: bytes, side: bytes | None, device: bytes | None, gdr: bytes | None, equal: bool) -> Kind:
    number = None if device is None else int(device)
    return Kind(transport.decode("ascii", "replace"), side == b"receive", number, gdr is not None, equal)


class End(NamedTuple):
    """One end of a channel.

    `channel` is the same for both of its ends: transport, number, connection and ranks in one figure, because a log
    may have hundreds of thousands of them.
    """

    channel: int
    kind: Kind


def ranks(channel: int) -> tuple[int, int]:
    """Return the ranks that a channel goes from and to."""
    return channel >> _RANK_BITS & _RANK, channel & _RANK


def number(channel: int) -> int:
    """Return the number of a channel, which is that of its ring."""
    return (channel >> 2 * _RANK_BITS & _RANK) >> 10


class Message(NamedTuple):
    """A line of NCCL: the host that printed it, its level, and the message."""

    host: str
    level: str
    message: str


def is_nccl(text: str) -> bool:
    """Return whether a line is NCCL's, whole or not."""
    if "NCCL " not in text or _OF_RAS in text:
        return False
    return any(mark in text for mark in _MARKS) or text.startswith(_WITHOUT_HEAD)


def parsed(text: str) -> Message | None:
    """Take a line apart; None: it is not a whole one, or more than one."""
    if (version := VERSION.fullmatch(text)) is not None:
        return Message("", "INFO", version[0])
    match = _LINE.fullmatch(text)
    if match is None or (is_nccl(message := match["message"]) and not VERSION.fullmatch(message)):
        return None
    return Message(match["host"], match["level"], message)


def end(message: bytes) -> End | None:
    """Read the message of one end of a channel that is connected; None: it is another, or damaged."""
    if (match := _END.fullmatch(message)) is not None:
        source, target = int(match["from"]), int(match["to"])
        transport = match["net"] or match["p2p"] or b"SHM"
        equal = match["gpu"] is not None and match["gpu"] == match["other"]
    elif (match := _COLLNET.fullmatch(message)) is not None:
        source = target = int(match["rank"])
        transport, equal = match["net"], False
    else:
        return None
    number = int(match["channel"]) << 10 | int(match["connection"] or 0)
    channel = (int.from_bytes(transport) << 24 | number) << 2 * _RANK_BITS | source << _RANK_BITS | target
    return End(channel, _kind(transport, match["side"], match["device"], match["gdr"], equal))


CALLS = frozenset(
    f"{name}:"
    for name in ("AllReduce", "Broadcast", "Reduce", "AllGather", "ReduceScatter", "Send", "Recv", "AllToAll")
)
"""First words of a line for each collective operation (NCCL_DEBUG_SUBSYS=COLL), which has no figures."""
_CALL_BLANKS = frozenset({19, 23})
"""Blanks of such a line when it is whole: of NCCL, and of RCCL."""


_CHOICE = re.compile(
    r"\w+: \d+ Bytes -> Algo [A-Z_]+ proto [A-Z\d]+ channel\{Lo\.\.Hi\}=\{\d+\.\.\d+\}"  # TUNING, NCCL 2.2x
)


def is_whole_call(message: str) -> bool:
    """Return whether the message of a collective operation is whole: its arguments, or how it is done."""
    return message.count(" ") in _CALL_BLANKS or _CHOICE.fullmatch(message) is not None


def is_part(message: str) -> bool:
    """Return whether a message of no known form holds a piece of one: its start, a part of that, or what follows."""
    return (
        not message
        or any(message.startswith(begin) or begin.startswith(message) for begin in BEGINNINGS)
        or PIECE.search(message) is not None
    )
