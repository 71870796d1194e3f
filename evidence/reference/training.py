"""Training rates and times of the documents."""

from pydantic import Field

from evidence.verdict import Fabric, Shape
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


def _resnet(source: str, pods: int, gpus: int, nodes: int, images_per_s: float) -> Rate:
    return Rate(
        source=source,
        program="resnet50",
        profile=DGX1_V100_16GB.name,
        fabric="infiniband",
        shape=Shape(pods=pods, gpus=gpus),
        nodes=nodes,
        repeats=5,
        images_per_s=images_per_s,
    )


def _tcp(images_per_s: float) -> Rate:
    # The blog's nodes are DGX-1; it does not say with how much memory a GPU.
    shape = Shape(pods=2, gpus=1)
    return Rate(
        source="B-6.3",
        program="resnet101",
        profile=None,
        fabric="ethernet",
        shape=shape,
        nodes=2,
        repeats=1,
        images_per_s=images_per_s,
        per_rank=True,
    )


RATES: tuple[Rate, ...] = (
    _resnet("R-4.5-4", 1, 8, 1, 7096),
    _resnet("R-4.5-4", 2, 8, 2, 13_745),
    _resnet("R-4.5-8", 8, 1, 1, 5918),
    _resnet("R-4.5-8", 16, 1, 2, 11_632),
    _tcp(147.6),
    _tcp(147.8),
    _tcp(159.1),
)
"""ResNet-50 of synthetic images, batch 64 a GPU, fp16; and what the blog's two ranks printed: at steps 1, 1 and 10.

The rates of document 002 (N-8.3) are not here: its log was edited (E-50). Those of 1, 2 and 4 GPUs are in figures only,
which the text does not have (E-32).
"""


def _a2d2(pods: int, nodes: int, seconds: float) -> Elapsed:
    return Elapsed(
        source="R-5.2-6",
        program="a2d2",
        profile=DGX1_V100_16GB.name,
        fabric="infiniband",
        shape=Shape(pods=pods, gpus=1),
        nodes=nodes,
        repeats=5,
        seconds=seconds,
    )


ELAPSED: tuple[Elapsed, ...] = (_a2d2(8, 1, 1328), _a2d2(16, 2, 740))
"""A2D2 on one and on two nodes, in pods of one GPU (R-5.2-1, R-5.2-3)."""


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
