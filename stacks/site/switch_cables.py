"""What is on each port of the switches that the settings name, on ports to other switches from both ends."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from core.model import Model
from stacks.settings.site.switches import Switch, in_order


class SwitchCable(Model):
    """A cable between two switches."""

    lower: str
    """Name of the switch that has it among its `uplinks`."""
    lower_port: str
    upper: str
    upper_port: str


def between(switches: Iterable[Switch]) -> Iterator[SwitchCable]:
    """Yield the cables between switches, each once."""
    for switch in switches:
        for port in sorted(switch.uplinks, key=in_order):
            upper, _, upper_port = switch.uplinks[port].partition("/")
            yield SwitchCable(lower=switch.name, lower_port=port, upper=upper, upper_port=upper_port)


def peers(switch: Switch, switches: Sequence[Switch]) -> Mapping[str, str]:
    """Return what is on each port of a switch that something is on, in the order of their numbers."""
    below = {
        cable.upper_port: f"{cable.lower}/{cable.lower_port}"
        for cable in between(switches)
        if cable.upper == switch.name
    }
    peer_by_port = {**below, **switch.uplinks, **switch.others, **switch.ports}
    return {port: peer_by_port[port] for port in sorted(peer_by_port, key=in_order)}
