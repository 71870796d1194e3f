"""Channels between ranks, each counted once, whichever of its ends the log holds."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from toolkit.evidence.model import OneEnd
from toolkit.evidence.nccl_debug.messages import Kind, number, ranks

Devices = Mapping[str, Mapping[int, tuple[str, ...]]]
"""Host -> index of NCCL -> HCAs."""


MOST = 500_000
"""Channels of a program that are counted: some 70 MB. A job of 4,096 GPUs has fewer; what is beyond is not read."""


_PAIRS = 2000
"""Pairs of ranks that are stored of channels of which one end was printed."""
_HOSTS = 4
"""Hosts that are stored of those that print the same end: a framework's many groups have ranks with equal numbers.

Of a channel within a host it is one.
"""


class Place(NamedTuple):
    """One end of a channel, and the host that printed it."""

    kind: Kind
    host: str


class Ends:
    """All that the ends of a channel printed. There are few different ones, and many channels: they share them."""

    def __init__(self, places: frozenset[Place]) -> None:
        self.places = places
        self.after: dict[tuple[Kind, str], Ends] = {}
        """Return what it is after one more end was read."""

    @property
    def transport(self) -> str:
        """Of the channel."""
        return next(iter(self.places)).kind.transport

    @property
    def networked(self) -> bool:
        """Return whether it may go between hosts."""
        return _networked(self.transport)

    @property
    def single(self) -> bool:
        """Return whether the other end may be on another host, and printed nothing."""
        return self.networked and len({place.kind.receives for place in self.places}) == 1

    @property
    def between(self) -> bool:
        """Return whether several hosts printed it, or its GPUs cannot be of one host."""
        several = len({place.host for place in self.places}) > 1
        return self.networked and (several or any(place.kind.equal_gpus for place in self.places))

    def hcas(self, devices: Devices) -> frozenset[str]:
        """Return the HCAs of its ends."""
        return self._hcas(devices, True) | self._hcas(devices, False)

    def crossed(self, devices: Devices) -> str | None:
        """Return the HCAs that its two ends name, when they have none in common; None: they have, or one is unknown."""
        sends, receives = self._hcas(devices, False), self._hcas(devices, True)
        if not sends or not receives or sends & receives:
            return None
        return f"{', '.join(sorted(sends))} to {', '.join(sorted(receives))}"

    def _hcas(self, devices: Devices, receives: bool) -> frozenset[str]:
        return frozenset(
            name
            for kind, host in self.places
            if kind.device is not None and kind.receives is receives and kind.transport.startswith("NET/IB")
            for name in devices.get(host, {}).get(kind.device, ())
        )


class Counts(NamedTuple):
    """Counts of channels."""

    fields: Mapping[str, Any]
    """As NcclLog has them."""
    crossings: Mapping[int, int]
    """Number of a channel, so of its ring -> how many of that number are between hosts."""


class TooMany(Exception):
    """There are MOST channels, and this is another one."""


class Channels:
    """All channels of a program.

    A channel is one number, connection, pair of ranks in their order, and transport. Its lines are one channel: the
    [send] and [receive] of its two ends, which are two lines of two hosts; that of P2P and shared memory, which only
    the sender prints; and the same lines of another communicator that has the same ranks. So a log of one host alone,
    or a line that is there twice, does not change the figure.

    The host of an end is that of its line: who sends, and who uses P2P or shared memory, is the channel's first rank.
    The other end's is known from its own line, or from other lines of its rank when all of them are of one host. A
    channel over a network is between hosts unless both are known and equal: a host's log has both ends of a channel
    within it. P2P and shared memory never are between hosts, but for MNNVL where both are known and differ.
    Hosts are what NCCL calls them: of pods, the pods.

    It goes by GPUDirect when every end that the log holds says so: a node without the kernel module says it not, and
    its neighbour does.
    """

    def __init__(self) -> None:
        self._channels: dict[int, Ends] = {}
        self._none = Ends(frozenset())
        self._all: dict[frozenset[Place], Ends] = {}

    def add(self, channel: int, kind: Kind, host: str) -> bool:
        """Add one end, and return whether it was known; raise TooMany where there is no room for one more channel."""
        before = self._channels.get(channel, self._none)
        after = before.after.get((kind, host)) or self._after(before, kind, host)
        if after is before:
            return True
        if before is self._none and len(self._channels) >= MOST:
            raise TooMany
        self._channels[channel] = after
        return False

    def _after(self, before: Ends, kind: Kind, host: str) -> Ends:
        if sum(place.kind is kind for place in before.places) >= (_HOSTS if _networked(kind.transport) else 1):
            after = before
        else:
            places = before.places | {Place(kind, host)}
            after = self._all.setdefault(places, Ends(places))
        before.after[kind, host] = after
        return after

    def _hosts(self) -> Mapping[int, str]:
        hosts: dict[int, set[str]] = {}
        for channel, ends in self._channels.items():
            for kind, host in ends.places if ends.networked else ():
                hosts.setdefault(ranks(channel)[kind.receives], set()).add(host)
        return {rank: next(iter(names)) for rank, names in hosts.items() if len(names) == 1}

    def counts(self, devices: Devices, hosts: Mapping[int, str], *, groups: bool = False) -> Counts:
        """Count; `hosts` are those of ranks that lines of the ranks themselves name.

        `groups`: there are communicators of several sizes, whose ranks with equal numbers are different ones.
        """
        transports: Counter[str] = Counter()
        between: Counter[str] = Counter()
        used: Counter[str] = Counter()
        crossed: Counter[str] = Counter()
        direct = direct_between = half = 0
        # Channels with equal ends are counted together.
        equal = Counter(self._channels.values())
        between_by_ends = {ends: count if ends.between else 0 for ends, count in equal.items()}
        certain = {ends for ends in equal if ends.between}
        crossings = Counter(number(channel) for channel, ends in self._channels.items() if ends in certain)
        one_end: Counter[_Pair] = Counter()
        if any(ends.single for ends in equal):
            between_by_ends |= self._apart({} if groups else {**hosts, **self._hosts()}, crossings, one_end)
        for ends, count in equal.items():
            transports[ends.transport] += count
            between[ends.transport] += between_by_ends[ends]
            direct_ends = {place.kind.gpudirect for place in ends.places}
            if direct_ends == {True}:
                direct, direct_between = direct + count, direct_between + between_by_ends[ends]
            elif True in direct_ends:
                half += count
            used.update(dict.fromkeys(ends.hcas(devices), count))
            if (pair := ends.crossed(devices)) is not None:
                crossed[pair] += count
        between = +between
        fields = {
            "transports": _sorted(transports),
            "between_nodes": _sorted(between),
            "one_end": () if groups else tuple(_one_ends(one_end)),
            "gpudirect": direct,
            "gpudirect_between_nodes": direct_between,
            "gpudirect_one_end": half,
            "used_devices": _sorted(used),
            "crossed_devices": _sorted(crossed),
        }
        return Counts(fields, crossings)

    def _apart(self, hosts: Mapping[int, str], crossings: Counter[int], unknown: Counter["_Pair"]) -> Counter[Ends]:
        """Count the channels between hosts of which one end alone was printed, and add their numbers.

        Those whose other rank has no known host are counted by ranks, too.
        """
        halves: Counter[Ends] = Counter()
        single = {ends for ends in self._all.values() if ends.single and not ends.between}
        for channel, ends in self._channels.items():
            if ends in single:
                kind = next(iter(ends.places)).kind
                own, rank = ranks(channel)[kind.receives], ranks(channel)[not kind.receives]
                other = hosts.get(rank)
                if other is None and kind.transport.startswith("NET/"):
                    unknown[_Pair(kind.transport, own, rank, all(place.kind.gpudirect for place in ends.places))] += 1
                elif other is None or all(place.host == other for place in ends.places):
                    continue
                halves[ends] += 1
                crossings[number(channel)] += 1
        return halves


class _Pair(NamedTuple):
    """Ranks of channels of which one end was printed."""

    transport: str
    rank: int
    other: int
    gpudirect: bool


def _one_ends(pairs: Counter[_Pair]) -> Iterator[OneEnd]:
    for transport, rank, other in sorted({pair[:3] for pair in pairs})[:_PAIRS]:
        direct, plain = (pairs[_Pair(transport, rank, other, gpudirect)] for gpudirect in (True, False))
        yield OneEnd(transport=transport, rank=rank, other=other, channels=direct + plain, gpudirect=direct)


def _networked(transport: str) -> bool:
    return transport.startswith(("NET/", "P2P/MNNVL"))


def _sorted(counts: Mapping[str, int]) -> Mapping[str, int]:
    return dict(sorted(counts.items()))
