"""Training rates and times of the documents."""

from pydantic import Field

from evidence.verdict import Fabric, Shape
from hardware import measured
from hardware.measured import Trained
from hardware.model import Model
from hardware.profiles import DGX1_V100_16GB


class _Measured(Model):
    source: str = Field(description="inventory id")
    program: str = Field(description="as docs/programs.md lists it")
    profile: str | None = Field(description="hardware profile; None: the document does not say which")
    fabric: Fabric
    shape: Shape
    nodes: int
    repeats: int = Field(description="runs of which the figure is the median; 1: a single log")


class Rate(_Measured):
    """Images per second."""

    images_per_s: float = Field(description="of the whole job, or of one rank")
    per_rank: bool = False


class Elapsed(_Measured):
    """Run time to the end of the training."""

    seconds: float


def _resnet(one: Trained) -> Rate:
    return Rate(
        source=one.source,
        program="resnet50",
        profile=DGX1_V100_16GB.name,
        fabric="infiniband",
        shape=Shape(pods=one.pods, gpus=one.gpus),
        nodes=one.nodes,
        repeats=5,
        images_per_s=one.figure,
    )


def _tcp(images_per_s: float) -> Rate:
    # The blog's nodes are DGX-1; it does not say with how much memory a GPU.
    return Rate(
        source="B-6.3",
        program="resnet101",
        profile=None,
        fabric="ethernet",
        shape=Shape(pods=2, gpus=1),
        nodes=2,
        repeats=1,
        images_per_s=images_per_s,
        per_rank=True,
    )


RATES: tuple[Rate, ...] = (*map(_resnet, measured.RESNET50), *map(_tcp, measured.RESNET101_TCP))
"""ResNet-50 of the whole job, and what the blog's two ranks printed.

The rates of document 002 (N-8.3) are not here: its log was edited (E-50).
"""


def _a2d2(one: Trained) -> Elapsed:
    return Elapsed(
        source=one.source,
        program="a2d2",
        profile=DGX1_V100_16GB.name,
        fabric="infiniband",
        shape=Shape(pods=one.pods, gpus=one.gpus),
        nodes=one.nodes,
        repeats=5,
        seconds=one.figure,
    )


ELAPSED: tuple[Elapsed, ...] = tuple(map(_a2d2, measured.A2D2))
"""A2D2 on one and on two nodes."""


def rate(
    program: str | None, profile: str | None, fabric: Fabric | None, shape: Shape | None, *, per_rank: bool = False
) -> Rate | None:
    """Return the first rate of exactly these; a fabric of None is any. None: the documents have none."""
    return next(
        (one for one in RATES if one.per_rank == per_rank and _fits(one, program, profile, fabric, shape)), None
    )


def elapsed(program: str | None, profile: str | None, fabric: Fabric | None, shape: Shape | None) -> Elapsed | None:
    """Return the run time of exactly these; a fabric of None is any. None: the documents have none."""
    return next((one for one in ELAPSED if _fits(one, program, profile, fabric, shape)), None)


def _fits(one: _Measured, program: str | None, profile: str | None, fabric: Fabric | None, shape: Shape | None) -> bool:
    return (one.program, one.profile, one.shape) == (program, profile, shape) and fabric in (None, one.fabric)
