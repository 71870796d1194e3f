"""Which ports of a node are next to its GPUs, and so are the rails of its fabric."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, cast, get_args

from core.hardware.profiles.records import Near, Reach

_NEAR, _REACH = get_args(Near), get_args(Reach)
"""PCIe paths of a port that is next to a GPU, and of one that is on its NUMA node, the nearest first."""
_MOST_PORTS = 8
"""Ports of the cards below one PCIe switch, at most."""
LinkLayer = Literal["InfiniBand", "Ethernet"]


@dataclass(frozen=True)
class Port:
    """A verbs device. None: not known."""

    name: str
    paths: tuple[str | None, ...]
    """To each GPU."""
    has_interface: bool | None = None
    link_layer: LinkLayer | None = None
    rate_gbps: int | None = None
    virtual: bool = False
    """Whether it is a virtual function."""
    chip: str | None = None
    card: str | None = None
    """A name that all ports of its card have."""

    @property
    def nearest(self) -> Near | None:
        """The shortest of its paths, if that makes it a neighbour of a GPU."""
        return next((cast("Near", path) for path in _NEAR if path in self.paths), None)

    @property
    def distance(self) -> Reach | None:
        """The shortest of its paths; None for a port that is on the NUMA node of no GPU."""
        return next((cast("Reach", path) for path in _REACH if path in self.paths), None)

    @property
    def gpus(self) -> tuple[int, ...]:
        """GPUs at the shortest of its paths."""
        return tuple(gpu for gpu, path in enumerate(self.paths) if path == self.distance) if self.distance else ()


@dataclass
class Rails:
    """The ports that are rails, in the order of their GPUs; empty, with a reason, where this cannot be decided."""

    ports: tuple[Port, ...] = ()
    undecided: str | None = None
    no_rails: dict[str, str] = field(default_factory=dict)
    """Name of each other port -> why it is not a rail; of an undecided node those that surely are none."""


def choose(ports: Sequence[Port], gpus: int, *, on_grace: bool = False) -> Rails:
    """Return the rails of a node.

    A rail is a port at PIX of a GPU or, where a GPU has none, at PXB. Of the ports that are so near, those without a
    network interface, with Ethernet beside InfiniBand, or with a lower rate are for something else, if the rest is next
    to the same GPUs; else it is not decided. Nor is it where GPUs have different numbers of rails, or are as near to
    other ports as further GPUs are to their rails, or one has no rail and a port is left that could be it: a lost PCIe
    link looks like that, too.

    Where no port is so near, those that nothing excludes are the rails if they are alike: the matrix decides nothing
    then, and less with Grace processors (`on_grace`), of which it shows no NVLink-C2C.
    """
    chosen = Rails()
    if any(None in port.paths or len(port.paths) != gpus for port in ports):
        return _undecided(chosen, "the matrix does not give the path of each device to each GPU")
    physical = left = [port for port in ports if not port.virtual]
    if (many := max(Counter(port.card for port in physical if port.card).values(), default=0)) > _MOST_PORTS:
        why = (
            f"{many} ports are at PIX of each other, as virtual functions are: `lspci -nn` and ibdev2netdev name those"
        )
        return _undecided(chosen, why)
    chosen.no_rails |= {port.name: "virtual function" for port in ports if port.virtual}
    for excluded, why in _EXCLUDED:
        wrong = [port for port in left if excluded(port, left)]
        left = [port for port in left if port not in wrong]
        if lost := _beside(physical) - _beside(left):
            only = ", ".join(port.name for port in wrong if lost & _beside([port]))
            return _undecided(chosen, f"next to GPU {_listed(lost)} is only {only}: {why}")
        chosen.no_rails |= {port.name: why for port in wrong}
    near = [port for port in left if port.nearest]
    if not near:
        return _far(chosen, left, on_grace=on_grace)
    rails = sorted(
        {name: port for gpu in range(gpus) for name, port in _next_to(gpu, near).items()}.values(),
        key=lambda port: (min(port.gpus), len(port.name), port.name),
    )
    doubt = _doubt(rails, [port for port in left if port not in rails], gpus)
    if doubt is not None:
        return _undecided(chosen, doubt)
    chosen.ports = tuple(rails)
    chosen.no_rails |= {
        port.name: "not the nearest to a GPU"
        for port in ports
        if port not in rails and port.name not in chosen.no_rails
    }
    return chosen


def _far(rails: Rails, left: Sequence[Port], *, on_grace: bool) -> Rails:
    """Return the rails of a node on which no port is next to a GPU: all that are left, if they are alike."""
    why = "no port is at PIX or PXB of a GPU"
    if not left or on_grace:
        return _undecided(rails, why)
    cards = Counter(port.card or port.name for port in left)
    unknown = any(port.link_layer is None or port.rate_gbps is None for port in left)
    if len(cards) > 1 and unknown and not any(port.distance for port in left):
        return _undecided(rails, f"{why}, or on its NUMA node, and link layers and rates are not known")
    for what, values in (
        ("link layers", {port.link_layer for port in left}),
        ("rates", {port.rate_gbps for port in left}),
        ("adapters", {port.chip for port in left}),
        ("numbers of ports to a card", {*cards.values()}),
        ("distances, some on the NUMA node of GPUs and some not", {port.distance is None for port in left}),
    ):
        if len(values) > 1:
            return _undecided(rails, f"{why}, and those that are left have different {what}")
    rails.ports = tuple(sorted(left, key=lambda port: (min(port.gpus, default=0), len(port.name), port.name)))
    return rails


def _ethernet_beside_infiniband(port: Port, others: Iterable[Port]) -> bool:
    """Return whether it is Ethernet and others of InfiniBand are as near to GPUs, or it is near to none itself."""
    layers = {other.link_layer for other in others if other.nearest or not port.nearest}
    return port.link_layer == "Ethernet" and "InfiniBand" in layers


def _slower(port: Port, others: Iterable[Port]) -> bool:
    others = [*others]
    near = [other for other in others if other.nearest] or others
    fastest = max((other.rate_gbps or 0 for other in near), default=0)
    return port in near and port.rate_gbps is not None and port.rate_gbps < fastest


_EXCLUDED: tuple[tuple[Callable[[Port, Iterable[Port]], bool], str], ...] = (
    (lambda port, _: port.has_interface is False, "no network interface"),
    (_ethernet_beside_infiniband, "Ethernet beside InfiniBand"),
    (_slower, "slower than other ports that are as near to GPUs"),
)


def _doubt(rails: Sequence[Port], left: Sequence[Port], gpus: int) -> str | None:
    """Return why these may not be the rails; `left` are ports that nothing excludes."""
    counts = {gpu: len(_next_to(gpu, rails)) for gpu in range(gpus)}
    if len({count for count in counts.values() if count}) > 1:
        numbers = ", ".join(f"GPU {gpu}: {count}" for gpu, count in counts.items())
        return f"GPUs have different numbers of ports next to them ({numbers})"
    spare = [port.name for port in left if port.nearest]
    if spare and len({port.nearest for port in rails}) > 1:
        return f"some GPUs have a port at PIX, others at PXB, and {', '.join(spare)} at PXB may be meant for the former"
    layers = {port.link_layer for port in rails}
    rate = min((port.rate_gbps for port in rails if port.rate_gbps), default=0)
    spares = [
        port.name
        for port in left
        if (port.link_layer in (None, "InfiniBand") or layers & {port.link_layer, None})
        and (port.rate_gbps or rate) >= rate
    ]
    bare = [gpu for gpu, count in counts.items() if not count]
    if bare and spares:
        return f"no port is next to GPU {_listed(bare)}, and {', '.join(spares)} may be meant for it, or a link is lost"
    return None


def _next_to(gpu: int, ports: Iterable[Port]) -> Mapping[str, Port]:
    """Return the ports nearest to a GPU: at PIX or, where there is none, at PXB."""
    for path in _NEAR:
        if nearest := {port.name: port for port in ports if port.paths[gpu] == path}:
            return nearest
    return {}


def _beside(ports: Iterable[Port]) -> set[int]:
    return {gpu for port in ports for gpu, path in enumerate(port.paths) if path in _NEAR}


def _undecided(rails: Rails, why: str) -> Rails:
    rails.undecided = why
    return rails


def _listed(gpus: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(gpus)))
