"""Logs of NVIDIA's DeepLearningExamples: DLLogger 1.x (`DLL`, 2020 on), and before it `:::NVLOG` (2019)."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from core.model import Model
from core.wording import plural
from toolkit.evidence.criterion import Criterion
from toolkit.evidence.model import Reading
from toolkit.evidence.parser import Common, Parser, Taken, ending, number
from toolkit.evidence.text import Line
from toolkit.evidence.tools.deeplearningexamples.dllogger import FIGURE, NAMES_KEPT, elapsed, figures, is_figure

ROWS_KEPT = 20_000
LINE_LIMIT = 100_000
"""Characters of a line; a longer one is none of DLLogger's."""

_DLL = re.compile(r"DLL (?P<when>[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}(?:\.[0-9]{1,6})?) - (?P<body>.*)", re.ASCII)
_JSON = re.compile(r"DLLL (?P<body>\{.*)")
_NVLOG = re.compile(
    r":::NVLOGv(?P<version>[0-9.]+) (?P<model>\S+) (?P<when>[0-9]{1,11}\.[0-9]+) \([^()]*\)"
    r" (?P<name>[^:]+?)(?:: (?P<value>.*))?",
    re.ASCII,
)

_SPEEDS = (
    "train.total_ips",
    "total_ips",
    "imgs_per_sec",
    "throughput_train",
    "train_throughput",
    "total_throughput_train",
)
"""Names of the rate of the whole job, images/s (or sequences/s); the first that a row has is taken."""
_LOSSES = ("train.loss", "total_loss", "loss", "train_loss")
_FINAL = ("total_throughput_train", "throughput_train", "train_throughput", "Average total_ips", "Average imgs_per_sec")


class Row(Model):
    """One logged step."""

    line: int = Field(ge=1, description="number in the file, of the rate where figures have lines of their own")
    rank: str = Field(description="rank or pod that printed it; empty: the log has no prefixes")
    step: tuple[int, ...] = Field(description="epoch and iteration, or one of them; empty: of the run as a whole")
    items_per_s: float | None = Field(description="of the whole job: images/s, or what the model is fed with")
    loss: float | None = Field(default=None, description="of the training; None: not printed")


class DeepLearningExamples(Reading):
    """A run of one example."""

    form: Literal["dll", "nvlog"] = Field(description="DLLogger 1.x, or the one of 2019")
    model: str | None = Field(default=None, description="as NVLOG prints it, e.g. resnet")
    rows: tuple[Row, ...] = Field(default=(), description=f"steps with a rate or a loss, first {ROWS_KEPT}")
    rows_total: int = Field(default=0, description="such steps, stored or not")
    final: Mapping[str, float] = Field(default={}, description="what the run prints of itself as a whole, by name")
    unit: str | None = Field(default=None, description="of the rate, as printed, e.g. img/s")
    throughput_items_per_s: float | None = Field(default=None, description="of the whole run, as printed at its end")
    throughput_line: int | None = Field(default=None, description="line of that throughput")
    elapsed_s: float | None = Field(
        default=None, description="seconds from the first to the last stamp of a complete run; None: no stamps, or cut"
    )

    def _figures(self) -> str:
        total = self.throughput_items_per_s
        return f"{total:,.2f} {self.unit or '/s'}" if total is not None else plural(self.rows_total, "step")


class DeepLearningExamplesParser(Parser):
    """Reads one run; only a summary ends one."""

    tool = "deeplearningexamples"
    kind = DeepLearningExamples
    starts = r"DLLL? [0-9{]|:::NVLOGv[0-9]"
    hosts_nccl = True

    def __init__(self) -> None:
        self._form: Literal["dll", "nvlog"] | None = None
        self._version: str | None = None
        self._model: str | None = None
        self._rows: list[Row] = []
        self._rows_total = 0
        self._final: dict[str, float] = {}
        self._unit: str | None = None
        self._final_line: int | None = None
        self._open: dict[str, tuple[int, dict[str, float]]] = {}
        self._stamps: tuple[str, str] | None = None

    def feed(self, line: Line) -> Taken:
        """Read a logged line."""
        text = line.text
        if not text.startswith(("DLL", ":::NVLOG")):
            return Taken.NO
        if len(text) > LINE_LIMIT:
            return Taken.DAMAGED
        if (match := _DLL.fullmatch(text)) is not None:
            self._form = self._form or "dll"
            return self._stamped(match["when"], self._logged(line, match["body"]))
        if (match := _JSON.fullmatch(text)) is not None:
            self._form = self._form or "dll"
            return self._json(line, match["body"])
        if (match := _NVLOG.fullmatch(text)) is not None:
            self._form = self._form or "nvlog"
            self._version, self._model = match["version"], match["model"]
            return self._stamped(match["when"], self._event(line, match["name"], match["value"]))
        return Taken.DAMAGED

    def ignores(self, text: str) -> bool:
        """Return whether a line is not the logger's."""
        return not text.startswith(("DLL", ":::NVLOG"))

    def counts(self, text: str) -> bool:
        """Return whether a line is a step with a rate, and no more of them are stored."""
        if self._rows_total < ROWS_KEPT or (match := _DLL.fullmatch(text)) is None or " : " not in match["body"]:
            return False
        step, metrics, units = figures(match["body"]) or ((), {}, {})
        return bool(step) and next((name for name in _SPEEDS if name in metrics), None) in units

    def pass_over(self, lines: Sequence[bytes]) -> Sequence[int]:
        """Count steps; the last one has the last stamp, and the unit."""
        self._rows_total += len(lines) - 1
        return (len(lines) - 1,)

    def _stamped(self, when: str, taken: Taken) -> Taken:
        if taken is Taken.YES:
            self._stamps = (self._stamps[0] if self._stamps else when, when)
        return taken

    def _logged(self, line: Line, body: str) -> Taken:
        if body.startswith("PARAMETER"):
            return Taken.YES
        if " : " not in body:
            # Text that an example logs, without figures; a name without its value has been cut.
            return Taken.DAMAGED if body.endswith(" :") else Taken.YES
        read = figures(body)
        if read is None:
            return Taken.DAMAGED
        step, metrics, units = read
        self._row(line, step, metrics, units)
        return Taken.YES

    def _json(self, line: Line, body: str) -> Taken:
        try:
            whole = json.loads(body)
        except (ValueError, RecursionError):
            return Taken.DAMAGED
        data = whole.get("data")
        if whole.get("type") == "LOG" and isinstance(data, dict):
            metrics = {str(name): float(value) for name, value in data.items() if is_figure(value)}
            step = whole.get("step")
            steps = step if isinstance(step, list) else [step]
            if step != "PARAMETER":
                self._row(line, tuple(count for count in steps if type(count) is int), metrics, {})
        return Taken.YES

    def _event(self, line: Line, name: str, value: str | None) -> Taken:
        """Read one figure of the logger of 2019, which prints each on a line of its own, `iteration` first."""
        if value is None:
            return Taken.YES
        if FIGURE.fullmatch(value) is None:
            return Taken.YES if value.startswith(('"', "{", "[", "null", "true", "false", "NaN")) else Taken.DAMAGED
        figure = number(value)
        if name.startswith("Average "):
            self._put_final(line, {name: figure})
        elif name == "iteration":
            self._close(line.source)
            self._open[line.source] = (line.number, {name: figure})
        elif line.source in self._open:
            at, metrics = self._open[line.source]
            if len(metrics) < NAMES_KEPT:
                metrics[name] = figure
            self._open[line.source] = (line.number if name in _SPEEDS else at, metrics)
        return Taken.YES

    def _close(self, source: str) -> None:
        if source in self._open:
            at, metrics = self._open.pop(source)
            self._row(Line(at, "", source), (int(metrics.pop("iteration")),), metrics, {})

    def _row(self, line: Line, step: tuple[int, ...], metrics: Mapping[str, float], units: Mapping[str, str]) -> None:
        if not step:
            self._put_final(line, metrics)
        speed = next((name for name in _SPEEDS if name in metrics), None)
        loss = next((metrics[name] for name in _LOSSES if name in metrics), None)
        if speed is not None:
            self._unit = units.get(speed) or self._unit
        if not step or (speed is None and loss is None):
            return
        self._rows_total += 1
        if len(self._rows) < ROWS_KEPT:
            rate = metrics[speed] if speed is not None else None
            self._rows.append(Row(line=line.number, rank=line.source, step=step, items_per_s=rate, loss=loss))

    def _put_final(self, line: Line, metrics: Mapping[str, float]) -> None:
        for name, value in metrics.items():
            if name in self._final or len(self._final) < NAMES_KEPT:
                self._final[name] = value
        if any(name in _FINAL for name in metrics):
            self._final_line = line.number

    def reading(self, common: Common) -> DeepLearningExamples:
        """Return the rates."""
        for source in list(self._open):
            self._close(source)
        rate = next((self._final[name] for name in _FINAL if name in self._final), None)
        return DeepLearningExamples(
            tool_version=self._version,
            **ending(None if rate is not None else "no throughput of the whole run"),
            form=self._form or "dll",
            model=self._model,
            rows=tuple(self._rows),
            rows_total=self._rows_total,
            final=self._final,
            unit=self._unit,
            throughput_items_per_s=rate,
            throughput_line=self._final_line,
            elapsed_s=elapsed(*self._stamps) if self._stamps and rate is not None else None,
            **common,
        )


CRITERIA: tuple[Criterion, ...] = ()
"""None: two runs are compared, by toolkit/evidence/criteria/comparisons.py."""
