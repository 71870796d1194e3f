"""Figures and criteria that changed between runs, and how they are written."""

from dataclasses import dataclass
from typing import NamedTuple

from core.wording import plural
from toolkit.evidence.report.run_summary import WORDS
from toolkit.evidence.verdict import Status
from toolkit.evidence.wording import figure

REPEATS = 5
"""Of these the documents take the median; so many make a noise of their own."""


class Change(NamedTuple):
    """One figure, before and after."""

    job: str
    what: str
    unit: str
    before: float
    after: float
    worse: float
    """Share by which it got worse; negative: better."""
    noise: float
    repeats: int
    """Of which the noise is, where it is not assumed."""
    assumed: str | None
    """Where the noise is from when it is assumed."""

    @property
    def regressed(self) -> bool:
        """Return whether it got worse by more than the noise."""
        return self.worse > self.noise

    @property
    def status(self) -> Status:
        """The same as a status."""
        return Status.FAIL if self.regressed else Status.PASS


class StatusChange(NamedTuple):
    """A criterion whose status changed."""

    job: str
    criterion: str
    before: Status
    after: Status
    measured: str

    @property
    def regressed(self) -> bool:
        """Return whether a pass was lost."""
        return self.before is Status.PASS and self.after in {Status.FAIL, Status.MISSING}


@dataclass(frozen=True)
class Comparison:
    """A run against earlier ones."""

    name: str
    changes: tuple[Change, ...]
    status_changes: tuple[StatusChange, ...]
    notes: tuple[str, ...]

    @property
    def beyond_noise(self) -> tuple[Change, ...]:
        """Figures that differ by more than the noise, the regressions first."""
        beyond = (change for change in self.changes if abs(change.worse) > change.noise)
        return tuple(sorted(beyond, key=lambda change: -change.worse))

    @property
    def within_noise(self) -> tuple[Change, ...]:
        """Figures that differ by no more."""
        return tuple(change for change in self.changes if abs(change.worse) <= change.noise)

    @property
    def regressions(self) -> int:
        """How many figures and criteria got worse."""
        return sum(change.regressed for change in self.changes) + sum(
            change.regressed for change in self.status_changes
        )


def as_text(change: Change) -> tuple[str, ...]:
    """Return job, figure, before, now, difference, noise and result as text."""
    origin = "assumed" if change.assumed else f"of {plural(change.repeats, 'repeat')}"
    word = "worse" if change.worse > 0 else "better"
    if abs(change.worse) <= change.noise:
        result = "within the noise"
    else:
        result = "regression" if change.regressed else "improvement"
    before, after = (f"{figure(value)} {change.unit}" for value in (change.before, change.after))
    difference, noise = f"{abs(change.worse):.1%} {word}", f"{change.noise:.1%}, {origin}"
    return change.job, change.what, before, after, difference, noise, result


def assumptions(against: Comparison) -> tuple[str, ...]:
    """Return where assumed noise is from."""
    origins = dict.fromkeys(change.assumed for change in against.changes if change.assumed)
    if not origins:
        return ()
    return (
        f"Noise is assumed where a figure has fewer than {REPEATS} repeats.",
        *(f"For {origin}." for origin in origins),
    )


def earlier_status(change: StatusChange) -> str:
    """Return the earlier status of a criterion; its mark shows the new one."""
    return f"was\u00a0{WORDS[change.before]}"
