"""MLPerf Training logs: MLLOG of today, MLL of v0.6 (which the Supermicro reference ran) and MLP of v0.5.

The figure is the time from run_start to run_stop, when the model reached its target quality.
"""

import math
import re
from collections.abc import Mapping

from pydantic import Field

from core.model import Model
from toolkit.evidence.model import Reading
from toolkit.evidence.parser import Common, Parser, Taken, ending
from toolkit.evidence.text import Line
from toolkit.evidence.tools.mllog.event import Event, Status, epoch_of, event_of, qualities, status_of

EVALUATIONS_KEPT = 10_000
LINE_LIMIT = 100_000
"""Characters of a line; a longer one is not a log line of MLPerf."""

_LINE = re.compile(
    r"(?:\s*(?P<task>[0-9]{1,6}): +)?:::(?P<form>MLLOG|MLL|MLP)(?:v(?P<version>[0-9.]+))? (?P<rest>.*)", re.ASCII
)
_BEFORE_RUN = ("submission_", "cache_clear", "init_start", "run_start", "run_clear_caches")
_ACCURACY = frozenset({"eval_accuracy"})
_TARGET = frozenset({"quality_target", "eval_target", "target_quality"})

UNVERIFIED = "not verified by MLPerf"
"""The note that MLPerf's rules require on every result that was not submitted to it."""


class Evaluation(Model):
    """One evaluation."""

    line: int = Field(ge=1, description="number in the file")
    rank: str = Field(description="rank, task or pod that printed it; empty: the log has no prefixes")
    epoch: float | None = Field(default=None, description="None: not printed")
    quality: Mapping[str, float] = Field(description="name -> value as printed; `accuracy` where it is one number")


class MlLog(Reading):
    """A run of one benchmark, all its ranks together."""

    benchmark: str | None = Field(default=None, description="as submitted, e.g. maskrcnn; None: not printed")
    form: str | None = Field(default=None, description="MLLOG, MLL or MLP")
    submission: Mapping[str, str] = Field(default={}, description="submission_org, _division, _platform, ...")
    global_batch_size: int | None = Field(default=None, description="samples of all ranks per step")
    seed: int | None = Field(default=None, description="first that was printed; runs differ by it")
    target: Mapping[str, float] = Field(default={}, description="quality at which the run stops; empty: not printed")
    evaluations: tuple[Evaluation, ...] = Field(default=(), description=f"at most {EVALUATIONS_KEPT}, and the last")
    reached: bool | None = Field(
        default=None,
        description="whether the last evaluation is at or above the target; where none is printed, whether "
        "run_stop says success, which MLPerf's rules allow at the target only; None: neither is there",
    )
    run_start_line: int | None = Field(default=None, description="line of the first run_start")
    run_stop_line: int | None = Field(default=None, description="line of the last run_stop")
    minutes: float | None = Field(
        default=None, description="from the first rank's run_start to the last one's run_stop"
    )
    status: Status | None = Field(default=None, description="of run_stop; aborted when one rank reports it")

    def figures(self) -> str:
        """Return the few figures that a table has room for."""
        minutes = f"{self.minutes:.2f} minutes ({UNVERIFIED})" if self.minutes is not None else ""
        return ", ".join(part for part in (self.benchmark, minutes, self.status) if part)


class MlLogParser(Parser):
    """Reads one run; the next one begins with what is printed before run_start."""

    tool = "mllog"
    kind = MlLog
    starts = r"(?:\s*[0-9]{1,6}: +)?:::ML(?:LOG|L|P)(?:v[0-9.]+)? "
    hosts_nccl = True

    def __init__(self) -> None:
        self._form: str | None = None
        self._version: str | None = None
        self._benchmark: str | None = None
        self._submission: dict[str, str] = {}
        self._batch: int | None = None
        self._seed: int | None = None
        self._target: dict[str, float] = {}
        self._evaluations: list[Evaluation] = []
        self._last: Evaluation | None = None
        self._start: tuple[float, int] | None = None
        self._stop: tuple[float, int] | None = None
        self._stopped: set[str] = set()
        self._status: Status | None = None

    def feed(self, line: Line) -> Taken:
        """Read an event."""
        match = _LINE.match(line.text)
        if match is None:
            return Taken.DAMAGED if ":::ML" in line.text else Taken.NO
        event = event_of(match["form"], match["rest"]) if len(line.text) <= LINE_LIMIT else None
        if event is None:
            return Taken.DAMAGED
        rank = line.source or match["task"] or ""
        if rank in self._stopped and event.key.startswith(_BEFORE_RUN):
            return Taken.AGAIN
        self._form = self._form or match["form"]
        self._version = self._version or match["version"]
        self._benchmark = self._benchmark or event.benchmark
        self._read_event(event, line.number, rank)
        return Taken.YES

    def ignores(self, text: str) -> bool:
        """Return whether a line has no event."""
        return ":::ML" not in text

    def _read_event(self, event: Event, line: int, rank: str) -> None:
        key, value = event.key, event.value
        if key == "run_start" and (self._start is None or event.seconds < self._start[0]):
            self._start = event.seconds, line
        elif key == "run_stop":
            self._stopped.add(rank)
            if self._stop is None or event.seconds > self._stop[0]:
                self._stop = event.seconds, line
            status = status_of(event)
            self._status = "aborted" if self._status == "aborted" else status or self._status
        elif key in _ACCURACY:
            if quality := qualities(value):
                self._last = Evaluation(line=line, rank=rank, epoch=epoch_of(event), quality=quality)
                if len(self._evaluations) < EVALUATIONS_KEPT:
                    self._evaluations.append(self._last)
        elif key in _TARGET or (key.endswith("_target") and key.startswith("eval")):
            self._target = qualities(value) or self._target
        elif key == "submission_benchmark" and isinstance(value, str):
            self._benchmark = value
        elif key.startswith("submission_"):
            self._submission.setdefault(key, str(value))
        elif key == "global_batch_size" and isinstance(value, int):
            self._batch = value
        elif key == "seed" and isinstance(value, int) and self._seed is None:
            self._seed = value

    def reading(self, common: Common) -> MlLog:
        """Return the time to the target."""
        kept = self._evaluations
        last = self._last
        if last is not None and last is not kept[-1]:
            kept = [*kept, last]
        minutes = missing = None
        if self._start is None or self._stop is None:
            missing = "no run_start" if self._start is None else "no run_stop"
        elif self._stop[0] < self._start[0]:
            missing = "run_stop is before run_start"
        else:
            minutes = (self._stop[0] - self._start[0]) / 60
        return MlLog(
            tool_version=self._version,
            **ending(missing),
            benchmark=self._benchmark,
            form=self._form,
            submission=self._submission,
            global_batch_size=self._batch,
            seed=self._seed,
            target=self._target,
            evaluations=tuple(kept),
            reached=_reached(self._target, last, self._status),
            run_start_line=self._start[1] if self._start else None,
            run_stop_line=self._stop[1] if self._stop else None,
            minutes=minutes,
            status=self._status,
            **common,
        )


def _reached(target: Mapping[str, float], last: Evaluation | None, status: Status | None) -> bool | None:
    if not target:
        return status == "success" if status is not None else None
    if last is None or not target.keys() <= last.quality.keys():
        return None
    return all(last.quality[name] >= least or math.isclose(last.quality[name], least) for name, least in target.items())
