"""What the newest round of a suite means, as alerts in the form that Alertmanager takes (API v2)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from core.apis import suite
from toolkit.evidence.report.history import Course
from toolkit.evidence.verdict import Status, Verdict

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
