"""Jobs that start, start again or end, many with the same change in one line; and what CronJobs will start."""

from collections import defaultdict
from collections.abc import Mapping

from core.apis import suite
from core.apis.kinds import CONFIG_MAP, CRON_JOB
from core.wording import plural
from policies.manifests.values import entries, read
from toolkit.review.indexed_review import IndexedReview, group
from toolkit.review.model import Change, Op, Resource, finished, status_source
from toolkit.review.section import Line, Section, section
from toolkit.review.sentences import enumerated, name, names, ranges, title
from toolkit.review.subjects.capacity import JOBS, claims, described

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
    words = _ENDED[ended][not single].format(source=status_source(before))
    return Line(f"{text}{_why(changes, indexed)}; {words}", alarm=ended is False)


def _why(changes: list[Change], indexed: IndexedReview) -> str:
    """Return why jobs run again: by their numbers, by what forces it, or both; the same reason once."""
    raised = dict.fromkeys(reason for change in changes if (reason := indexed.run_change(change)))
    text = f" ({enumerated(raised, _SHOWN)})" if raised else ""
    forced = dict.fromkeys(path for change in changes for path in change.replaced_for)
    return text + (f" (for {names(forced, _SHOWN)})" if forced else "")


def find_schedules(indexed: IndexedReview) -> Section | None:
    """Report the schedules that begin, change or end."""
    if indexed.review.drift:
        return None
    lines = [line for change in indexed.changed(CRON_JOB) if (line := _schedule(change, indexed)) is not None]
    return section("Schedules", lines)


def _schedule(change: Change, indexed: IndexedReview) -> Line | None:
    what = title(change.resource)
    if change.op is Op.DELETE:
        return Line(f"{what} is deleted; jobs that it has started stay, with their logs, and nothing deletes them")
    if change.after is None or change.op not in (Op.CREATE, Op.REPLACE, Op.UPDATE):
        return None
    before, after = (read(resource.inputs, "spec") if resource else None for resource in (change.before, change.after))
    if before == after:
        return None
    if read(after, "suspend") is True:
        return Line(f"{what} is suspended and starts nothing")
    earlier = (
        f" (until now {_when(change.before)})" if change.before and _when(change.before) != _when(change.after) else ""
    )
    return Line(f"{what} starts on {_when(change.after)}{earlier}{_started(change.after, indexed)}")


def _when(cron_job: Resource) -> str:
    spec = read(cron_job.inputs, "spec")
    zone = read(spec, "timeZone")
    return f"{name(str(read(spec, 'schedule')))}{f' in {name(str(zone))}' if zone else ''}"


def _started(cron_job: Resource, indexed: IndexedReview) -> str:
    """Return which jobs a suite runs in each round; of another CronJob nothing is known."""
    pod = ("spec", "jobTemplate", "spec", "template", "spec")
    (container, *_) = entries(cron_job.inputs, *pod, "containers") or ({},)
    repeats = [
        read(variable, "value") for variable in entries(container, "env") if read(variable, "name") == suite.REPEATS
    ]
    mounted = {read(volume, "configMap", "name") for volume in entries(cron_job.inputs, *pod, "volumes")}
    plans = [
        str(plan)
        for config_map in indexed.after.of(CONFIG_MAP)
        if config_map.namespace == cron_job.namespace and config_map.object_name in mounted
        if (plan := read(config_map.inputs, "data", suite.PLAN))
    ]
    if not repeats or not plans:
        return ""
    jobs = [line.rpartition(",")[2].rpartition(" ")[2] for line in plans[0].splitlines()]
    return f": {plural(int(repeats[0]), 'run')} of each of {names(jobs, 6)}, one at a time"
