"""Collects what the ranks of one program say; most lines of a big log say what was said before, and cost little."""

from collections.abc import Callable, Iterator
from re import Match, Pattern

from evidence.model import UNREAD_KEPT, NcclLog, Unread
from evidence.nccl_debug import messages
from evidence.nccl_debug.channels import Channels
from evidence.nccl_debug.messages import End
from evidence.parser import Taken
from evidence.text import Line

_INFO = b" NCCL INFO "
_REMEMBERED = 100_000
"""Entries of each memory: some 20 MB. One that is full is emptied, and what it held is read again."""
_CALLS = frozenset(
    {b"AllReduce:", b"Broadcast:", b"Reduce:", b"AllGather:", b"ReduceScatter:", b"Send:", b"Recv:", b"AllToAll:"}
)
"""First words of a line for each collective operation (NCCL_DEBUG_SUBSYS=COLL): always new, and without figures."""
_CALL_BLANKS = frozenset({18, 22})
"""Blanks of such a line when it is whole: of NCCL, and of RCCL."""


class Shared:
    """What holds for a whole file, whichever programs ran: hosts by the heads of lines, and channels by messages."""

    def __init__(self) -> None:
        self.hosts: dict[bytes, str] = {}
        self.alone: dict[str, frozenset[str]] = {}
        self.ends: dict[bytes, End] = {}

    def learn(self, head: bytes, host: str) -> None:
        """Remember whose lines begin so."""
        if len(self.hosts) >= _REMEMBERED:
            self.hosts.clear()
        self.hosts[head] = host
        self.alone.setdefault(host, frozenset((host,)))

    def end(self, message: bytes) -> End | None:
        """Return what an end of a channel says, None for another message."""
        found = self.ends.get(message) or messages.end(message)
        if found is not None:
            if len(self.ends) >= _REMEMBERED:
                self.ends.clear()
            self.ends[message] = found
        return found


class Collector:
    """What the ranks of one program said."""

    def __init__(self, shared: Shared | None = None) -> None:
        self._shared = shared or Shared()
        self._known: dict[bytes, frozenset[str]] = {}
        self._heard = False
        self._version: str | None = None
        self._cuda: str | None = None
        self._initialised: dict[int, set[int]] = {}
        self._ranks: dict[int, set[str]] = {}
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

    def skim(self, lines: Iterator[bytes]) -> bytes | None:
        """Go on to the first line that has to be read with care, and return it; None: there is none.

        The lines passed over are whole, NCCL's, and hold nothing new but a channel of a kind that is known.
        """
        hosts, alone, known, ends = self._shared.hosts, self._shared.alone, self._known, self._shared.ends
        for line in lines:
            head, _, message = line.partition(_INFO)
            host = hosts.get(head)
            told = known.get(message)
            if host is None:
                return line
            if told is not None:
                if host in told:
                    continue
                end = ends.get(message)
            elif (end := ends.get(message)) is None:
                word = message.partition(b" ")[0]
                if word in _CALLS:
                    if message.count(b" ") in _CALL_BLANKS and b" NCCL " not in message:
                        continue
                    return line
                if word not in _CONNECTIONS or (end := self._shared.end(message)) is None:
                    return line
            if end is None or not self._proven(end):
                return line
            self._channels.add(end, host)
            self._remember(message, alone[host])
        return None

    def feed(self, line: Line, raw: bytes | None = None) -> Taken:
        """Read a line of NCCL with care; `raw` is the same with its prefixes, to know the next of its kind by."""
        said = messages.said(line.text)
        if said is None:
            return Taken.DAMAGED
        self._heard = True
        if said.level == "WARN":
            if len(self._warnings) < UNREAD_KEPT:
                self._warnings.append(_kept(line))
            return Taken.YES
        if said.level == "TRACE":
            return Taken.YES
        if not self._read(line, said.host, said.message):
            return Taken.DAMAGED
        if raw is not None and said.host:
            head, mark, message = raw.partition(_INFO)
            if mark:
                self._shared.learn(head, said.host)
                self._remember(message, self._shared.alone[said.host])
        return Taken.YES

    def _remember(self, message: bytes, hosts: frozenset[str]) -> None:
        known = self._known
        if (before := known.get(message)) is not None:
            hosts |= before
        elif len(known) >= _REMEMBERED:
            known.clear()
        known[message] = hosts

    def _proven(self, end: End) -> bool:
        return end.channel.transport in self._proofs and (not end.gpudirect or "GDRDMA" in self._proofs)

    def _read(self, line: Line, host: str, message: str) -> bool:
        end = self._shared.end(message.encode("utf-8", "replace"))
        if end is not None:
            self._channels.add(end, host)
            self._prove(end.channel.transport, line)
            if end.gpudirect:
                self._prove("GDRDMA", line)
            if end.channel.transport.startswith("COLLNET/"):
                self._collnet = True
            return True
        for pattern, kind, read in _KINDS:
            if (found := pattern.fullmatch(message)) is not None:
                self._prove(kind, line)
                if read is not None:
                    read(self, found, host, line)
                return True
        return not _is_part(message)

    def _prove(self, kind: str, line: Line) -> None:
        if kind and kind not in self._proofs:
            self._proofs[kind] = _kept(line)

    def _read_version(self, found: Match[str], _host: str, _line: Line) -> None:
        self._version, self._cuda = self._version or found["version"], self._cuda or found["cuda"]

    def _read_communicator(self, found: Match[str], host: str, line: Line) -> None:
        rank, nranks = int(found["rank"]), int(found["nranks"])
        ready = self._initialised.setdefault(nranks, set())
        self._ranks.setdefault(rank, set()).add(host)
        if found["what"] == "Init" and found["state"] == "COMPLETE":
            ready.add(rank)
            self._prove("Init COMPLETE", line)

    def _read_infiniband(self, found: Match[str], host: str, _line: Line) -> None:
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

    def _read_sockets(self, found: Match[str], _host: str, _line: Line) -> None:
        self._read_interfaces(found["interfaces"])

    def _read_interfaces(self, text: str) -> None:
        for one in messages.INTERFACE.finditer(text):
            self._sockets[one["name"]] = None

    def _read_trees(self, found: Match[str], _host: str, _line: Line) -> None:
        # That they are there says a line of each rank; that they are not used says one, and holds.
        enabled = found.re is messages.TREES or found["state"] != "disabled"
        self._trees = enabled if self._trees is None else self._trees and enabled

    def _read_count(self, found: Match[str], _host: str, _line: Line) -> None:
        self._count = max(int(found["count"]), self._count or 0)

    def _read_ring(self, found: Match[str], _host: str, _line: Line) -> None:
        self._count = max(int(found["of"] or int(found["channel"]) + 1), self._count or 0)

    def _read_no_collnet(self, _found: Match[str], _host: str, _line: Line) -> None:
        self._collnet = self._collnet or False

    def _read_no_gpudirect(self, found: Match[str], _host: str, line: Line) -> None:
        if len(self._no_gpudirect) < UNREAD_KEPT:
            self._no_gpudirect.setdefault(found[0], _kept(line))

    def log(self) -> NcclLog | None:
        """Return what was read, None when nothing was."""
        if not self._heard:
            return None
        nranks = max(self._initialised, default=None)
        ranks = {rank: next(iter(hosts)) for rank, hosts in self._ranks.items() if len(hosts) == 1}
        counts = self._channels.counts(self._devices, ranks)
        return NcclLog(
            version=self._version,
            cuda=self._cuda,
            nranks=nranks,
            initialised=len(self._initialised[nranks]) if nranks is not None else 0,
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
            channels=self._count,
            trees=self._trees,
            collnet=self._collnet,
            gdr_unavailable=tuple(self._no_gpudirect.values()),
            warnings=tuple(self._warnings),
            proofs=self._proofs,
        )


_CONNECTIONS = frozenset({b"Channel", b"Ring", b"CollNet", b"Coll"})
_Read = Callable[[Collector, Match[str], str, Line], None]
_KINDS: tuple[tuple[Pattern[str], str, _Read | None], ...] = (
    (messages.RING_OF_RANKS, "", Collector._read_ring),
    (messages.NEIGHBOURS, "", None),
    (messages.TREES, "Trees", Collector._read_trees),
    (messages.COMMUNICATOR, "", Collector._read_communicator),
    (messages.INFINIBAND, "NET/IB : Using", Collector._read_infiniband),
    (messages.NO_INFINIBAND, "NET/IB : No device found", None),
    (messages.SOCKET, "NET/Socket : Using", Collector._read_sockets),
    (messages.BOOTSTRAP, "Bootstrap : Using", Collector._read_sockets),
    (messages.CONNECTED, "", None),
    (messages.NETWORK, "Using network", None),
    (messages.VERSION, "NCCL version", Collector._read_version),
    (messages.THREADS, "Trees", Collector._read_trees),
    (messages.CHANNELS, "", Collector._read_count),
    (messages.NO_COLLNET, "CollNet", Collector._read_no_collnet),
    (messages.NO_GPUDIRECT, "GPU Direct RDMA Disabled", Collector._read_no_gpudirect),
    (messages.GPUDIRECT, "GPU Direct RDMA Enabled", None),
)


def _is_part(message: str) -> bool:
    """Tell whether a message that is in no known form begins as one does, or is the beginning of that."""
    return not message or any(message.startswith(begin) or begin.startswith(message) for begin in messages.BEGINNINGS)


def _kept(line: Line) -> Unread:
    return Unread(line=line.number, text=line.text)
