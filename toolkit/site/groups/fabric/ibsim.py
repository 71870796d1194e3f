"""A network for ibsim, the simulator of InfiniBand's management packets, on which a real opensm can be started."""

from collections import defaultdict
from collections.abc import Iterator

from core.hardware.fabric import SWITCH_PORTS
from toolkit.site.groups.fabric.cables import Cables
from toolkit.site.output import File, Open

_SPEEDS = {100: "4xEDR", 200: "4xHDR", 400: "4xNDR"}
"""Line rates in Gb/s as ibsim 0.10 reads them; other links stay at its slowest rate."""


def files(cables: Cables, path: str, sources: tuple[str, ...]) -> Iterator[File | Open]:
    """Yield the network."""
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
