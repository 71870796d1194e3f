"""What a CronJob will start, and when: a change of a few lines that takes GPUs every week."""

from core.apis import suite
from core.apis.kinds import CONFIG_MAP, CRON_JOB
from core.wording import plural
from policies.manifests.values import entries, read
from toolkit.review.indexed_review import IndexedReview
from toolkit.review.model import Change, Op, Resource
from toolkit.review.section import Line, Section, section
from toolkit.review.sentences import name, names
from toolkit.review.titles import title

_SHOWN = 6


def find(indexed: IndexedReview) -> Section | None:
    """Report the schedules that begin, change or end."""
    if indexed.review.drift:
        return None
    lines = [line for change in indexed.changed(CRON_JOB) if (line := _line(change, indexed)) is not None]
    return section("Schedules", lines)


def _line(change: Change, indexed: IndexedReview) -> Line | None:
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
    return f": {plural(int(repeats[0]), 'run')} of each of {names(jobs, _SHOWN)}, one at a time"
