"""Drift, and what repairs it: `./hpc up --repair`, or the command that removes what others have added."""

from collections.abc import Iterator

from toolkit.review import removal_commands
from toolkit.review.indexed_review import IndexedReview
from toolkit.review.model import Change, Op
from toolkit.review.object_diff import difference
from toolkit.review.section import Line, Section, section
from toolkit.review.sentences import name
from toolkit.review.titles import title

_SHOWN = 12
"""Lines of an object's difference."""
_LONGEST = 4000
"""Characters of a command; it is of no use in part."""


def find(indexed: IndexedReview) -> Section | None:
    """Return what drifted and the update leaves; of drift itself, the commands for what others have added."""
    review = indexed.review
    if review.drift:
        return section("Added by others", [*_commands(review.changed, review.kubectl)])
    lines = [_line(change) for change in review.repairs]
    if lines:
        command = f"./hpc up --stack {review.stack} --repair"
        lines += _commands(review.repairs, review.kubectl)
        lines.append(Line(f"The update leaves this; {name(command)} re-applies what is declared"))
    return section("Drift", lines)


def _line(change: Change) -> Line:
    if change.op is Op.DELETE:
        return Line(f"{title(change.resource)} is gone")
    lines = tuple(name(line) for line in difference(change, _SHOWN))
    return Line(f"{title(change.resource)} differs from what is declared", lines)


def _commands(changes: tuple[Change, ...], kubectl: str) -> Iterator[Line]:
    for change in changes:
        if removal_commands.added(change):
            text = (
                f"{title(change.resource)} has additions that the program does not declare; a repair leaves them, "
                "and this removes them:"
            )
            yield Line(text, (name(removal_commands.patch_command(change, kubectl), _LONGEST),))
