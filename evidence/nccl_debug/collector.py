"""Collects what the ranks of one program say; most lines of a big log say what was said before, and cost little."""

from collections.abc import Callable, Iterator, Mapping
from operator import length_hint
from re import Match, Pattern

from evidence.model import UNREAD_KEPT, NcclLog, Unread
from evidence.nccl_debug import messages
from evidence.nccl_debug.channels import Channels, TooMany
from evidence.nccl_debug.messages import End, Kind
from evidence.nccl_debug.shared import REMEMBERED, Shared
from evidence.parser import Taken
from evidence.text import Line, clean

_INFO = b" NCCL INFO "
_CALLS = frozenset(
    f"{name}:"
    for name in ("AllReduce", "Broadcast", "Reduce", "AllGather", "ReduceScatter", "Send", "Recv", "AllToAll")
)
"""First words of a line for each collective operation (NCCL_DEBUG_SUBSYS=COLL), which has no figures."""
_CALL_BLANKS = frozenset({19, 23})
"""Blanks of such a line when it is whole: of NCCL, and of RCCL."""


_NO_END = End(0, Kind("", receives=False, device=None, gpudirect=False))


class Collector:
    """What the ranks of one program said."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._proven: set[Kind] = set()
        self._known: dict[bytes, frozenset[str] | set[str]] = {}
        self._heard = False
        self._version: str | None = None
        self._cuda: str | None = None
        self._nranks: int | None = None
        self._ready: set[int] = set()
        self._ranks: dict[int, str] = {}
        self._devices: dict[str, dict[int, tuple[str, ...]]] = {}
        self._names: dict[str, tuple[str, ...]] = {}
        self._links: dict[str, str] = {}
        self._sockets: dict[str, None] = {}
        self._channels = Channels()
        self._count: int | None = None
        self._trees: bool | None = None
        self._collnet: bool | None = None
        self._no_gpudirect: dict[str, Unread] = {}
        self._warnings: list[Unread] = []
        self._proofs: dict[str, Unread] = {}

    def skim(self, lines: Iterator[bytes], last: int) -> bytes | None:
        """Go on to the first line that has to be read with care, and return it; None: there is none.

        `last` is the number of the last of the lines. Those passed over are whole, and NCCL's.
        """
        shared = self._shared
        hosts, ends, alone = shared.hosts, shared.ends, shared.alone
        known, proven, add = self._known, self._proven, self._channels.add
        if len(known) >= REMEMBERED:
            known.clear()
        for line in lines:
            head, _, message = line.partition(_INFO)
            host = hosts.get(head)
            if host is None and (host := shared.host_of(head)) is None:
                return line
            told = known.get(message)
            if told is not None and host in told:
                continue
            channel, kind = ends.get(message, _NO_END)
            if kind in proven:
                try:
                    if not add(channel, kind, host):
                        # It is remembered when it comes again: what is said once costs less so.
                        continue
                except TooMany:
                    return line
            else:
                text = message.decode("utf-8", "replace").rstrip()
                number = last - length_hint(lines)
                # What has to be cleaned first is not printable, and of two lines in one neither is read.
                if " NCCL " in text or not text.isprintable() or not self._read(number, line, host, text):
                    return line
                self._heard = True
                if message.partition(b" ")[0] in _NEVER_AGAIN:
                    continue
            # A message of one host has that host's set, which all of them share; one of several has its own.
            if isinstance(told, set):
                told.add(host)
            else:
                known[message] = alone[host] if told is None else {*told, host}
        return None

    def feed(self, line: Line, raw: bytes) -> Taken:
        """Read a line of NCCL with care; `raw` is the same with its prefixes, to know the next of its kind by."""
        said = messages.said(line.text)
        if said is None:
            return Taken.DAMAGED
        if said.level == "INFO" and not self._read(line.number, raw, said.host, said.message):
            return Taken.DAMAGED
        self._heard = True
        if said.level == "WARN" and len(self._warnings) < UNREAD_KEPT:
            self._warnings.append(Unread(line=line.number, text=line.text))
        head, mark, _ = raw.partition(_INFO)
        if mark and said.host:
            self._shared.learn(head, said.host)
        return Taken.YES

    def _read(self, number: int, raw: bytes, host: str, message: str) -> bool:
        word = message.partition(" ")[0]
        if word in _CALLS:
            return message.count(" ") in _CALL_BLANKS
        if word in _CONNECTIONS and (end := self._shared.end(message.encode("utf-8", "replace"))) is not None:
            try:
                self._channels.add(*end, host)
            except TooMany:
                return False
            self._proven.add(end.kind)
            self._prove(end.kind.transport, number, raw)
            if end.kind.gpudirect:
                self._prove("GDRDMA", number, raw)
            if end.kind.transport.startswith("COLLNET/"):
                self._collnet = True
            return True
        for pattern, kind, read in _kinds(word):
            if (found := pattern.fullmatch(message)) is not None:
                if kind:
                    self._prove(kind, number, raw)
                if read is not None:
                    read(self, found, host, number, raw)
                return True
        return not _is_part(message)

    def _prove(self, kind: str, number: int, raw: bytes) -> None:
        if kind not in self._proofs:
            self._proofs[kind] = _kept(number, raw)

    def _read_version(self, found: Match[str], _host: str, _number: int, _raw: bytes) -> None:
        self._version, self._cuda = self._version or found["version"], self._cuda or found["cuda"]

    def _read_communicator(self, found: Match[str], host: str, number: int, raw: bytes) -> None:
        rank, nranks = int(found["rank"]), int(found["nranks"])
        if nranks > (self._nranks or 0):
            # What counts is the largest communicator: ranks of smaller ones are other ranks.
            self._nranks = nranks
            self._ready.clear()
            self._ranks.clear()
        if nranks != self._nranks:
            return
        self._ranks[rank] = host if self._ranks.get(rank, host) == host else ""
        if found["what"] == "Init" and found["state"] == "COMPLETE":
            self._ready.add(rank)
            self._prove("Init COMPLETE", number, raw)

    def _read_infiniband(self, found: Match[str], host: str, _number: int, _raw: bytes) -> None:
        devices: dict[int, tuple[str, ...]] = {}
        for one in messages.DEVICE.finditer(found["devices"]):
            devices[int(one["index"])] = (one["name"],)
            self._links[one["name"]] = one["link"]
        self._names[host] = tuple(name for names in devices.values() for name in names)
        if "{" in found["devices"]:
            # Ports that NCCL has bonded: the index of a channel is that of the bond, which is not a device's.
            devices = {}
        self._devices[host] = devices
        self._read_interfaces(found["oob"])

    def _read_sockets(self, found: Match[str], _host: str, _number: int, _raw: bytes) -> None:
        self._read_interfaces(found["interfaces"])

    def _read_interfaces(self, text: str) -> None:
        for one in messages.INTERFACE.finditer(text):
            self._sockets[one["name"]] = None

    def _read_trees(self, found: Match[str], _host: str, _number: int, _raw: bytes) -> None:
        # That they are there says a line of each rank; that they are not used says one, and holds.
        enabled = found.re is messages.TREES or found["state"] != "disabled"
        self._trees = enabled if self._trees is None else self._trees and enabled

    def _read_count(self, found: Match[str], _host: str, _number: int, _raw: bytes) -> None:
        self._count = max(int(found["count"]), self._count or 0)

    def _read_ring(self, found: Match[str], _host: str, _number: int, _raw: bytes) -> None:
        self._count = max(int(found["of"] or int(found["channel"]) + 1), self._count or 0)

    def _read_no_collnet(self, _found: Match[str], _host: str, _number: int, _raw: bytes) -> None:
        self._collnet = self._collnet or False

    def _read_no_gpudirect(self, found: Match[str], _host: str, number: int, raw: bytes) -> None:
        if len(self._no_gpudirect) < UNREAD_KEPT:
            self._no_gpudirect.setdefault(found[0], _kept(number, raw))

    def log(self) -> NcclLog | None:
        """Return what was read, None when nothing was."""
        if not self._heard:
            return None
        ranks = {rank: host for rank, host in self._ranks.items() if host}
        counts = self._channels.counts(self._devices, ranks)
        return NcclLog(
            version=self._version,
            cuda=self._cuda,
            nranks=self._nranks,
            initialised=len(self._ready),
            devices=tuple(dict.fromkeys(name for names in self._names.values() for name in names)),
            devices_by_host=dict(sorted(self._names.items())),
            link_layers=dict(sorted(self._links.items())),
            sockets=tuple(self._sockets),
            transports=counts.transports,
            between_nodes=counts.between_nodes,
            gpudirect=counts.gpudirect,
            gpudirect_between_nodes=counts.gpudirect_between_nodes,
            gpudirect_one_end=counts.gpudirect_one_end,
            used_devices=counts.used_devices,
            crossed_devices=counts.crossed_devices,
            channels=self._count,
            trees=self._trees,
            collnet=self._collnet,
            gdr_unavailable=tuple(self._no_gpudirect.values()),
            warnings=tuple(self._warnings),
            proofs=self._proofs,
        )


_CONNECTIONS = frozenset({"Channel", "Ring", "CollNet", "Coll"})
_NEVER_AGAIN = frozenset({b"comm", b"ncclCommInitRank", *(call.encode() for call in _CALLS)})
"""First words of messages that hold an address or a count, so that the same comes never again."""
_Read = Callable[[Collector, Match[str], str, int, bytes], None]
_Kinds = tuple[tuple[Pattern[str], str, _Read | None], ...]
_COMMUNICATOR: _Kinds = ((messages.COMMUNICATOR, "", Collector._read_communicator),)
_GPUDIRECT: _Kinds = (
    (messages.NO_GPUDIRECT, "GPU Direct RDMA Disabled", Collector._read_no_gpudirect),
    (messages.GPUDIRECT, "GPU Direct RDMA Enabled", None),
)
_NEIGHBOURS: _Kinds = ((messages.NEIGHBOURS, "", None),)
_BOOTSTRAP: _Kinds = ((messages.BOOTSTRAP, "Bootstrap : Using", Collector._read_sockets),)
_NO_COLLNET: _Kinds = ((messages.NO_COLLNET, "CollNet", Collector._read_no_collnet),)
_KINDS: Mapping[str, _Kinds] = {
    "Channel": ((messages.RING_OF_RANKS, "", Collector._read_ring),),
    "Ring": _NEIGHBOURS,
    "Tree": _NEIGHBOURS,
    "Trees": ((messages.TREES, "Trees", Collector._read_trees),),
    "comm": _COMMUNICATOR,
    "NET/IB": (
        (messages.INFINIBAND, "NET/IB : Using", Collector._read_infiniband),
        (messages.NO_INFINIBAND, "NET/IB : No device found", None),
        *_GPUDIRECT,
    ),
    "NET/Plugin": ((messages.NO_PLUGIN, "NET/Plugin", None),),
    "NCCL_NET_GDR_LEVEL": ((messages.GPUDIRECT_OFF, "NCCL_NET_GDR_LEVEL", None),),
    "NCCL_IB_DISABLE": ((messages.INFINIBAND_DISABLED, "NCCL_IB_DISABLE", None),),
    "NET/Socket": ((messages.SOCKET, "NET/Socket : Using", Collector._read_sockets), *_GPUDIRECT),
    "Bootstrap": _BOOTSTRAP,
    "Bootstrap:": _BOOTSTRAP,
    "Connected": ((messages.CONNECTED, "", None),),
    "Using": (
        (messages.NETWORK, "Using network", None),
        (messages.THREADS, "Trees", Collector._read_trees),
    ),
    "NCCL": ((messages.VERSION, "NCCL version", Collector._read_version),),
    "Cannot": _NO_COLLNET,
    "CollNet": _NO_COLLNET,
    "GPU": _GPUDIRECT,
}
"""First word of a message -> its forms, the name of its proof, and what reads it."""


def _kinds(word: str) -> _Kinds:
    if (kinds := _KINDS.get(word)) is not None:
        return kinds
    if word.startswith("ncclComm"):
        return _COMMUNICATOR
    if word.startswith("NET/"):
        return _GPUDIRECT
    return ((messages.CHANNELS, "", Collector._read_count),) if word.isdecimal() else ()


def _is_part(message: str) -> bool:
    """Tell whether a message in no known form holds a piece of one: its beginning, a part of that, or what follows."""
    return (
        not message
        or any(message.startswith(begin) or begin.startswith(message) for begin in messages.BEGINNINGS)
        or messages.PIECE.search(message) is not None
    )


def _kept(number: int, raw: bytes) -> Unread:
    return Unread(line=number, text=clean(number, raw).text)
