"""Training rates and times of the documents, of the programs that stacks/programs has by the same names.

MLPerf Training v0.6: the minutes published, and how far the Supermicro reference's own system was from them.
"""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

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


class Submission(Model):
    """One row of Table 4."""

    id: str = Field(description="of MLPerf, e.g. 0.6-9")
    submitter: str
    system: str
    processor: str | None
    accelerator: str | None
    accelerators: int | None = Field(description="of the whole system; None: none, or lost in the printed table")
    software: str
    minutes: Mapping[str, float] = Field(description="to the target quality; absent: not submitted")


def _submissions() -> tuple[Submission, ...]:
    with (Path(__file__).parent / "mlperf-v0.6.csv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        names = [name for name in rows.fieldnames or () if name not in Submission.model_fields]
        return tuple(
            Submission(
                id=row["id"],
                submitter=row["submitter"],
                system=row["system"],
                processor=row["processor"] or None,
                accelerator=row["accelerator"] or None,
                accelerators=int(row["accelerators"]) if row["accelerators"] else None,
                software=row["software"],
                minutes={name: float(row[name]) for name in names if row[name]},
            )
            for row in rows
        )


MLPERF: tuple[Submission, ...] = _submissions()
"""Table 4, whole; minutes, fewer are better."""
COMPARED = "0.6-9"
"""The row that the Supermicro reference compares itself with: NVIDIA's own, with the Redpaper machine's GPUs."""


class Band(NamedTuple):
    """By how much a system may differ from the published result: positive is faster."""

    least: float
    most: float
    source: str

    def holds(self, faster: float) -> bool:
        """Return whether a share by which a run is faster (negative: slower) lies inside."""
        return self.least <= faster <= self.most


MLPERF_BAND = Band(-0.0613, 0.0229, source="S-3.2")
"""GNMT 6.13 % slower to Mask R-CNN 2.29 % faster; single values of the other two are not recoverable."""


def submission(id: str = COMPARED) -> Submission:
    """Return a row of the table. Raises KeyError for an id that it does not have."""
    for row in MLPERF:
        if row.id == id:
            return row
    raise KeyError(id)


def efficiencies(name: str) -> dict[str, float]:
    """Return how well a benchmark scales from the compared row to others of its submitter, accelerator and software.

    By the rows' ids: 1 where so many times the accelerators take that part of the minutes.
    """
    base = submission()
    if base.accelerators is None or name not in base.minutes:
        return {}
    return {
        row.id: base.minutes[name] * base.accelerators / (row.minutes[name] * row.accelerators)
        for row in MLPERF
        if row.id != base.id
        and name in row.minutes
        and row.accelerators
        and (row.submitter, row.accelerator, row.software) == (base.submitter, base.accelerator, base.software)
    }
