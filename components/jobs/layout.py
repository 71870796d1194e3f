"""Pods, GPUs and nodes of a job, and their short form in its name."""

import re
from typing import Any

from pydantic import Field, model_validator

from components.base.model import Model

_SHORT = re.compile(r"([0-9]{1,3})x([0-9]{1,2})(?:x([0-9]{1,3}))?")


def also_short(schema: dict[str, Any]) -> None:
    """Add the short form to the schema of a field with a layout, for editors."""
    schema["anyOf"].insert(1, {"pattern": "^[0-9]{1,3}x[0-9]{1,2}(x[0-9]{1,3})?$", "type": "string"})


def numbers(text: str) -> dict[str, int]:
    """Return the fields of a layout in its short form, 2x8 or 02x08x02; raise ValueError for another text."""
    match = _SHORT.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no layout; write pods x GPUs of each, e.g. 2x8, or {{pods: 2, gpus: 8}}")
    return {name: int(number) for name, number in zip(("pods", "gpus", "nodes"), match.groups(), strict=True) if number}


class Layout(Model):
    """How many worker pods, and how many GPUs each: {pods: 2, gpus: 8}, or short 2x8."""

    pods: int = Field(gt=0, le=999, description="worker pods")
    gpus: int = Field(gt=0, le=16, description="GPUs per pod")
    nodes: int | None = Field(
        default=None, gt=0, le=999, description="only part of the job's name; the scheduler places pods"
    )

    @model_validator(mode="before")
    @classmethod
    def _of_text(cls, value: Any) -> Any:
        return numbers(value) if isinstance(value, str) else value

    def __str__(self) -> str:
        """Return pods x GPUs per pod x nodes, at least two digits each, e.g. 02x08x02."""
        return "x".join(f"{number:02d}" for number in (self.pods, self.gpus, self.nodes) if number is not None)

    @property
    def total_gpus(self) -> int:
        """GPUs of the whole job."""
        return self.pods * self.gpus
