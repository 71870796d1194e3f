"""Switches: what each is called, how it is reached, and what is on its ports; a model for each dialect."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from ipaddress import IPv4Address, IPv4Interface
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from core.model import Model

SwitchName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]([-.A-Za-z0-9]{0,251}[A-Za-z0-9])?$")]
Cable = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][-.a-z0-9]*/[A-Za-z0-9][-A-Za-z0-9_.]*$")]
"""The other end of a cable: HOST/HCA, e.g. gpu01/mlx5_0."""
Uplink = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][-.A-Za-z0-9]*/[A-Za-z0-9][-A-Za-z0-9_./:]*$")]
"""The other end of a cable between switches: SWITCH/PORT, e.g. spine-1/1/3."""
Vlan = Annotated[int, Field(ge=1, le=4094)]
PortMtu = Annotated[int, Field(ge=1500, le=9216)]
Peer = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][-A-Za-z0-9_./: ]{0,63}$")]

NVUE_RENAMED = 15
"""The 5.x that renamed `enable: on` to `state: enabled`, `ip` of interfaces to `ipv4`, and `service.dns` to
`system.dns` (PyPI nvueschema 0.1.0, whose models are of 5.0 to 5.18)."""
_POINT_TO_POINT = 31
"""Prefix from which on every address of a network is a host's."""


class SwitchBase(Model):
    """What every switch has."""

    port_form: ClassVar[re.Pattern[str]]
    """Form of its ports: the first group is the cage, the second the part of one that is split."""
    port_example: ClassVar[str]

    name: SwitchName = Field(description="host name; `site.domain` is appended if it has no domain")
    management: IPv4Interface | None = Field(
        default=None, description="address/prefix of the management port; None: the switch keeps what it has"
    )
    gateway: IPv4Address | None = Field(
        default=None, description="default route of the management port; None: the switch keeps what it has"
    )
    ports: Mapping[str, Cable] = Field(default={}, description="port -> HOST/HCA of a GPU node, e.g. gpu01/mlx5_0")
    others: Mapping[str, Peer] = Field(
        default={},
        description="port -> other device connected to it: storage, as HOST HCA-N, or hosts outside the cluster",
    )
    uplinks: Mapping[str, Uplink] = Field(
        default={},
        description="port -> SWITCH/PORT of another switch, e.g. spine-1/1/3; a cable is listed once, at its end "
        "nearer to the machines",
    )

    @model_validator(mode="after")
    def _usable_ports(self) -> Self:
        ports = (f"ports: {problem}" for problem in self.unusable((*self.ports, *self.others, *self.uplinks)))
        if problems := [*self._unreachable(), *ports, *self._cabled_twice()]:
            raise ValueError("; ".join(problems))
        return self

    def _unreachable(self) -> Iterator[str]:
        own, gateway = self.management, self.gateway
        if own and own.network.prefixlen < _POINT_TO_POINT and own.ip in (own.network[0], own.network[-1]):
            yield f"management: {own} is not a host's address; give an address with its prefix, e.g. 192.168.1.2/24"
        if own and own.network.prefixlen > _POINT_TO_POINT:
            yield f"management: {own.ip} has no network; give it with its prefix, e.g. {own.ip}/24"
            return
        if gateway and not own:
            yield f"gateway: {gateway} has no effect without management; give both"
        if gateway and own and (gateway not in own.network or gateway == own.ip):
            yield f"gateway: {gateway} is not another address in {own.network}, as management has it; correct one"

    def unusable(self, ports: Iterable[str]) -> Iterator[str]:
        """Yield what is wrong with ports that are all used."""
        cages: dict[str, dict[str | None, str]] = {}
        for port in ports:
            form = self.port_form.fullmatch(port)
            if form is None:
                yield f"{port!r} is not a port of this dialect; write it as {self.port_example}"
                continue
            cage = cages.setdefault(form[1], {})
            if form[2] in cage:
                yield f"{port} is used twice; leave one out of ports, others and uplinks"
            elif cage and (form[2] is None or None in cage):
                whole, part = sorted((port, *cage.values()), key=len)[:2]
                yield f"{whole} is used twice, as a whole and as {part}, a part of it; leave one of them out"
            cage[form[2]] = port

    def _cabled_twice(self) -> Iterator[str]:
        for cable, count in Counter(self.ports.values()).items():
            if count > 1:
                yield f"ports: {cable} is cabled twice; give each port of a machine one cable"


class OnyxInfiniBand(SwitchBase):
    """A Quantum switch with Onyx (MLNX-OS), e.g. the Redpaper's QM8700."""

    port_form = re.compile(r"([1-9]\d*/[1-9]\d*)(?:/([1-9]))?")
    port_example = "1/1, or 1/1/1 of a port that is split"

    dialect: Literal["onyx-ib"]
    sm_priority: int | None = Field(
        default=None, ge=0, le=15, description="priority of its subnet manager (0); None: it runs none"
    )


class EthernetSwitch(SwitchBase):
    """What every Ethernet switch has."""

    vlan: Vlan | None = Field(default=None, description="VLAN of the GPU nodes' ports (111); None: unchanged")
    mtu: PortMtu = Field(default=9216, description="bytes, of all cabled ports")


class OnyxEthernet(EthernetSwitch):
    """A Spectrum switch with Onyx (3.8.2008 or newer)."""

    port_form = re.compile(r"([1-9]\d*/[1-9]\d*)(?:/([1-9]))?")
    port_example = "1/1, or 1/1/1 of a port that is split"

    dialect: Literal["onyx-eth"]


class Nvue(EthernetSwitch):
    """A Spectrum switch with Cumulus Linux, which NVUE configures."""

    port_form = re.compile(r"(swp[1-9]\d*)(?:s(\d))?")
    port_example = "swp1, or swp1s0 of a port that is split"

    dialect: Literal[
        "nvue-5.0", "nvue-5.1", "nvue-5.2", "nvue-5.3", "nvue-5.4", "nvue-5.5", "nvue-5.6", "nvue-5.7", "nvue-5.8",
        "nvue-5.9", "nvue-5.10", "nvue-5.11", "nvue-5.12", "nvue-5.13", "nvue-5.14", "nvue-5.15", "nvue-5.16",
        "nvue-5.17", "nvue-5.18",
    ] = Field(description="by Cumulus Linux version: configuration keywords differ")  # fmt: skip

    @property
    def version(self) -> tuple[int, int]:
        """Of Cumulus Linux."""
        major, _, minor = self.dialect.removeprefix("nvue-").partition(".")
        return int(major), int(minor)


class Comware(EthernetSwitch):
    """An HPE switch with Comware 7, e.g. Robotic Drive's FlexFabric 5945."""

    port_form = re.compile(r"((?:Ten|TwentyFive|Forty|Fifty|Hundred|TwoHundred|FourHundred)GigE\d+/\d+/\d+)(?::(\d))?")
    port_example = "HundredGigE1/0/1, or HundredGigE1/0/1:1 of a port that is split"

    dialect: Literal["comware"]


Switch = Annotated[OnyxInfiniBand | OnyxEthernet | Nvue | Comware, Field(discriminator="dialect")]
"""A switch, by its dialect."""


def in_order(port: str) -> tuple[str | int, ...]:
    """Return by what ports are sorted: their numbers as numbers."""
    return tuple(int(part) if part.isdigit() else part for part in re.split(r"(\d+)", port))
