"""Rounds of a suite over time: the median of each figure, whether the newest one is worse beyond noise, and alerts.

A round is compared with those before it since the last change of a version: an upgrade that makes a job slower shows
in the first round after it, and the rounds after that have a level of their own.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

from core.apis import suite
from core.wording import plural
from toolkit.evidence.records import Run
from toolkit.evidence.report.changes import REPEATS
from toolkit.evidence.report.compared_figures import (
    BANDS,
    ROUNDING,
    Figure,
    faster,
    figure_of,
    figures,
    name_of,
    spread,
    tables,
)
from toolkit.evidence.report.run_summary import versions, when
from toolkit.evidence.verdict import Status, Verdict
from toolkit.evidence.wording import figure

CRITERION = "as-fast-as-before"
WINDOW = 10
"""Earlier rounds that a round is compared with, at most; a choice: ten weeks of a suite that runs weekly."""
_OUTLIER = 3.5
"""Modified z-score of an outlier (Iglewicz and Hoaglin, How to Detect and Handle Outliers, 1993, 3.3)."""
_SIGMA = 1.4826
"""Standard deviations of a normal distribution in one median absolute deviation: 1 / 0.6745."""


class Point(NamedTuple):
    """A figure in one round."""

    time: datetime
    values: tuple[float, ...]
    versions: Mapping[str, str]

    @property
    def median(self) -> float:
        """The figure of the round."""
        return median(self.values)


class Noise(NamedTuple):
    """What a figure may be worse by, as a share, and what that is from."""

    share: float
    source: str
    measured: bool


class Course(NamedTuple):
    """One figure of one job, the oldest round first."""

    job: str
    what: str
    unit: str
    least: bool
    assumed: float
    """Noise, as a share, where there are too few repeats to measure it."""
    points: tuple[Point, ...]

    def before(self, index: int) -> tuple[Point, ...]:
        """Return the rounds that one is compared with: the last ones of one version of everything."""
        earlier = self.points[max(index - WINDOW, 0) : index]
        same = [place for place, point in enumerate(earlier) if dict(point.versions) != dict(earlier[-1].versions)]
        return earlier[same[-1] + 1 :] if same else earlier

    def worse(self, index: int) -> float:
        """Return the share by which a round is worse than those before it; negative: better. There must be some."""
        level = median(point.median for point in self.before(index))
        return -faster(self.points[index].median, level, "less" if self.least else "more")

    def noise(self, index: int) -> Noise:
        """Return what a round may be worse by: 3.5 scaled median absolute deviations of all repeats before it."""
        before = self.before(index)
        repeats = [value for point in before for value in point.values]
        if len(repeats) < REPEATS:
            return Noise(self.assumed, f"assumed for {plural(len(repeats), 'repeat')}", measured=False)
        level = median(repeats)
        deviation = median(abs(value - level) for value in repeats) * _SIGMA * _OUTLIER / abs(level)
        source = f"of {plural(len(repeats), 'repeat')} in {plural(len(before), 'round')}"
        return Noise(max(deviation, ROUNDING), source, measured=True)


def courses(rounds: Sequence[Run]) -> tuple[Course, ...]:
    """Return every figure of the newest round in all rounds, which come with the oldest first.

    Simulated rounds and measured ones are not repeats of each other: those of the other kind are left out.
    """
    same = [run for run in rounds if run.simulated == rounds[-1].simulated]
    points: dict[tuple[str, str], list[tuple[Point, Figure]]] = defaultdict(list)
    for run in same:
        run_versions = versions(run)
        for job, what, values in _figures(run):
            points[job, what].append((Point(run.time, values.values, run_versions), values))
    newest = {key for key, series in points.items() if series[-1][0].time == same[-1].time} if same else set()
    return tuple(
        Course(
            job, what, series[-1][1].unit, series[-1][1].least, series[-1][1].noise, tuple(point for point, _ in series)
        )
        for (job, what), series in points.items()
        if (job, what) in newest
    )


def _figures(run: Run) -> Iterator[tuple[str, str, Figure]]:
    for job in run.jobs:
        for test, repeat_tables in tables([job]).items():
            common = set.intersection(*(set(table) for table in repeat_tables))
            for band in BANDS:
                if sizes := sorted(count for count in common if band.first <= count <= band.last):
                    yield job.request.job, name_of(test, sizes), figure_of(band, repeat_tables, sizes)
        for what, values in figures([job]).items():
            if min(values.values) > 0:
                yield job.request.job, what, values


def judged(figure_courses: Sequence[Course]) -> tuple[Verdict, ...]:
    """Return whether each figure of the newest round is as good as before; a first round is not evidence of that."""
    return tuple(_verdict(figure_course) for figure_course in figure_courses)


def _verdict(course: Course) -> Verdict:
    index = len(course.points) - 1
    now = f"{course.what}: {figure(course.points[index].median)} {course.unit}"
    if not index:
        return _of(course, Status.MISSING, f"{now}, in the first round", "an earlier round")
    worse, noise = course.worse(index), course.noise(index)
    before = median(point.median for point in course.before(index))
    word = "worse" if worse > 0 else "better"
    status = Status.PASS if worse <= noise.share else Status.FAIL if noise.measured else Status.WARN
    measured = f"{now}, {abs(worse):.1%} {word} than {figure(before)} {course.unit}"
    changed = _changed(course.points[index - 1].versions, course.points[index].versions)
    if status is not Status.PASS and changed:
        measured += f"; since then {changed}"
    return _of(course, status, measured, f"at most {noise.share:.1%} worse, noise {noise.source}")


def _of(course: Course, status: Status, measured: str, limit: str) -> Verdict:
    return Verdict(
        criterion=CRITERION, job=course.job, status=status, measured=measured, limit=limit, source="D-6.1, R-5.2-5"
    )


def _changed(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    parts = [part for part in {**before, **after} if before.get(part) != after.get(part)]
    return ", ".join(f"{part} {before.get(part, 'unknown')} became {after.get(part, 'unknown')}" for part in parts)


def changes(rounds: Sequence[Run]) -> Mapping[datetime, str]:
    """Return the versions that changed, by the time of the first round that has them."""
    by_time = [(run.time, versions(run)) for run in rounds]
    steps = ((time, _changed(before, after)) for (_, before), (time, after) in pairwise(by_time))
    return {time: text for time, text in steps if text}


HEADS = ("job", "figure", "medians of the last rounds", "spread", "latest change")
"""Of `rows`."""


def rows(figure_courses: Sequence[Course], shown: int = 5) -> Iterator[tuple[str, ...]]:
    """Yield job, figure, medians of the last rounds, spread of the newest one's repeats and its difference, as text."""
    for course in figure_courses:
        medians = " → ".join(figure(point.median) for point in course.points[-shown:])
        index = len(course.points) - 1
        difference = f"{-course.worse(index):+.1%}".replace("-0.0%", "+0.0%") if index else "first round"
        newest = f"±{spread(course.points[index].values):.1%}"
        yield course.job, course.what, f"{medians} {course.unit}", newest, difference


def title(rounds: Sequence[Run]) -> str:
    """Return how many rounds there are, and from when to when."""
    return f"{plural(len(rounds), 'round')}, {when(rounds[0])} to {when(rounds[-1])}"


HOLDS = timedelta(days=8)
"""How long an alert fires without another round, which renews or ends it; a choice, for suites that run weekly."""
_FIRES = (Status.FAIL, Status.WARN)


def alerts(
    stack: str, figures: Iterable[tuple[Course, Verdict]], verdicts: Sequence[Verdict], now: datetime
) -> Iterator[Mapping[str, Any]]:
    """Yield an alert for each figure of a round and for each of its criteria: firing, or ended where it passed.

    What could not be judged neither fires nor ends an alert.
    """
    for course, verdict in figures:
        # Names of figures have non-breaking spaces, which are hard to type into a silence.
        yield from _alert(stack, verdict, now, figure=" ".join(course.what.split()))
    for verdict in verdicts:
        yield from _alert(stack, verdict, now)


def _alert(stack: str, verdict: Verdict, now: datetime, **labels: str) -> Iterator[Mapping[str, Any]]:
    if verdict.status is Status.PASS:
        until = now
    elif verdict.status in _FIRES:
        until = now + HOLDS
    else:
        return
    namespace, _, job = verdict.job.rpartition("/")
    yield {
        "labels": {
            "alertname": suite.ALERT,
            # As `gpu.monitoring.notify` sends by default.
            "severity": "warning",
            "stack": stack,
            **({"namespace": namespace} if namespace else {}),
            "job": job,
            "criterion": verdict.criterion,
            **labels,
        },
        "annotations": {
            "summary": f"Suite of stack {stack}: {job} does not meet {verdict.criterion}",
            "description": f"{verdict.measured or 'nothing measured'}; limit: {verdict.limit}",
        },
        "startsAt": now.isoformat(),
        "endsAt": until.isoformat(),
    }
