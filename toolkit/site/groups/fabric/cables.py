"""The cables of an InfiniBand fabric: as the settings have them, or as a document plans them for such machines."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count

from pydantic import Field

from core.hardware import fabric
from core.hardware.cabling import ESS3000
from core.hardware.profiles import Hca
from core.model import Model
from stacks.settings.site.switches import Switch, in_order
from stacks.site.site import Host, Site, between
from toolkit.site.output import Open

STORAGE = "storage"
PLANNED = "switch-1"
"""Name of the one switch that a document plans."""
_NUMBER = re.compile(r"(?:1/)?(\d+)")
_ADAPTER = re.compile(r"(\S+) ((?:HCA-|mlx\d_)\d+)")
_STORAGE_RATES: Mapping[str, int] = dict.fromkeys(ESS3000.hosts, ESS3000.rate_gbps)


class Link(Model):
    """A cable from an adapter to a switch."""

    host: str = Field(description="without its domain")
    adapter: str = Field(description="as ibhosts names it: HCA-1")
    device: str | None = Field(default=None, description="verbs device, e.g. mlx5_0; None: not given")
    switch: str
    port: str = Field(description="of the switch, as its dialect writes it; a number where a document plans it")
    rate_gbps: int | None = Field(description="line rate in Gb/s; None: neither settings nor documents give it")


class Trunk(Model):
    """A cable between two switches."""

    lower: str = Field(description="the switch nearer to the machines")
    lower_port: str
    upper: str
    upper_port: str
    rate_gbps: int | None = Field(default=None, description="as of a link")


class Cables(Model):
    """All cables of a fabric."""

    name: str = Field(default="", description="what the fabric is for, where it is not for computing alone: storage")
    links: tuple[Link, ...]
    trunks: tuple[Trunk, ...] = ()

    @property
    def ports(self) -> Mapping[str, Mapping[str, int]]:
        """The used ports of each switch, as written -> as InfiniBand numbers them: 1/7 is 7, in order where split."""
        used: dict[str, list[str]] = {}
        for link in self.links:
            used.setdefault(link.switch, []).append(link.port)
        for trunk in self.trunks:
            used.setdefault(trunk.lower, []).append(trunk.lower_port)
            used.setdefault(trunk.upper, []).append(trunk.upper_port)
        return {switch: _numbered(ports) for switch, ports in used.items()}

    def has_numbers(self, switch: str) -> bool:
        """Return whether the ports of a switch are known by InfiniBand's numbers: none of them is split."""
        return all(_NUMBER.fullmatch(port) for port in self.ports[switch])


def _numbered(ports: Iterable[str]) -> Mapping[str, int]:
    ordered = sorted(ports, key=in_order)
    numbers = [_NUMBER.fullmatch(port) for port in ordered]
    return {
        port: int(number[1]) if number and all(numbers) else at
        for at, (port, number) in enumerate(zip(ordered, numbers, strict=True), 1)
    }


def of(site: Site) -> Iterator[Cables | Open]:
    """Yield the cables of a site, and what is open; the ports of `site.switches` come before any plan."""
    switches = [switch for switch in site.settings.switches if switch.dialect == "onyx-ib"]
    if any(switch.ports or switch.others or switch.uplinks for switch in switches):
        yield from _from_settings(site, switches)
    elif site.one_switch is not None:
        numbered = enumerate(site.one_switch.cables, start=1)
        yield Cables(
            links=tuple(
                Link(host=cable.host, adapter=cable.port, switch=PLANNED, port=str(number), rate_gbps=cable.rate_gbps)
                for number, cable in numbered
            )
        )
    elif any(host.machine and host.machine.reference_design == "superpod" for host in site.hosts):
        yield from _pod(site)
    else:
        yield Open("the cables of the fabric", "name its switches with their ports in `site.switches`")


def _from_settings(site: Site, switches: Sequence[Switch]) -> Iterator[Cables | Open]:
    ports = {(host.short, hca.name): hca for host in site.gpu_hosts for hca in host.ports}
    links: list[Link] = []
    for switch in switches:
        for port, cable in switch.ports.items():
            name, _, device = cable.partition("/")
            short = name.partition(".")[0]
            links.append(_link(short, ports[short, device], switch.name, port))
        for port, peer in switch.others.items():
            if adapter := _ADAPTER.fullmatch(peer):
                host, own = adapter.groups()
                rate = _STORAGE_RATES.get(host)
                links.append(Link(host=host, adapter=own, switch=switch.name, port=port, rate_gbps=rate))
            else:
                yield Open(
                    f"the adapter on port {port} of {switch.name}, {peer!r}",
                    f"write it as HOST HCA-N in `others` of site.switches: {switch.name}",
                )
    trunks = tuple(Trunk(**trunk.model_dump()) for trunk in between(switches))
    if len({link.switch for link in links}) > 1 and not trunks:
        yield Open("the cables between the switches", "give them as `uplinks` of the lower switches in site.switches")
    links.sort(key=lambda link: (link.switch, in_order(link.port)))
    yield Cables(links=tuple(links), trunks=trunks)


def _link(host: str, hca: Hca, switch: str, port: str) -> Link:
    return Link(
        host=host,
        adapter=adapter_of(hca.name),
        device=hca.name,
        switch=switch,
        port=port,
        rate_gbps=hca.rate_gbps,
    )


def adapter_of(device: str) -> str:
    """Return the name of an adapter in ibhosts: mlx5_0 is HCA-1."""
    number = re.fullmatch(r"mlx\d_(\d+)", device)
    return f"HCA-{int(number[1]) + 1}" if number else device


def _pod(site: Site) -> Iterator[Cables | Open]:
    machines = site.gpu_hosts
    try:
        size = fabric.compute_fabric(len(machines))
    except ValueError as error:
        yield Open(f"the cables of the fabrics: {error}", "name their switches with their ports by POD")
        return
    yield from _storage(machines)
    if size.core and size.estimate:
        yield Open(
            f"the cables of three levels of switches for {size.nodes} machines: the SuperPOD architecture has "
            f"{fabric.POD_NODES}",
            f"use at most {fabric.TWO_LEVELS} machines or a whole POD",
        )
        return
    links = tuple(_leaf_links(machines))
    rate = links[0].rate_gbps or 0
    leaves = [link.switch for link in sorted(links, key=lambda link: in_order(link.switch))]
    # With core switches each plane has spine switches of its own: traffic of a rail stays below the core.
    planes = fabric.RAILS if size.core else 1
    up = [
        (leaf, f"spine-{_plane(leaf, planes) * (size.spine // planes) + turn % (size.spine // planes) + 1}")
        for leaf, turn in _rounds(leaves, planes)
    ]
    spines = [f"spine-{number}" for number in range(1, size.spine + 1)]
    uplinks = size.core_cables // size.spine
    tops = [
        (spine, f"core-{(index * uplinks + turn) % size.core + 1}")
        for index, spine in enumerate(spines)
        for turn in range(uplinks)
    ]
    used = {leaf: leaves.count(leaf) for leaf in dict.fromkeys(leaves)}
    yield Cables(links=links, trunks=tuple(_trunks([*up, *tops], used, rate)))


def _storage(machines: tuple[Host, ...]) -> Iterator[Cables | Open]:
    """Yield the storage fabric: machines next to each other on the same two leaves, as many cables on each."""
    size = fabric.storage_fabric(len(machines))
    if any(len(_storage_ports(host)) < fabric.STORAGE_LINKS for host in machines):
        yield Open("the cables of the storage fabric", "name the machines' ports for storage in a machine file")
        return
    yield Open(
        f"the storage's own adapters: {STORAGE} HCA-1 to HCA-{size.storage_ports} stand for them in "
        "fabric/storage-cables.csv",
        "write their names, as ibhosts prints them, or name the switches with their ports in `site.switches`",
    )
    leaves = [f"storage-leaf-{number}" for number in range(1, size.leaf + 1)]
    spines = [f"storage-spine-{number}" for number in range(1, size.spine + 1)]
    step = fabric.STORAGE_LINKS if size.leaf % fabric.STORAGE_LINKS == 0 else 1
    used = Counter(dict.fromkeys((*leaves, *spines), 0))
    links = []
    for index, host in enumerate(machines):
        first = index * (size.leaf // step) // len(machines) * step
        for turn, hca in enumerate(_storage_ports(host)):
            used[leaf := leaves[(first + turn) % size.leaf]] += 1
            links.append(_link(host.short, hca, leaf, str(used[leaf])))
    rate = links[0].rate_gbps
    for number in range(1, size.storage_ports + 1):
        used[leaf := min(leaves, key=used.__getitem__)] += 1
        links.append(Link(host=STORAGE, adapter=f"HCA-{number}", switch=leaf, port=str(used[leaf]), rate_gbps=rate))
    yield Cables(
        name=STORAGE, links=tuple(links), trunks=tuple(_trunks(_spine_cables(leaves, spines, used, size), used, rate))
    )


def _spine_cables(
    leaves: Sequence[str], spines: Sequence[str], used: Mapping[str, int], size: fabric.StorageFabric
) -> list[tuple[str, str]]:
    """Return cables from the leaves with most free ports to the spine switches that they have fewest to."""
    used_ports, between = Counter(used), Counter[tuple[str, str]]()
    pairs = []
    for _ in range(size.spine_cables):
        leaf = min(leaves, key=used_ports.__getitem__)
        spine = min(spines, key=lambda switch: (between[leaf, switch], used_ports[switch]))
        used_ports.update((leaf, spine))
        between[leaf, spine] += 1
        pairs.append((leaf, spine))
    return pairs


def _storage_ports(host: Host) -> Sequence[Hca]:
    return host.machine.storage_hcas[: fabric.STORAGE_LINKS] if host.machine else ()


def _leaf_links(machines: tuple[Host, ...]) -> Iterator[Link]:
    for index, host in enumerate(machines):
        for rail, hca in enumerate(host.machine.hcas if host.machine else ()):
            leaf = f"leaf-{fabric.leaf_of(index, rail) + 1}"
            yield _link(host.short, hca, leaf, str(index % fabric.UNIT_NODES + 1))


def _plane(leaf: str, planes: int) -> int:
    return (int(leaf.removeprefix("leaf-")) - 1) % planes


def _rounds(leaves: list[str], planes: int) -> Iterator[tuple[str, int]]:
    """Yield one cable up for each down, with its number in its plane, so that each spine switch is next in turn."""
    turns = [count() for _ in range(planes)]
    for leaf in leaves:
        yield leaf, next(turns[_plane(leaf, planes)])


def _trunks(pairs: list[tuple[str, str]], used: Mapping[str, int], rate: int | None) -> Iterator[Trunk]:
    """Yield cables, each on the next free ports of its switches."""
    used_ports = Counter(used)
    for lower, upper in pairs:
        used_ports.update((lower, upper))
        yield Trunk(
            lower=lower,
            lower_port=str(used_ports[lower]),
            upper=upper,
            upper_port=str(used_ports[upper]),
            rate_gbps=rate,
        )
