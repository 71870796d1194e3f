"""What an update puts right beside its own changes: what on the cluster is not as declared."""

from review.model import Change, Op
from review.properties import difference
from review.section import Line, Section, section
from review.titles import title
from review.words import name
from review.worlds import Worlds

_SHOWN = 12
"""Lines of an object's difference."""


def find(worlds: Worlds) -> Section | None:
    """Say what is not as declared, and that an update changes it back."""
    lines = [_line(change) for change in worlds.review.repairs]
    if lines:
        stays = f"with a plan or {name('--no-repair')} it stays. {name(_command(worlds))} shows it alone"
        lines.append(Line(f"{name('./hpc up')} does this without being told; {stays}"))
    return section("Drift that the update puts right", lines)


def _line(change: Change) -> Line:
    if change.op is Op.DELETE:
        return Line(f"{title(change.resource)} is gone, and is made again")
    back = Change(Op.UPDATE, change.after, change.before)
    lines = tuple(name(line) for line in difference(back, _SHOWN))
    return Line(f"{title(change.resource)} is not as declared, and is changed back", lines)


def _command(worlds: Worlds) -> str:
    return f"./hpc drift --stack {worlds.review.stack}"
