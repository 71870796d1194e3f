"""Jobs that start, start again or end; many with the same change in one line."""

from collections import defaultdict
from collections.abc import Mapping

from core.wording import plural
from toolkit.review.indexed_review import IndexedReview, group
from toolkit.review.job_status import finished, source
from toolkit.review.model import Change, Op
from toolkit.review.section import Line, Section, section
from toolkit.review.sentences import enumerated, name, names, ranges
from toolkit.review.subjects.capacity import JOBS, claims, described
from toolkit.review.titles import title

_SHOWN = 4
_BESIDE_SPEC = ("on_change", "run", "timeout", "wait")
"""Settings of a job that are not in its specification."""
_FEW = 3
"""Up to as many jobs with the same change have a line each."""
_Group = tuple[str, str, Op, bool | None]
"""Namespace, kind, what becomes of them, and whether the earlier run has ended."""

_WORDS = {
    Op.CREATE: ("starts", "start"),
    Op.REPLACE: ("starts again", "start again"),
    Op.DELETE: ("is deleted", "are deleted"),
    Op.FORGET: (
        "stays, and the stack does not know it any more",
        "stay, and the stack does not know them any more",
    ),
    Op.ADOPT: ("is imported into the stack as it is", "are imported into the stack as they are"),
}
"""An update leaves a job running: what would start it again replaces it."""
_ENDED: Mapping[bool | None, tuple[str, str]] = {
    True: (
        "the earlier run has finished; its logs are deleted with its pods",
        "the earlier runs have finished; their logs are deleted with their pods",
    ),
    False: (
        "it has not finished{source}, and loses its work",
        "they have not finished{source}, and lose their work",
    ),
    None: ("whether it still runs is unknown", "whether they still run is unknown"),
}
"""Of one job and of many: whether the earlier run has finished, and what is lost."""


def find(indexed: IndexedReview) -> Section | None:
    """Report what becomes of jobs."""
    if indexed.review.drift:
        return None
    groups: dict[_Group, list[Change]] = defaultdict(list)
    for change in indexed.changed(*JOBS):
        if change.op in _WORDS:
            ended = finished(change.before) if change.before else None
            groups[change.resource.namespace, change.resource.kind, change.op, ended].append(change)
    lines = [
        _unchanged_specification(change, indexed)
        for change in indexed.review.changes
        if change.kept and _is_job(change)
    ]
    for changes in groups.values():
        together = [changes] if len(changes) > _FEW else [[change] for change in changes]
        lines += [_line(members, indexed) for members in together]
    return section("Jobs", lines)


def _is_job(change: Change) -> bool:
    return (group(change.resource), change.resource.kind) in {(kind.group, kind.kind) for kind in JOBS}


def _unchanged_specification(change: Change, indexed: IndexedReview) -> Line:
    """Report what a job keeps unchanged: settings that change now, or fields that lack earlier changes."""
    settings = [path for path in indexed.arguments(change) if path not in _BESIDE_SPEC]
    return Line(
        f"{title(change.resource)} keeps its specification ({name('on_change: keep')}), which differs from the "
        f"settings: {names(settings or change.kept, _SHOWN)}; raise its {name('run')} to run it again with them",
        alarm=True,
    )


def _line(changes: list[Change], indexed: IndexedReview) -> Line:
    """Return what becomes of one job, or of many to which the same happens."""
    total: dict[str, int] = defaultdict(int)
    for change in changes:
        for device, number in claims(change.resource, indexed).items():
            total[device] += number
    first, single = changes[0], len(changes) == 1
    happens = _WORDS[first.op][not single]
    if single:
        text = f"{title(first.resource)} {happens}"
    else:
        kind = f"{plural(len(changes), 'job')} of kind {name(first.resource.kind)}"
        which = ranges(change.resource.object_name for change in changes)
        text = f"{kind} in namespace {name(first.resource.namespace)} {happens}: {which}"
    if total and first.after:
        text += f", with {described(total)}{'' if single else ' in all'}"
    if first.before is None or first.op is Op.FORGET:
        return Line(text)
    ended = finished(first.before)
    before = [change.before for change in changes if change.before]
    words = _ENDED[ended][not single].format(source=source(before))
    return Line(f"{text}{_why(changes, indexed)}; {words}", alarm=ended is False)


def _why(changes: list[Change], indexed: IndexedReview) -> str:
    """Return why jobs run again: by their numbers, by what forces it, or both; the same reason once."""
    raised = dict.fromkeys(reason for change in changes if (reason := indexed.run_change(change)))
    text = f" ({enumerated(raised, _SHOWN)})" if raised else ""
    forced = dict.fromkeys(path for change in changes for path in change.replaced_for)
    return text + (f" (for {names(forced, _SHOWN)})" if forced else "")
