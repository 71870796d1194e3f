"""Cables as statements: each under the end that is nearer to the machines, where one is elsewhere it differs."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from toolkit.site.groups.fabric.cables import Cables, adapter_of

_MANAGED = re.compile(r"(?:MF0;)?([^:;]+)(?::.*)?")
"""Description of a switch: of one that is managed MF0;NAME:MODEL/U1, else its name."""


@dataclass(frozen=True)
class Port:
    """A port of a switch, as the subnet describes it."""

    switch: str
    number: int


def switch_name(description: str) -> str:
    """Return the name of a switch, without its domain, in small letters."""
    match = _MANAGED.fullmatch(description.strip())
    return (match[1] if match else description).partition(".")[0].lower()


def adapter_name(description: str, port: int) -> str:
    """Return the host, without its domain, and the adapter as ibhosts has it: node02 mlx5_0 is node02 HCA-1."""
    host, _, adapter = description.partition(" ")
    name = f"{host.partition('.')[0]} {adapter_of(adapter)}"
    return name if port == 1 else f"{name} port {port}"


class Plan:
    """What is planned of a fabric, by keys under which what is found there can be compared."""

    def __init__(self, cables: Cables, switches: Iterable[str]) -> None:
        """Take the planned cables of those parts of a fabric that have any of some switches."""
        reached = {switch_name(switch) for switch in switches}
        ends = [(switch_name(trunk.lower), switch_name(trunk.upper)) for trunk in cables.trunks]
        before = 0
        while len(reached) > before:
            before = len(reached)
            reached.update(end for pair in ends if not reached.isdisjoint(pair) for end in pair)
        self._inexact = {switch_name(name) for name in cables.ports if not cables.has_numbers(name)}
        numbers = {
            (switch_name(name), port): number for name, own in cables.ports.items() for port, number in own.items()
        }
        self._links = {
            f"{link.host} {link.adapter}": Port(switch_name(link.switch), numbers[switch_name(link.switch), link.port])
            for link in cables.links
            if switch_name(link.switch) in reached
        }
        self._trunks = [
            (Port(lower, numbers[lower, trunk.lower_port]), Port(upper, numbers[upper, trunk.upper_port]))
            for (lower, upper), trunk in zip(ends, cables.trunks, strict=True)
            if lower in reached
        ]
        self._lower = {lower for lower, _ in self._trunks}

    def planned(self) -> Mapping[str, str]:
        """Return the planned cables."""
        return self.of(self._links, self._trunks)

    def of(self, links: Mapping[str, Port], trunks: Iterable[tuple[Port, Port]]) -> Mapping[str, str]:
        """Return cables, of adapters and between switches, by what they are compared under."""
        statements = {adapter: f"{adapter} on {self._text(port)}" for adapter, port in links.items()}
        for pair in trunks:
            # From the end that is the lower one of a planned cable; of one that is not planned, from either.
            first, second = sorted(pair, key=lambda end: (end not in self._lower, end.switch, end.number))
            key = self._text(first)
            while key in statements:
                key = f"{key} again"
            statements[key] = f"{self._text(first)} to {self._text(second)}"
        return statements

    def _text(self, port: Port) -> str:
        """Return a port; of a switch with ports that are split its name alone, for no document numbers these."""
        return port.switch if port.switch in self._inexact else f"{port.switch} port {port.number}"
