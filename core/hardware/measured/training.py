"""Training rates and times of the documents, of the programs that stacks/programs has by the same names."""

import csv
from pathlib import Path
from typing import Literal

from pydantic import Field

from core.model import Model


class Trained(Model):
    """A job, and its figure."""

    program: str = Field(description="as docs/reference/programs.md lists it")
    unit: Literal["images/s", "s"] = Field(description="of the figure")
    source: str = Field(description="source id (docs/coverage/sources.md)")
    pods: int
    gpus: int = Field(description="of a pod")
    nodes: int
    figure: float = Field(description="images/s of all ranks, or seconds to the end")


def _table() -> tuple[Trained, ...]:
    with Path(__file__).with_name("trainings.csv").open(encoding="utf-8", newline="") as file:
        return tuple(Trained.model_validate(row) for row in csv.DictReader(file))


TRAINED: tuple[Trained, ...] = _table()
"""On the Redpaper's machine, medians of five.

Rates are of synthetic images, batch 64 a GPU, fp16; those of 1, 2 and 4 GPUs are in figures only, which the text does
not have. Times are in pods of one GPU on the same nodes.
"""
TCP_RATES = (147.6, 147.8, 159.1)
"""Images/s of one rank of two, each on a machine like the Redpaper's, over TCP, fp32, at steps 1, 1 and 10."""


def trained(program: str) -> tuple[Trained, ...]:
    """Return what was measured of a program."""
    return tuple(row for row in TRAINED if row.program == program)
