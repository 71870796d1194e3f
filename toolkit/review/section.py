"""A section of a review as data: the same for a pull request's comment and for a terminal."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """One statement, a sentence of `sentences`; `details` are folded into their number where space is short."""

    text: str
    details: tuple[str, ...] = ()
    alarm: bool = False
    """Whether it deserves attention before the change is approved."""


@dataclass(frozen=True)
class Section:
    """What one subject has to say, worst first. `vital` ones are cut last, and never without saying so."""

    title: str
    lines: tuple[Line, ...]
    vital: bool = False


def section(title: str, lines: "list[Line]", *, vital: bool = False) -> Section | None:
    """Return a section with its alarms first, or None when there is nothing to say."""
    ordered = tuple(sorted(lines, key=lambda line: not line.alarm))
    return Section(title, ordered, vital) if ordered else None
