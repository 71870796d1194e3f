"""A section of a review as data, similar lines grouped: the same for a pull request's comment and for a terminal."""

from collections import defaultdict
from dataclasses import dataclass

from core.wording import plural
from toolkit.review.sentences import CLOSE, OPEN, parts, ranges

_FEW = 3
"""Up to so many similar lines are not grouped."""
_CHUNK = 12
_SEAT = "\ue002"
"""The placeholder of the name in what similar lines have in common."""


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


def grouped(lines: list[Line]) -> list[Line]:
    """Return the lines with similar ones grouped, in the place of the first of them.

    Similar are lines that are equal once one name in each, alone or as a part of a path, is left out.
    """
    if len(lines) <= _FEW:
        return lines
    groups: dict[tuple[bool, str], dict[int, str]] = defaultdict(dict)
    for index, line in enumerate(lines):
        text = "\n".join((line.text, *line.details))
        names = dict.fromkeys(part for marked, whole in parts(text) if marked for part in whole.split("/"))
        for key in list(names)[:30]:
            groups[line.alarm, _without(text, key)][index] = key
    grouped_indices: set[int] = set()
    grouped_lines = dict(enumerate(lines))
    for members in sorted(groups.values(), key=lambda group: (-len(group), min(group))):
        ungrouped = {index: key for index, key in members.items() if index not in grouped_indices}
        if len(ungrouped) <= _FEW or len(set(ungrouped.values())) < len(ungrouped):
            continue
        grouped_indices |= ungrouped.keys()
        first, *others = sorted(ungrouped)
        grouped_lines[first] = _line(lines[first], [ungrouped[index] for index in others])
        for index in others:
            del grouped_lines[index]
    return list(grouped_lines.values())


def _line(line: Line, others: list[str]) -> Line:
    more = plural(len(others), "other")
    shown = ranges(others, len(others))
    if shown.count(OPEN) <= _CHUNK:
        return Line(f"{line.text}; likewise for {more}: {shown}", line.details, line.alarm)
    ordered = sorted(others)
    chunks = (ordered[start : start + _CHUNK] for start in range(0, len(ordered), _CHUNK))
    listed = (f"so for {ranges(chunk, _CHUNK)}" for chunk in chunks)
    return Line(f"{line.text}; likewise for {more}", (*line.details, *listed), line.alarm)


def _without(text: str, key: str) -> str:
    pieces = []
    for marked, part in parts(text):
        if marked:
            named = "/".join(_SEAT if piece == key else piece for piece in part.split("/"))
            pieces.append(f"{OPEN}{named}{CLOSE}")
        else:
            pieces.append(part)
    return "".join(pieces)
