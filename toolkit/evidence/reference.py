"""What the documents measured (hardware/measured), by what a job requested: to judge by, and to plot beside figures.

Of machines that no document has, what public records say.
"""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from pydantic import Field

from core import data_files
from core.apis.nccl import Transport
from core.hardware import measured
from core.hardware.measured import REDPAPER_MACHINE, AllReduceTable
from core.hardware.measured.training import TRAINED, submission
from core.hardware.profiles import Profile
from core.model import Model
from toolkit.evidence.verdict import Fabric, Request, Shape


class AllReduceRun(AllReduceTable):
    """A table with what its job requested."""

    profile: str
    fabric: Fabric
    shape: Shape
    transport: Transport | None = Field(description="requested between nodes; None: one node")


def _run(table: AllReduceTable) -> AllReduceRun:
    return AllReduceRun(
        **{name: getattr(table, name) for name in AllReduceTable.model_fields},
        profile=REDPAPER_MACHINE,
        fabric="infiniband",
        shape=Shape(pods=table.pods, gpus=table.gpus),
        transport=Transport.GPUDIRECT if table.nodes > 1 else None,
    )


ALL_REDUCE: tuple[AllReduceRun, ...] = tuple(_run(row) for row in measured.ALL_REDUCE)
"""By nodes; both runs over two nodes request GPUDirect to the GPU's own HCA."""


def all_reduce(profile: str | None, fabric: Fabric | None, shape: Shape | None) -> AllReduceRun | None:
    """Return the run of exactly these; a fabric of None is any. None: the documents have no such run."""
    return next(
        (run for run in ALL_REDUCE if run.profile == profile and fabric in (None, run.fabric) and run.shape == shape),
        None,
    )


class Training(Model):
    """The median of five runs of a training, as a document measured it."""

    source: str = Field(description="source id (docs/coverage/sources.md)")
    program: str = Field(description="as docs/reference/programs.md lists it")
    profile: str
    fabric: Fabric
    shape: Shape
    figure: float = Field(description="images/s of the whole job, or seconds to its end")


def _measured(unit: str) -> tuple[Training, ...]:
    return tuple(
        Training(
            source=row.source,
            program=row.program,
            profile=measured.REDPAPER_MACHINE,
            fabric="infiniband",
            shape=Shape(pods=row.pods, gpus=row.gpus),
            figure=row.figure,
        )
        for row in TRAINED
        if row.unit == unit
    )


RATES = _measured("images/s")
"""Images/s.

The rates of NVIDIA AI Enterprise are not here: its log was edited.
"""
ELAPSED = _measured("s")
"""Seconds, on one and on two nodes."""


def trainings(among: Iterable[Training], request: Request) -> tuple[Training, ...]:
    """Return those of the program and machine of a job, of any shape; a job whose fabric is not known has any."""
    return tuple(
        training
        for training in among
        if (training.program, training.profile) == (request.program, request.profile)
        and request.fabric in (None, training.fabric)
    )


def benchmark(name: str) -> str | None:
    """Return the benchmark that a program of docs/reference/programs.md is, or that a log names; None: no comparison.

    Programs and logs write its name with a hyphen, an underscore or neither.
    """
    benchmark_name = name.replace("-", "").replace("_", "")
    return benchmark_name if benchmark_name in submission().minutes else None


def published_minutes(name: str) -> float | None:
    """Return the minutes that the Supermicro reference compares a benchmark with; None: it is none of its four.

    `name` is a program of docs/reference/programs.md, or what a log calls it.
    """
    benchmark_name = benchmark(name)
    return submission().minutes[benchmark_name] if benchmark_name is not None else None


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
