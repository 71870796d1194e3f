"""Lines by which a program's log shows its progress, and the goodput that is required of it.

Patterns are RE2's, as those of metrics (`core/metric.py`).
"""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from core.metric import Pattern, compiled

_Text = Annotated[str, StringConstraints(min_length=1, max_length=1000)]


def _compiles(pattern: str) -> str:
    compiled(pattern)
    return pattern


AnyPattern = Annotated[_Text, AfterValidator(_compiles)]


class GoodputLines(BaseModel):
    """Lines that show a training's progress."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    step: Pattern = Field(
        description="RE2 pattern of the line that ends a step, or several, with one group around the number of steps "
        "trained so far; searched as that of a metric"
    )
    started: AnyPattern | None = Field(
        default=None, description="pattern of the first line of the program's processes, at each start; None: none"
    )
    resumed: Pattern | None = Field(
        default=None, description="pattern of the line after a checkpoint was loaded, with one group around its step"
    )
    saving: AnyPattern | None = Field(
        default=None, description="pattern of the line before a checkpoint is saved; None: none is printed"
    )
    saved: Pattern | None = Field(
        default=None, description="pattern of the line after it was saved, with one group around its step"
    )
    at_least: float | None = Field(
        default=None, gt=0, le=1, description="productive share of the job's whole time that is required; None: none"
    )
