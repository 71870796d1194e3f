"""Training rates and times of the documents."""

from collections.abc import Iterable

from pydantic import Field

from core.hardware import measured
from core.model import Model
from toolkit.evidence.verdict import Fabric, Request, Shape


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
        for row in measured.TRAINED
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
