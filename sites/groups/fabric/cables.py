"""The cables of an InfiniBand fabric: as the settings have them, or as a document plans them for such machines."""

import re
from collections.abc import Iterator, Mapping
from itertools import count

from pydantic import Field

from hardware import fabric
from hardware.cabling import ESS3000
from hardware.model import Model
from hardware.profiles import Hca
from sites.output import Open
from sites.settings.switches import in_order
from sites.site import Host, Site

PLANNED = "switch-1"
"""Name of the one switch that a document plans."""
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
    lower_port: int
    upper: str
    upper_port: int
    rate_gbps: int


class Cables(Model):
    """All cables of a fabric."""

    links: tuple[Link, ...]
    trunks: tuple[Trunk, ...] = ()
    levels: int = Field(default=1, description="of switches; with more than one it is a fat tree")


def of(site: Site) -> Iterator[Cables | Open]:
    """Yield the cables of a site, and what is open; the ports of `site.switches` come before any plan."""
    given = [switch for switch in site.given.switches if switch.dialect == "onyx-ib" and switch.cabled]
    if given:
        yield from _given(site)
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


def _given(site: Site) -> Iterator[Cables | Open]:
    ports = {(host.short, hca.name): hca for host in site.gpu_hosts for hca in host.ports}
    switches = [switch for switch in site.given.switches if switch.dialect == "onyx-ib"]
    links: list[Link] = []
    for switch in switches:
        for port in switch.cabled:
            if cable := switch.ports.get(port):
                name, _, device = cable.partition("/")
                short = name.partition(".")[0]
                links.append(_link(short, ports[short, device], switch.name, port))
            elif adapter := _ADAPTER.fullmatch(switch.others[port]):
                host, own = adapter.groups()
                rate = _STORAGE_RATES.get(host)
                links.append(Link(host=host, adapter=own, switch=switch.name, port=port, rate_gbps=rate))
            else:
                yield Open(
                    f"the adapter on port {port} of {switch.name}, {switch.others[port]!r}",
                    f"write it as HOST HCA-N in `others` of site.switches: {switch.name}",
                )
    if len({link.switch for link in links}) > 1:
        yield Open("the cables between the switches", "add them to fabric/ibsim.net; site.switches has none")
    yield Cables(links=tuple(sorted(links, key=lambda link: (link.switch, in_order(link.port)))))


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
    """Return the name of an adapter in ibhosts: mlx5_0 is HCA-1 (R-4.1-7)."""
    number = re.fullmatch(r"mlx\d_(\d+)", device)
    return f"HCA-{int(number[1]) + 1}" if number else device


def _pod(site: Site) -> Iterator[Cables | Open]:
    """Yield the compute fabric of a POD (D-3.3, D-3.6)."""
    machines = site.gpu_hosts
    yield Open("the cables of the storage fabric", "plan them with the storage's own ports; no setting names these")
    try:
        size = fabric.compute_fabric(len(machines))
    except ValueError as error:
        yield Open(f"the cables of the compute fabric: {error}", "name its switches with their ports by POD")
        return
    if size.core and size.estimate:
        yield Open(
            f"the cables of three levels of switches for {size.nodes} machines: D-3.3 has {fabric.POD_NODES}",
            f"use at most {fabric.TWO_LEVELS} machines or a whole POD",
        )
        return
    links = tuple(_leaf_links(machines))
    rate = links[0].rate_gbps or 0
    leaves = [link.switch for link in sorted(links, key=lambda link: in_order(link.switch))]
    # With core switches each plane has spine switches of its own: traffic of a rail stays below the core (D-3.6).
    planes = fabric.RAILS if size.core else 1
    up = [
        (leaf, f"spine-{_plane(leaf, planes) * (size.spine // planes) + turn % (size.spine // planes) + 1}")
        for leaf, turn in _turns(leaves, planes)
    ]
    spines = [f"spine-{number}" for number in range(1, size.spine + 1)]
    uplinks = size.core_cables // size.spine
    tops = [
        (spine, f"core-{(index * uplinks + turn) % size.core + 1}")
        for index, spine in enumerate(spines)
        for turn in range(uplinks)
    ]
    used = {leaf: leaves.count(leaf) for leaf in dict.fromkeys(leaves)}
    yield Cables(links=links, trunks=tuple(_trunks([*up, *tops], used, rate)), levels=3 if size.core else 2)


def _leaf_links(machines: tuple[Host, ...]) -> Iterator[Link]:
    for index, host in enumerate(machines):
        for rail, hca in enumerate(host.machine.hcas if host.machine else ()):
            leaf = f"leaf-{fabric.leaf_of(index, rail) + 1}"
            yield _link(host.short, hca, leaf, str(index % fabric.UNIT_NODES + 1))


def _plane(leaf: str, planes: int) -> int:
    return (int(leaf.removeprefix("leaf-")) - 1) % planes


def _turns(leaves: list[str], planes: int) -> Iterator[tuple[str, int]]:
    """Yield one cable up for each down, with its number in its plane, so that each spine switch is next in turn."""
    turns = [count() for _ in range(planes)]
    for leaf in leaves:
        yield leaf, next(turns[_plane(leaf, planes)])


def _trunks(pairs: list[tuple[str, str]], used: dict[str, int], rate: int) -> Iterator[Trunk]:
    """Yield cables, each on the next free ports of its switches."""
    taken = dict(used)
    for lower, upper in pairs:
        taken[lower] = taken.get(lower, 0) + 1
        taken[upper] = taken.get(upper, 0) + 1
        yield Trunk(lower=lower, lower_port=taken[lower], upper=upper, upper_port=taken[upper], rate_gbps=rate)
