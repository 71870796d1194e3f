"""What the messages of one program's ranks mean: versions, communicators, devices, channels, and proofs of them."""

from collections.abc import Callable, Iterable, Mapping
from re import Match, Pattern

from toolkit.evidence.model import UNREAD_KEPT, NcclLog, Unread
from toolkit.evidence.nccl_debug import messages
from toolkit.evidence.nccl_debug.channels import Channels, TooMany
from toolkit.evidence.nccl_debug.line_cache import LineCache
from toolkit.evidence.nccl_debug.messages import Kind
from toolkit.evidence.text import clean

_OWN_NETWORKS = ("IB", "Socket")
"""What NCCL itself brings; all others are of plugins."""
_SEVERAL = 2
_PROOFS = 100
"""Kinds of lines of which the first is kept, at most."""


class ProgramLog:
    """What was read so far."""

    def __init__(self, shared: LineCache) -> None:
        self.proven: set[Kind] = set()
        """Kinds of ends of channels that have a proof: of others of them only the channel counts."""
        self.channels = Channels()
        self._shared = shared
        self._version: str | None = None
        self._cuda: str | None = None
        self._nranks: int | None = None
        self._sizes: set[int] = set()
        """Ranks of the communicators: the first two of different size."""
        self._ready: set[int] = set()
        self._ranks: dict[int, str] = {}
        self._devices: dict[str, dict[int, tuple[str, ...]]] = {}
        self._names: dict[str, tuple[str, ...]] = {}
        self._links: dict[str, str] = {}
        self._sockets: dict[str, None] = {}
        self._plugins: dict[str, None] = {}
        self._count: int | None = None
        self._rings: dict[int, int] = {}
        """Ranks -> rings of the communicators of so many, as their first rank lists them."""
        self._trees: bool | None = None
        self._collnet: bool | None = None
        self._no_gpudirect: dict[str, Unread] = {}
        self._warnings: list[Unread] = []
        self._proofs: dict[str, Unread] = {}

    def read(self, number: int, raw: bytes, host: str, message: str) -> bool:
        """Read a message of a host; False: it holds a piece of one, and cannot be read.

        `raw` is its line with prefixes.
        """
        word = message.partition(" ")[0]
        if word in messages.CALLS:
            return messages.is_whole_call(message)
        if word in _CONNECTIONS and (end := self._shared.end(message.encode("utf-8", "replace"))) is not None:
            try:
                self.channels.add(*end, host)
            except TooMany:
                return False
            self.proven.add(end.kind)
            self._prove(end.kind.transport, number, raw)
            if end.kind.gpudirect:
                self._prove("GDRDMA", number, raw)
            if end.kind.transport.startswith("COLLNET/"):
                self._collnet = True
            return True
        for pattern, kind, read in _kinds(word):
            if (match := pattern.fullmatch(message)) is not None:
                if kind:
                    self._prove(kind, number, raw)
                if read is not None:
                    read(self, match, host, number, raw)
                return True
        return not messages.is_part(message)

    def _prove(self, kind: str, number: int, raw: bytes) -> None:
        if kind not in self._proofs:
            self._proofs[kind] = _kept(number, raw)

    def _read_version(self, match: Match[str], _host: str, _number: int, _raw: bytes) -> None:
        self._version, self._cuda = self._version or match["version"], self._cuda or match["cuda"]

    def _read_communicator(self, match: Match[str], host: str, number: int, raw: bytes) -> None:
        if match["what"] not in (None, "Init"):
            return  # Another run may have started since the communicator that ends here.
        rank, nranks = int(match["rank"]), int(match["nranks"])
        if len(self._sizes) < _SEVERAL:
            self._sizes.add(nranks)
        if nranks > (self._nranks or 0):
            # What counts is the largest communicator: ranks of smaller ones are other ranks.
            self._nranks = nranks
            self._ready.clear()
            self._ranks.clear()
        if nranks != self._nranks:
            return
        self._ranks[rank] = host if self._ranks.get(rank, host) == host else ""
        if match["state"] == "COMPLETE":
            self._ready.add(rank)
            self._prove("Init COMPLETE", number, raw)

    def _read_infiniband(self, match: Match[str], host: str, _number: int, _raw: bytes) -> None:
        devices: dict[int, tuple[str, ...]] = {}
        for device in messages.DEVICE.finditer(match["devices"]):
            devices[int(device["index"])] = (device["name"],)
            self._links[device["name"]] = device["link"]
        named = (*self._names.get(host, ()), *(name for names in devices.values() for name in names))
        self._names[host] = tuple(dict.fromkeys(named))
        if "{" in match["devices"]:
            # Ports that NCCL has bonded: the index of a channel is that of the bond, which is not a device's.
            devices = {}
        self._devices[host] = devices
        self._read_interfaces(match["oob"])

    def _read_sockets(self, match: Match[str], _host: str, _number: int, _raw: bytes) -> None:
        self._read_interfaces(match["interfaces"])

    def _read_interfaces(self, text: str) -> None:
        for interface in messages.INTERFACE.finditer(text):
            self._sockets[interface["name"]] = None

    def _read_network(self, match: Match[str], _host: str, number: int, raw: bytes) -> None:
        # Of each one proof: a log that is damaged, or of ill will, may name any number of them.
        if len(self._proofs) < _PROOFS:
            self._prove(f"Using network {match['name']}", number, raw)
            self._plugins[match["name"]] = None

    def _read_plugin(self, match: Match[str], _host: str, _number: int, _raw: bytes) -> None:
        if len(self._plugins) < _PROOFS:
            self._plugins[match["name"]] = None

    def _read_trees(self, match: Match[str], _host: str, _number: int, _raw: bytes) -> None:
        # Each rank prints that they exist; one prints that they are not used, and that holds.
        enabled = match.re is messages.TREES or match["state"] != "disabled"
        self._trees = enabled if self._trees is None else self._trees and enabled

    def _read_count(self, match: Match[str], _host: str, _number: int, _raw: bytes) -> None:
        self._count = max(int(match["count"]), self._count or 0)

    def _read_ring(self, match: Match[str], _host: str, _number: int, _raw: bytes) -> None:
        count = int(match["of"] or int(match["channel"]) + 1)
        ranks = len(match[0].partition(":")[2].split())
        self._count, self._rings[ranks] = max(count, self._count or 0), max(count, self._rings.get(ranks, 0))

    def _read_no_infiniband(self, _found: Match[str], host: str, _number: int, _raw: bytes) -> None:
        # Of several plugins one may have HCAs.
        self._names.setdefault(host, ())

    def _read_no_collnet(self, _found: Match[str], _host: str, _number: int, _raw: bytes) -> None:
        self._collnet = self._collnet or False

    def _read_no_gpudirect(self, match: Match[str], _host: str, number: int, raw: bytes) -> None:
        if len(self._no_gpudirect) < UNREAD_KEPT:
            self._no_gpudirect.setdefault(match[0], _kept(number, raw))

    def warn(self, number: int, text: str) -> None:
        """Store a warning."""
        if len(self._warnings) < UNREAD_KEPT:
            self._warnings.append(Unread(line=number, text=text))

    def _plugin_names(self, transports: Iterable[str]) -> tuple[str, ...]:
        nets = (name.removeprefix("NET/") for name in transports if name.startswith("NET/"))
        return tuple(name for name in dict.fromkeys((*self._plugins, *nets)) if name not in _OWN_NETWORKS)

    def log(self) -> NcclLog:
        """Return what was read."""
        ranks = {rank: host for rank, host in self._ranks.items() if host}
        counts = self.channels.counts(self._devices, ranks, groups=len(self._sizes) > 1)
        return NcclLog(
            version=self._version,
            cuda=self._cuda,
            nranks=self._nranks,
            initialised=len(self._ready),
            devices=tuple(dict.fromkeys(name for names in self._names.values() for name in names)),
            devices_by_host=dict(sorted(self._names.items())),
            link_layers=dict(sorted(self._links.items())),
            sockets=tuple(self._sockets),
            plugins=self._plugin_names(counts.fields["transports"]),
            **counts.fields,
            channels=self._count,
            rings=self._rings.get(self._nranks or 0),
            rings_between_nodes=sum(times >= len({*ranks.values()}) for times in counts.crossings.values()),
            trees=self._trees,
            collnet=self._collnet,
            gdr_unavailable=tuple(self._no_gpudirect.values()),
            warnings=tuple(self._warnings),
            proofs=self._proofs,
        )


_CONNECTIONS = frozenset({"Channel", "Ring", "CollNet", "Coll"})
_Read = Callable[[ProgramLog, Match[str], str, int, bytes], None]
_Kinds = tuple[tuple[Pattern[str], str, _Read | None], ...]
_COMMUNICATOR: _Kinds = ((messages.COMMUNICATOR, "", ProgramLog._read_communicator),)
_GPUDIRECT: _Kinds = (
    (messages.NO_GPUDIRECT, "GPU Direct RDMA Disabled", ProgramLog._read_no_gpudirect),
    (messages.GPUDIRECT, "GPU Direct RDMA Enabled", None),
)
_NEIGHBOURS: _Kinds = ((messages.NEIGHBOURS, "", None),)
_BOOTSTRAP: _Kinds = ((messages.BOOTSTRAP, "Bootstrap : Using", ProgramLog._read_sockets),)
_NO_COLLNET: _Kinds = ((messages.NO_COLLNET, "CollNet", ProgramLog._read_no_collnet),)
_PLUGIN: _Kinds = (
    (messages.NO_PLUGIN, "NET/Plugin", None),
    (messages.PLUGIN, "Loaded net plugin", ProgramLog._read_plugin),
)
_KINDS: Mapping[str, _Kinds] = {
    "Channel": ((messages.RING_OF_RANKS, "", ProgramLog._read_ring),),
    "Ring": _NEIGHBOURS,
    "Tree": _NEIGHBOURS,
    "Trees": ((messages.TREES, "Trees", ProgramLog._read_trees),),
    "comm": _COMMUNICATOR,
    "NET/IB": (
        (messages.INFINIBAND, "NET/IB : Using", ProgramLog._read_infiniband),
        (messages.NO_INFINIBAND, "NET/IB : No device found", ProgramLog._read_no_infiniband),
        *_GPUDIRECT,
    ),
    "NET/Plugin": _PLUGIN,
    "NET/Plugin:": _PLUGIN,
    "NCCL_NET_GDR_LEVEL": ((messages.GPUDIRECT_OFF, "NCCL_NET_GDR_LEVEL", None),),
    "NCCL_IB_DISABLE": ((messages.INFINIBAND_DISABLED, "NCCL_IB_DISABLE", None),),
    "NET/Socket": ((messages.SOCKET, "NET/Socket : Using", ProgramLog._read_sockets), *_GPUDIRECT),
    "Bootstrap": _BOOTSTRAP,
    "Bootstrap:": _BOOTSTRAP,
    "Connected": ((messages.CONNECTED, "", None),),
    "Using": (
        (messages.NETWORK, "Using network", ProgramLog._read_network),
        (messages.THREADS, "Trees", ProgramLog._read_trees),
    ),
    "NCCL": ((messages.VERSION, "NCCL version", ProgramLog._read_version),),
    "Cannot": _NO_COLLNET,
    "CollNet": _NO_COLLNET,
    "GPU": _GPUDIRECT,
    "Failed": ((messages.NO_VERBS, "libibverbs", None),),
}
"""First word of a message -> its forms, the name of its proof, and what reads it."""


def _kinds(word: str) -> _Kinds:
    if (kinds := _KINDS.get(word)) is not None:
        return kinds
    if word.startswith("ncclComm"):
        return _COMMUNICATOR
    if word.startswith("NET/"):
        return _GPUDIRECT
    return ((messages.CHANNELS, "", ProgramLog._read_count),) if word.isdecimal() else ()


def _kept(number: int, raw: bytes) -> Unread:
    return Unread(line=number, text=clean(number, raw).text)
