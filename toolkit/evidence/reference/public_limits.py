"""Bandwidth that public records of today's machines show or require: no document of the project measured these."""

from functools import cache
from pathlib import Path

from pydantic import Field

from core import data_files
from core.hardware.profiles import Profile
from core.model import Model

FILE = Path(__file__).with_name("public-limits.yaml")


class PublicLimit(Model):
    """All-reduce over whole machines of one kind."""

    gpu: str | None = Field(default=None, description="model of the GPUs; None: the ports decide, whatever the GPU")
    gpus: int = Field(gt=0, description="of each machine")
    ports: int | None = Field(default=None, gt=0, description="compute ports of a machine; None: any")
    rate_gbps: int | None = Field(default=None, gt=0, description="of such a port, Gb/s; None: any")
    nodes: int = Field(gt=0, description="fewest machines")
    most_nodes: int | None = Field(default=None, gt=0, description="most machines; None: any number")
    mib: int = Field(gt=0, description="smallest message that it is about, MiB")
    gb_s: float = Field(gt=0, description="bus bandwidth, GB/s: a threshold, or what was measured")
    share: float = Field(default=1, gt=0, le=1, description="of it, which is enough: less than 1 for a measurement")
    source: str

    @property
    def least(self) -> float:
        """Bus bandwidth that is enough, GB/s."""
        return self.gb_s * self.share

    def fits(self, machine: Profile, nodes: int) -> bool:
        """Return whether it is about so many of these machines."""
        return (
            self.gpu in (None, machine.gpu.model)
            and self.ports in (None, machine.ports.count)
            and self.rate_gbps in (None, machine.ports.rate_gbps)
            and self.gpus == machine.gpus
            and self.nodes <= nodes <= (self.most_nodes or nodes)
        )


class _File(Model):
    limits: tuple[PublicLimit, ...]


@cache
def public_limits() -> tuple[PublicLimit, ...]:
    """Return all of them, as the file has them."""
    return data_files.validate(_File, data_files.read(FILE), FILE).limits


def public_limit(machine: Profile, nodes: int) -> PublicLimit | None:
    """Return the limit of so many machines; None: no record has one."""
    return next((limit for limit in public_limits() if limit.fits(machine, nodes)), None)
