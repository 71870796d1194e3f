"""The goodput of one job, from all of its logs and what its cluster has of it."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import Field

from core.goodput import GoodputLines
from core.model import Model
from core.wording import plural
from toolkit.evidence.goodput.account import account
from toolkit.evidence.goodput.causes import Cause
from toolkit.evidence.goodput.events import Events, merged
from toolkit.evidence.goodput.log import Read, read_stream
from toolkit.evidence.model import Reading
from toolkit.evidence.parser import ending
from toolkit.evidence.text import opened

GOODPUT = "goodput"
"""Name of the tool, which is the program itself."""
_SHOWN = 4
"""Causes that a table has room for."""


class Interruption(Model):
    """A failure of the training, or a start again that no line explains."""

    at_s: float = Field(description="last sign of training before it, s since the beginning")
    noticed_s: float | None = Field(description="s until it was noticed; None: no line shows it")
    trains_s: float | None = Field(description="s until a step was trained again; None: it was not")
    reached: int = Field(description="steps trained before it")
    lost: int = Field(description="of them those done again, or that the next start did not have")


class Loss(Model):
    """A part of the time in which no step was trained that counts."""

    begin_s: float = Field(description="s since the beginning")
    end_s: float = Field(description="s since the beginning")
    cause: Cause


class Goodput(Reading):
    """What the time of a training was spent with."""

    wall_s: float = Field(description="s from the first event to the last one")
    seconds: Mapping[Cause, float] = Field(description="s by what they were spent with; their sum is `wall_s`")
    of_wall: float | None = Field(
        description="productive share of all of the time, as ml-goodput-measurement of Google has it; None: no time"
    )
    without_waiting: float | None = Field(
        description="share as the cluster readiness engine of NVIDIA has it: the wait for nodes is in neither part, "
        "and detection, stalls and slow steps are not subtracted; None: no time"
    )
    steps: int = Field(description="trained that count")
    step_s: float | None = Field(description="median time of a step, s; None: fewer than two steps")
    interruptions: tuple[Interruption, ...]
    losses: tuple[Loss, ...] = Field(description="of very many the longest")
    course: tuple[tuple[float, int], ...] = Field(description="s since the beginning, and step; of long runs a part")
    last_step_line: int | None = Field(default=None, description="line of the last step; None: no log has one")

    def _figures(self) -> str:
        if self.of_wall is None or self.without_waiting is None:
            return "no goodput"
        return f"goodput {self.of_wall:.1%} of {duration(self.wall_s)}; {self.lost() or 'nothing lost'}"

    def lost(self) -> str:
        """Return what most of the time was lost to, the largest first."""
        lost = [(spent, cause) for cause, spent in self.seconds.items() if cause is not Cause.PRODUCTIVE and spent > 0]
        return ", ".join(f"{cause} {duration(spent)}" for spent, cause in sorted(lost, reverse=True)[:_SHOWN])


def duration(seconds: float) -> str:
    """Return a time in the unit that suits it: 4.2 s, 12.5 min, 31 h."""
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}" if seconds < 1000 * size else f"{seconds / size:,.0f} {unit}"
    return f"{seconds:.3g} s"


def read_logs(paths: Sequence[Path], lines: GoodputLines, of_cluster: Events | None = None) -> Goodput:
    """Return the goodput of a job; `of_cluster` are the events that its cluster reports.

    Raises OSError when a log cannot be read.
    """
    logs: dict[str, Read] = {}
    for path in paths:
        with opened(path) as file:
            logs[str(path)] = read_stream(file, lines)
    return of_reads(logs, of_cluster)


def of_reads(logs: Mapping[str, Read], of_cluster: Events | None = None) -> Goodput:
    """Return the goodput of logs that were read, by their names."""
    groups = [log.events for log in logs.values()] + ([of_cluster] if of_cluster is not None else [])
    whole = account(merged(groups))
    name, last = max(logs.items(), key=lambda item: (bool(item[1].last_step), _end(item[1])))
    untimed = sum(log.untimed for log in logs.values())
    steps = any(log.last_step for log in logs.values())
    begin = whole.begin
    return Goodput(
        tool=GOODPUT,
        file=name,
        first_line=last.first_step or 1,
        last_line=max(last.lines, 1),
        **ending(
            f"{plural(untimed, 'line')} without a time: use `kubectl logs --timestamps`" if untimed else None,
            None if steps or untimed else "no line matches `goodput.step`",
        ),
        wall_s=whole.wall_s,
        seconds={cause: spent for cause, spent in whole.seconds.items() if spent},
        of_wall=whole.goodput,
        without_waiting=whole.without_waiting,
        steps=whole.reached,
        step_s=whole.typical_s,
        interruptions=tuple(
            Interruption(
                at_s=row.at - begin, noticed_s=row.noticed_s, trains_s=row.trains_s, reached=row.reached, lost=row.lost
            )
            for row in whole.interruptions
        ),
        losses=tuple(
            Loss(begin_s=span.begin - begin, end_s=span.end - begin, cause=span.cause) for span in whole.losses
        ),
        course=tuple((time - begin, step) for time, step in whole.course),
        last_step_line=last.last_step or None,
    )


def _end(log: Read) -> float:
    return log.events.times[-1] if len(log.events) else 0.0
