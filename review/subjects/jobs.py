"""Jobs that start, start again or end."""

from review.model import Change, Op
from review.running import finished
from review.section import Line, Section, section
from review.subjects.capacity import JOBS, claims, told
from review.titles import title
from review.words import names
from review.worlds import Worlds

_SHOWN = 4


def find(worlds: Worlds) -> Section | None:
    """Say what becomes of jobs."""
    if worlds.review.drift:
        return None
    lines = [line for change in worlds.changed(*JOBS) if (line := _line(change, worlds)) is not None]
    return section("Jobs", lines)


def _line(change: Change, worlds: Worlds) -> Line | None:
    words = _WORDS.get(change.op)
    if words is None:
        return None
    found = claims(change.resource, worlds)
    text = f"{title(change.resource)} {words}" + (f", with {told(found)}" if found and change.after else "")
    if change.before is None or change.op is Op.FORGET:
        return Line(text)
    if raised := worlds.raised(change):
        text += f" ({raised})"
    if change.replaced_for:
        text += f" (for {names(change.replaced_for, _SHOWN)})"
    ended = finished(change.before)
    if ended is False:
        return Line(f"{text}; it has not ended, as far as the stack's state knows, and loses its work", alarm=True)
    if ended:
        return Line(f"{text}; the earlier run has ended, its logs go with its pods")
    return Line(f"{text}; whether it still runs is not known")


_WORDS = {
    Op.CREATE: "starts",
    Op.REPLACE: "starts again",
    Op.DELETE: "is deleted",
    Op.FORGET: "stays, and the stack does not know it any more",
    Op.ADOPT: "is taken into the stack as it is",
}
"""An update leaves a job running: what would start it again replaces it."""
