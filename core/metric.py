"""Metrics that a user's own program prints: how a figure is found in its log, and what it must be.

Patterns are RE2's, which takes linear time for every line, so that no log can stop verification. It is loaded when the
first pattern is: most stacks have none.
"""

from functools import cache
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator


@cache
def compiled(pattern: str) -> Any:
    """Return a pattern of RE2; raise ValueError for one that it does not take."""
    import re2  # noqa: PLC0415 - see above

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0]
        text = reason.decode() if isinstance(reason, bytes) else reason
        explanation = text.removesuffix(f": {pattern}")
        raise ValueError(
            f"RE2 does not take it: {explanation}; correct it, without lookaround or back-references"
        ) from None


def _with_one_group(pattern: str) -> str:
    groups = compiled(pattern).groups
    if groups != 1:
        raise ValueError(f"has {groups} groups; put parentheses around the number alone: (?:...) is for others")
    return pattern


Pattern = Annotated[str, StringConstraints(min_length=1, max_length=1000), AfterValidator(_with_one_group)]
"""A pattern of RE2 with one group."""


class Metric(BaseModel):
    """A figure that a program prints."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    name: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,62}$")] = Field(
        description="name in verdicts and reports"
    )
    pattern: Pattern = Field(
        description="RE2 pattern, searched in every line without the prefixes of mpirun, kubectl and the container "
        "runtime, with one group around the number"
    )
    unit: str = Field(default="", max_length=30, description="e.g. images/s; empty: a plain number")
    better: Literal["higher", "lower"] = Field(default="higher", description="which direction is better")
    value: Literal["last", "median", "best"] = Field(default="last", description="which of several values counts")
    warm_up: int = Field(default=0, ge=0, description="values skipped at the beginning")
    at_least: float | None = Field(default=None, description="in the unit; None: no limit")
    at_most: float | None = Field(default=None, description="in the unit; None: no limit")
    efficiency: float | None = Field(
        default=None,
        ge=0.1,
        le=1,
        description="share of ideal scaling that a job on more GPUs must reach, against the stack's job of the same "
        "program on the fewest; of a metric of the whole job. None: not compared",
    )

    @model_validator(mode="after")
    def _limits_are_consistent(self) -> Self:
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise ValueError(f"at_least {self.at_least:g} is more than at_most {self.at_most:g}; swap them")
        if self.efficiency is not None and self.better == "lower":
            raise ValueError("efficiency is for a metric that grows with the GPUs; leave it out, or set better: higher")
        return self
