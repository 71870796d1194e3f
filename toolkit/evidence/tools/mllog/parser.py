"""MLPerf Training logs: MLLOG of today, MLL of v0.6 (which the Supermicro reference ran) and MLP of v0.5.

The figure is the time from run_start to run_stop, when the model reached its target quality. MLLOG is JSON; MLL and MLP
have seconds, a key and a value.
"""

import json
import math
import re
from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeGuard

from pydantic import Field

from toolkit.evidence.model import Reading, Record
from toolkit.evidence.parser import Common, Parser, Taken, ending
from toolkit.evidence.text import Line

_OLD = re.compile(
    r"(?:(?P<benchmark>[\w-]+) )?(?P<seconds>[0-9]{1,12}(?:\.[0-9]{1,9})?) (?:\([^()]*\) )?"
    r"(?P<key>[\w.-]+)(?:: (?P<value>.*))?",
    re.ASCII,
)
_QUOTED = re.compile(r"[0-9]{1,9}\.[0-9]{1,20}", re.ASCII)
Status = Literal["success", "aborted"]


class Event(NamedTuple):
    """The content of one line."""

    key: str
    seconds: float
    value: object
    metadata: Mapping[str, object]
    benchmark: str | None


def event_of(form: str, rest: str) -> Event | None:
    """Return the event of a line without its mark; None: it cannot be read."""
    if form == "MLLOG":
        whole = _json(rest)
        if not isinstance(whole, dict) or not isinstance(whole.get("key"), str):
            return None
        key, milliseconds = whole["key"], whole.get("time_ms")
        if not _is_figure(milliseconds):
            return None
        return Event(key, milliseconds / 1000, whole.get("value"), _mapping(whole.get("metadata")), None)
    match = _OLD.fullmatch(rest)
    if match is None:
        return None
    value: object = None
    if match["value"] is not None:
        value = _json(match["value"])
        if value is _BROKEN:
            return None
    metadata: Mapping[str, object] = {}
    wrapped = _mapping(value)
    if form == "MLL" and "value" in wrapped:
        value, metadata = wrapped["value"], _mapping(wrapped.get("metadata"))
    return Event(match["key"], float(match["seconds"]), value, metadata, match["benchmark"])


_BROKEN = object()


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _BROKEN


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _is_figure(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15  # noqa: PLR2004


def qualities(value: object) -> dict[str, float]:
    """Return a quality, or several by name (Mask R-CNN: BBOX and SEGM); v0.5 puts it into a mapping with the epoch.

    NVIDIA's Transformer of v0.6 prints it in quotes.
    """
    if isinstance(value, str) and _QUOTED.fullmatch(value):
        return {"accuracy": float(value)}
    if _is_figure(value):
        return {"accuracy": float(value)}
    by_name = _mapping(value)
    if (inner := by_name.get("value")) is not None:
        return qualities(inner) if _is_figure(inner) or isinstance(inner, dict) else {}
    return {str(name): float(quality) for name, quality in by_name.items() if name != "epoch" and _is_figure(quality)}


def epoch_of(event: Event) -> float | None:
    """Return the epoch of an evaluation; None: it has none."""
    epoch = event.metadata.get("epoch_num", _mapping(event.value).get("epoch"))
    return float(epoch) if _is_figure(epoch) else None


def status_of(event: Event) -> Status | None:
    """Return how a run ended; None: the event does not have it."""
    for fields in (event.metadata, _mapping(event.value)):
        status = fields.get("status", fields.get("success"))
        if status is True or status == "success":
            return "success"
        if status is False or status == "aborted":
            return "aborted"
    return None


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


class Evaluation(Record):
    """One evaluation."""

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
    minutes: float | None = Field(default=None, description="from the first rank's run_start to the last's run_stop")
    status: Status | None = Field(default=None, description="of run_stop; aborted when one rank reports it")

    def _figures(self) -> str:
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
