"""Channels between ranks, each counted once, whichever of its ends the log holds."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from evidence.nccl_debug.messages import Channel, End


class Place(NamedTuple):
    """One end of a channel: where it was said, and by which device it goes."""

    host: str
    receives: bool
    device: int | None
    gpudirect: bool


class Counts(NamedTuple):
    """Channels, by what NcclLog asks."""

    transports: Mapping[str, int]
    between_nodes: Mapping[str, int]
    gpudirect: int
    gpudirect_between_nodes: int
    gpudirect_one_end: int
    used_devices: Mapping[str, int]


class Channels:
    """All channels of a program.

    A channel is one number, connection, pair of ranks in their order, and transport. Its lines are one channel: the
    [send] and [receive] of its two ends, which are two lines of two hosts; that of P2P and shared memory, which only
    the sender prints; and the same lines of another communicator that has the same ranks. So a log of one host alone,
    or a line that is there twice, does not change the figure.

    The host of an end is that of its line: who sends, and who uses P2P or shared memory, is the channel's first rank.
    The other end's is known from its own line, or from any line of its rank when all of them are of one host. A
    channel is between hosts when both are known and differ; P2P and shared memory never are, but for MNNVL.
    Hosts are what NCCL calls them: of pods, the pods.

    It goes by GPUDirect when every end that the log holds says so: a node without the kernel module says it not, and
    its neighbour does.
    """

    def __init__(self) -> None:
        self._channels: dict[Channel, tuple[Place, ...]] = {}
        self._places: dict[tuple[Place, ...], tuple[Place, ...]] = {}

    def add(self, end: End, host: str) -> None:
        """Take what one end said."""
        place = Place(host, end.receives, end.device, end.gpudirect)
        known = self._channels.get(end.channel, ())
        if place not in known:
            # There are few different sets of places, and many channels: they share them.
            places = (*known, place)
            self._channels[end.channel] = self._places.setdefault(places, places)

    def ranks(self) -> Mapping[int, str]:
        """Return the hosts of the ranks that have said something on one host only."""
        hosts: dict[int, set[str]] = {}
        for channel, places in self._channels.items():
            for place in places:
                hosts.setdefault(channel.target if place.receives else channel.source, set()).add(place.host)
        return {rank: next(iter(names)) for rank, names in hosts.items() if len(names) == 1}

    def counts(self, devices: Mapping[str, Mapping[int, tuple[str, ...]]], ranks: Mapping[int, str]) -> Counts:
        """Count; `devices` are the HCAs of each host by index, `ranks` the hosts of ranks that their own lines name."""
        ranks = {**ranks, **self.ranks()}
        transports: Counter[str] = Counter()
        between: Counter[str] = Counter()
        used: Counter[str] = Counter()
        direct = direct_between = half = 0
        for channel, places in self._channels.items():
            transports[channel.transport] += 1
            apart = _between(channel, places, ranks)
            between[channel.transport] += apart
            if all(place.gpudirect for place in places):
                direct += 1
                direct_between += apart
            elif any(place.gpudirect for place in places):
                half += 1
            used.update(set(_hcas(channel, places, devices)))
        return Counts(
            dict(sorted(transports.items())), dict(sorted((+between).items())), direct, direct_between, half,
            dict(sorted(used.items())),
        )  # fmt: skip

    def __bool__(self) -> bool:
        """Tell whether there is any."""
        return bool(self._channels)


def _between(channel: Channel, places: tuple[Place, ...], ranks: Mapping[int, str]) -> bool:
    if not channel.transport.startswith(("NET/", "P2P/MNNVL")):
        return False
    sending: set[str | None] = {place.host for place in places if not place.receives} or {ranks.get(channel.source)}
    receiving: set[str | None] = {place.host for place in places if place.receives} or {ranks.get(channel.target)}
    return None not in sending | receiving and len(sending | receiving) > 1


def _hcas(
    channel: Channel, places: tuple[Place, ...], devices: Mapping[str, Mapping[int, tuple[str, ...]]]
) -> Iterator[str]:
    if channel.transport.startswith("NET/IB"):
        for place in places:
            if place.device is not None:
                yield from devices.get(place.host, {}).get(place.device, ())
