"""Cables of a small cluster on one InfiniBand switch, such as the Redpaper's lab."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path

from pydantic import Field

from core.data_files import read, validate
from core.hardware.profiles import Profile
from core.model import Model

SWITCH_PORTS = 40
"""Ports of a QM8700, the lab's switch, as of a QM8790."""


class Server(Model):
    """Servers of one kind of a storage system."""

    what: str
    count: int = Field(gt=0)
    system: str = Field(description="operating system")
    roles: tuple[str, ...]


class Storage(Model):
    """A storage system with its own InfiniBand adapters."""

    hosts: tuple[str, ...] = Field(description="its servers")
    ports: tuple[str, ...] = Field(description="ports of each server, as ibhosts names them")
    rate_gbps: int = Field(gt=0, description="line rate of a port in Gb/s")
    model: str
    gbs: int = Field(gt=0, description="what it reads, GB/s")
    rack_units: int = Field(gt=0)
    servers: tuple[Server, ...] = Field(description="its servers and those beside it")
    scale: str = Field(description="version of Storage Scale on its servers")
    source: str

    @property
    def ports_gbs(self) -> float:
        """What its ports carry, GB/s."""
        return len(self.hosts) * len(self.ports) * self.rate_gbps / 8


FOLDER = Path(__file__).with_name("storage")
ESS3000 = validate(Storage, read(FOLDER / "ess3000.yaml"), FOLDER / "ess3000.yaml")


class Cable(Model):
    """One cable, from a host to the switch."""

    host: str
    port: str = Field(description="as ibhosts names it, counted from 1: HCA-1")
    rate_gbps: int = Field(gt=0)


class Cabling(Model):
    """Every cable of the cluster, and what the fabric must then show."""

    compute: tuple[Cable, ...]
    storage: tuple[Cable, ...]

    @property
    def cables(self) -> tuple[Cable, ...]:
        """All of them."""
        return (*self.compute, *self.storage)

    @property
    def balance(self) -> Fraction:
        """Bandwidth of the storage's ports against that of the machines'; 1 if neither waits for the other."""
        return Fraction(_rate(self.storage), _rate(self.compute))

    @property
    def channel_adapters(self) -> frozenset[str]:
        """What ibhosts must list from every port, without the switch's own aggregation node."""
        return frozenset(f"{cable.host} {cable.port}" for cable in self.cables)


def cabling(machines: Sequence[str], profile: Profile, storage: Storage) -> Cabling:
    """Return one cable for each compute port of each machine and each port of the storage, to one switch.

    Raises ValueError without a machine, and when the switch has too few ports.
    """
    if not machines:
        raise ValueError("no machines to cable; name at least one")
    numbers = range(1, profile.ports.count + 1)
    compute = tuple(
        Cable(host=host, port=f"HCA-{number}", rate_gbps=profile.ports.rate_gbps)
        for host in machines
        for number in numbers
    )
    others = tuple(
        Cable(host=host, port=port, rate_gbps=storage.rate_gbps) for host in storage.hosts for port in storage.ports
    )
    total = len(compute) + len(others)
    if total > SWITCH_PORTS:
        raise ValueError(f"{total} cables for a switch of {SWITCH_PORTS} ports; plan leaf and spine switches")
    return Cabling(compute=compute, storage=others)


def _rate(cables: Iterable[Cable]) -> int:
    return sum(cable.rate_gbps for cable in cables)
