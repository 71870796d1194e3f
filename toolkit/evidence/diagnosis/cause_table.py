"""Known causes of failures: the line that shows each, why it happens, and which setting repairs it.

The causes are data, in `causes/`.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator

from core import data_files
from core.model import Model

FOLDER = Path(__file__).parent / "causes"
_FILES = ("registration", "transport", "nodes", "gpus", "launch", "pytorch", "memory", "data", "others")
"""In the order of the table: a line shows the first cause that fits."""
_FRAGMENT = re.compile(r"<<(\w+)>>")

TRANSPORT = frozenset({"transport-between-nodes", "gpudirect", "bus-bandwidth", "average-bus-bandwidth"})
LATENCY = frozenset({"small-message-latency"})
LINK = frozenset({"ib-write-bandwidth"})
HCAS = frozenset({"hcas-used", "ports-active", "ports-present", "fabric-consistent", "rdma-device-files"})
STARTED = frozenset({"ranks-initialised", "ranks-are-gpus"})
_GROUPS = {
    "TRANSPORT": TRANSPORT,
    "LATENCY": LATENCY,
    "LINK": LINK,
    "HCAS": HCAS,
    "DATA": frozenset({"data-set", "data-staged", "data-slices"}),
    "STARTED": STARTED,
    "DIRECT": frozenset({"gpudirect", "bus-bandwidth", "average-bus-bandwidth"}),
    "REGISTERED": TRANSPORT | LINK | STARTED | {"preflight-gpudirect"},
    "TOGETHER": frozenset({"processes-together"}),
}
"""Criteria that causes explain together, by the name that `explains` of the files has."""


class Cause(Model):
    """A known cause of failures."""

    name: str = Field(description="in kebab case")
    shows: str = Field(
        default="",
        description="regular expression, case ignored, of a line that shows it: one that no parser knew, or in which a "
        "tool warns. Empty where only figures show it (`measured_causes`). Where one call "
        "has several causes, its error is part of the expression",
    )
    why: str = Field(description="what happened")
    remedy: str = Field(description="what to do, with the setting that it concerns")
    explains: frozenset[str] = Field(
        default=frozenset(),
        description="criteria whose failure it explains, besides that the job or its logs did not come to their end",
    )
    ends: bool = Field(default=True, description="whether a program that prints it cannot go on")
    last_resort: bool = Field(
        default=False,
        description="whether it is shown only where nothing else explains a failure: a symptom, without its reason",
    )
    contradicted_by: frozenset[str] = Field(
        default=frozenset(),
        description="facts (`facts`) with which it cannot be the cause: then a later one that the line shows is",
    )
    source: str = Field(
        default="",
        description="source of the line and its reason: a page without `https://`, or ids of docs/coverage/sources.md; "
        "empty for a cause of this project's own, which its figures define",
    )

    @field_validator("explains")
    @classmethod
    def _criteria(cls, names: frozenset[str]) -> frozenset[str]:
        return frozenset(criterion for name in names for criterion in _GROUPS.get(name, {name}))

    def __str__(self) -> str:
        """Return cause and remedy as one text."""
        return f"{self.why}: {self.remedy}"


class _File(Model):
    causes: dict[str, dict[str, Any]] = Field(description="fields of causes, by name; `shows` has the alternatives")
    fragments: dict[str, str] = Field(default={}, description="parts of expressions, which `<<name>>` stands for")

    def expression(self, alternatives: Sequence[str]) -> str:
        """Return one expression of its alternatives, with the fragments that they name."""
        text = "|".join(alternatives)
        while (filled := _FRAGMENT.sub(lambda fragment: self.fragments[fragment[1]], text)) != text:
            text = filled
        return text


def _read(path: Path) -> Iterator[Cause]:
    file = data_files.validate(_File, data_files.read(path), path)
    for name, fields in file.causes.items():
        shows = file.expression(fields.get("shows", ()))
        yield data_files.validate(Cause, {**fields, "name": name, "shows": shows}, path)


CAUSES: tuple[Cause, ...] = tuple(cause for name in _FILES for cause in _read(FOLDER / f"{name}.yaml"))
