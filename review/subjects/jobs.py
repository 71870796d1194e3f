"""Jobs that start, start again or end; many alike in one line."""

from collections import defaultdict

from review.model import Change, Op
from review.running import finished
from review.section import Line, Section, section
from review.subjects.capacity import JOBS, claims, told
from review.titles import title
from review.words import count, enumerated, name, names, ranges
from review.worlds import Worlds

_SHOWN = 4
_FEW = 3
"""As many jobs alike have a line each."""
_Alike = tuple[str, str, Op, bool | None]
"""Namespace, kind, what becomes of them, and whether the earlier run has ended."""

_WORDS = {
    Op.CREATE: ("starts", "start"),
    Op.REPLACE: ("starts again", "start again"),
    Op.DELETE: ("is deleted", "are deleted"),
    Op.FORGET: (
        "stays, and the stack does not know it any more",
        "stay, and the stack does not know them any more",
    ),
    Op.ADOPT: ("is taken into the stack as it is", "are taken into the stack as they are"),
}
"""An update leaves a job running: what would start it again replaces it."""


def find(worlds: Worlds) -> Section | None:
    """Say what becomes of jobs."""
    if worlds.review.drift:
        return None
    groups: dict[_Alike, list[Change]] = defaultdict(list)
    for change in worlds.changed(*JOBS):
        if change.op in _WORDS:
            ended = finished(change.before) if change.before else None
            groups[change.resource.namespace, change.resource.kind, change.op, ended].append(change)
    lines = []
    for alike, changes in groups.items():
        if len(changes) > _FEW:
            lines.append(_many(alike, changes, worlds))
        else:
            lines += [_line(change, worlds) for change in changes]
    return section("Jobs", lines)


def _line(change: Change, worlds: Worlds) -> Line:
    found = claims(change.resource, worlds)
    text = f"{title(change.resource)} {_WORDS[change.op][0]}" + (
        f", with {told(found)}" if found and change.after else ""
    )
    if change.before is None or change.op is Op.FORGET:
        return Line(text)
    text += _why([change], worlds)
    ended = finished(change.before)
    if ended is False:
        return Line(f"{text}; it has not ended, as far as the stack's state knows, and loses its work", alarm=True)
    if ended:
        return Line(f"{text}; the earlier run has ended, its logs go with its pods")
    return Line(f"{text}; whether it still runs is not known")


def _many(alike: _Alike, changes: list[Change], worlds: Worlds) -> Line:
    space, kind, op, ended = alike
    total: dict[str, int] = defaultdict(int)
    for change in changes:
        for device, number in claims(change.resource, worlds).items():
            total[device] += number
    which = ranges(change.resource.object_name for change in changes)
    text = f"{count(len(changes), 'job')} of kind {name(kind)} in namespace {name(space)} {_WORDS[op][1]}: {which}"
    text += f", with {told(total)} in all" if total and changes[0].after else ""
    if changes[0].before is None or op is Op.FORGET:
        return Line(text)
    text += _why(changes, worlds)
    if ended is False:
        return Line(f"{text}; they have not ended, as far as the stack's state knows, and lose their work", alarm=True)
    if ended:
        return Line(f"{text}; the earlier runs have ended, their logs go with their pods")
    return Line(f"{text}; whether they still run is not known")


def _why(changes: list[Change], worlds: Worlds) -> str:
    """Return why jobs run again: by their numbers, by what forces it, or both; the same reason once."""
    raised = dict.fromkeys(found for change in changes if (found := worlds.raised(change)))
    text = f" ({enumerated(raised, _SHOWN)})" if raised else ""
    forced = dict.fromkeys(path for change in changes for path in change.replaced_for)
    return text + (f" (for {names(forced, _SHOWN)})" if forced else "")
