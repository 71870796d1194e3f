"""A network for ibsim, the simulator of InfiniBand's management packets, on which a real opensm can be started."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from hardware.fabric import SWITCH_PORTS
from sites.groups.fabric.cables import Cables
from sites.output import File, Open

_SPEEDS = {100: "4xEDR", 200: "4xHDR", 400: "4xNDR"}
"""Line rates in Gb/s as ibsim 0.10 reads them; other links stay at its slowest rate."""


def files(cables: Cables, sources: tuple[str, ...]) -> Iterator[File | Open]:
    """Yield the network: ports of a switch are numbered in the order of their names."""
    ends: dict[str, list[str]] = defaultdict(list)
    numbers: Counter[str] = Counter()
    adapters: list[str] = []
    for link in cables.links:
        numbers[link.switch] += 1
        name, number = f"{link.host}-{link.adapter}", numbers[link.switch]
        adapters.append(f'Hca 1 "{name}"  # "{link.host} {link.adapter}"')
        adapters.append(_end(1, link.switch, number, link.rate_gbps))
        ends[link.switch].append(_end(number, name, 1, link.rate_gbps))
    for trunk in cables.trunks:
        ends[trunk.lower].append(_end(trunk.lower_port, trunk.upper, trunk.upper_port, trunk.rate_gbps))
        ends[trunk.upper].append(_end(trunk.upper_port, trunk.lower, trunk.lower_port, trunk.rate_gbps))
    if unknown := [link for link in cables.links if link.rate_gbps not in _SPEEDS]:
        yield Open(
            f"the rate of {len(unknown)} links in fabric/ibsim.net",
            "none: ibsim runs them at 2.5 Gb/s a lane; compare their rates with cables.csv yourself",
        )
    switches = [
        line for name, own in ends.items() for line in (f'Switch {SWITCH_PORTS} "{name}"  # "{name}"', *own, "")
    ]
    text = "\n".join(("# The planned cables, for the simulator: ibsim -s FILE", *switches, *adapters))
    yield File("fabric/ibsim.net", f"{text}\n", sources)


def _end(port: int, other: str, other_port: int, rate: int | None) -> str:
    """Return one end of a cable; ibsim has both, and reads the speed from the comment alone."""
    speed = f'  # "{other}" lid 0 {_SPEEDS[rate]}' if rate in _SPEEDS else ""
    return f'[{port}] "{other}"[{other_port}]{speed}'
