"""Fabric: the cables of an InfiniBand network, as a list, for a simulator of it, and for its subnet manager."""

from collections import defaultdict
from collections.abc import Iterator

from core.hardware.fabric import SWITCH_PORTS
from stacks.site.site import Site
from toolkit.site.groups.fabric import cables
from toolkit.site.groups.fabric.cables import Cables
from toolkit.site.output import File, Group, Open

_SPEEDS = {100: "4xEDR", 200: "4xHDR", 400: "4xNDR"}
"""Line rates in Gb/s as ibsim 0.10 reads them; other links stay at its slowest rate."""
_SOURCES = ("R-2.1-3", "R-3.1-4", "R-3.1-5", "D-3.3", "D-3.6")
_OPENSM = """\
# Only what differs from the defaults of `opensm --create-config FILE`. Leaves and spines are a fat tree; where units
# are not full, opensm does not take them for one, and routes upwards and downwards instead.
routing_engine ftree,updn
"""


def network(cables: Cables, path: str, sources: tuple[str, ...]) -> Iterator[File | Open]:
    """Yield a network for ibsim, the simulator of InfiniBand's management packets, on which a real opensm starts."""
    ends: dict[str, list[str]] = defaultdict(list)
    ports = cables.ports
    adapters: list[str] = []
    for link in cables.links:
        name, number = f"{link.host}-{link.adapter}", ports[link.switch][link.port]
        adapters.append(f'Hca 1 "{name}"  # "{link.host} {link.adapter}"')
        adapters.append(_end(1, link.switch, number, link.rate_gbps))
        ends[link.switch].append(_end(number, name, 1, link.rate_gbps))
    for trunk in cables.trunks:
        lower, upper = ports[trunk.lower][trunk.lower_port], ports[trunk.upper][trunk.upper_port]
        ends[trunk.lower].append(_end(lower, trunk.upper, upper, trunk.rate_gbps))
        ends[trunk.upper].append(_end(upper, trunk.lower, lower, trunk.rate_gbps))
    rates = [*(link.rate_gbps for link in cables.links), *(trunk.rate_gbps for trunk in cables.trunks)]
    if unknown := [rate for rate in rates if rate not in _SPEEDS]:
        yield Open(
            f"the rate of {len(unknown)} cables in {path}",
            "none: ibsim runs them at 2.5 Gb/s a lane; compare their rates with the list of cables yourself",
        )
    sizes = {name: max(SWITCH_PORTS, *own.values()) for name, own in ports.items()}
    switches = [line for name, own in ends.items() for line in (f'Switch {sizes[name]} "{name}"  # "{name}"', *own, "")]
    text = "\n".join(("# The cables, for the simulator: ibsim -s FILE", *switches, *adapters))
    yield File(path, f"{text}\n", sources)


def _end(port: int, other: str, other_port: int, rate: int | None) -> str:
    """Return one end of a cable; ibsim has both, and reads the speed from the comment alone."""
    speed = f'  # "{other}" lid 0 {_SPEEDS[rate]}' if rate in _SPEEDS else ""
    return f'[{port}] "{other}"[{other_port}]{speed}'


def _render(site: Site) -> Iterator[File | Open]:
    if site.fabric != "infiniband":
        return
    fabrics = []
    for fabric in cables.of(site):
        if isinstance(fabric, Open):
            yield fabric
            continue
        fabrics.append(fabric)
        before = f"fabric/{fabric.name}-" if fabric.name else "fabric/"
        sources = ("D-3.4",) if fabric.name else _SOURCES
        yield File(f"{before}cables.csv", _csv(fabric), sources)
        yield from network(fabric, f"{before}ibsim.net", sources)
    if any(fabric.trunks for fabric in fabrics):
        yield File("fabric/opensm.conf", _OPENSM, sources=("D-3.3", "D-3.6"))


def _csv(cables: Cables) -> str:
    rows = [("host", "adapter", "device", "switch", "port", "rate_gbps")]
    rows += [
        (link.host, link.adapter, link.device or "", link.switch, link.port, str(link.rate_gbps or ""))
        for link in cables.links
    ]
    rows += [
        (trunk.lower, trunk.lower_port, "", trunk.upper, trunk.upper_port, str(trunk.rate_gbps or ""))
        for trunk in cables.trunks
    ]
    return "".join(f"{','.join(row)}\n" for row in rows)


GROUP = Group("fabric", "cables, network for ibsim, and options of opensm", _render)
