"""Reads the tables of nccl-tests, 2.0 of 2019 to 2.18 of 2026.

Sources: src/common.cu, src/util.cu and each primitive's `print_header` of NVIDIA/nccl-tests at its versions; the
Redpaper's three tables.
"""

import re
from collections.abc import Callable
from enum import IntEnum
from typing import Literal

from toolkit.evidence.parser import Common, Parser, Taken, number
from toolkit.evidence.text import Line
from toolkit.evidence.tools.nccl_tests import json_file, table
from toolkit.evidence.tools.nccl_tests.model import Device, NcclTests, Settings
from toolkit.evidence.tools.nccl_tests.primitives import PRIMITIVES
from toolkit.evidence.tools.nccl_tests.run import Run

_NAMES = "|".join(sorted(PRIMITIVES))
_COMMAND = (
    r"(?:[+$]\s+|\S*[$#]\s+)?(?:\w+=\S*\s+)*(?:(?:mpirun|mpiexec|srun|env)\s.*?\s)?(?:\S*/)?"
    rf"(?P<test>{_NAMES})_perf(?:_mpi)?(?=\s+-|$)"
)
_N = r"\d{1,18}"
_command = re.compile(_COMMAND)
_version = re.compile(rf"# nccl-tests version (\S+)(?: \(\w+\))? nccl-headers=({_N}) nccl-library=({_N})$")
_starting = re.compile(r"# Collective test starting: (\S+)$")
_concluded = re.compile(r"# Collective test concluded: (\S+)$")
_settings = re.compile(
    rf"# nThread (?P<threads>{_N}) nGpus (?P<gpus>{_N}) minBytes (?P<min_bytes>{_N}) maxBytes (?P<max_bytes>{_N}) "
    rf"step: (?P<step>{_N})\((?P<step_is>factor|bytes)\) warmup iters: (?P<warmup_iters>{_N}) iters: (?P<iters>{_N})"
    rf"(?: agg iters: (?P<agg_iters>{_N}))? validation: (?P<validation>{_N})(?: graph: (?P<graph>{_N}))?"
    rf"(?: unalign: (?P<unalign>{_N}))?$"
)
_device = re.compile(
    rf"#\s+Rank\s+(?P<rank>{_N})(?:\s+Group\s+(?P<group>{_N}))?\s+Pid\s+(?P<pid>{_N}) on\s+(?P<host>\S+)"
    rf" device\s+(?P<device>{_N}) \[(?P<bus_id>(?:0x)?[0-9a-fA-F:.]+)\] (?P<name>\S.*)$"
)
_out_of_bounds = re.compile(rf"#\s*Out of bounds values\s*: ({_N}) (OK|FAILED)$")
_average = re.compile(r"#\s*Avg bus bandwidth\s*: (\S+)(?: (OK|FAILED))?$")
_reduced = re.compile(rf"# Reducing maxBytes to ({_N}) due to memory limitation$")
_failure = re.compile(
    r"Test (?:CUDA|NCCL) failure |: Test failure \S+:\d{1,18}|Test timeout \(|Invalid number of GPUs: |"
    r"^# error: |is not a power of 2, skipping"
)
_devices = re.compile(r"# Using devices$")
_json_note = re.compile(r"# Writing JSON output to ")
_silent = re.compile(
    r"#$|# torch-collectives: |#\s+in-place\b|# (?:Blocking Enabled|Parallel Init Enabled|Swap Comms Enabled|"
    r"Per-Iteration Report|GPU memory usage|"
    r"skipping json output|Errors with asterisks)|#\s+out-of-place\b|#\s+\(B\)\s+\(elements\)"
)
_ours = re.compile(
    r"# (?:nThread|nccl-tests v|Collective t|Out of b|Avg b|Reducing )|#\s+(?:Rank\s|size\s+count)|# Using d"
)
_row_like = re.compile(r"\s*[\d.,]+(?:\s+[\w.,+/-]+)+$")


class _Stage(IntEnum):
    COMMAND = 1
    NOTE = 2
    VERSION = 3
    STARTING = 4
    SETTINGS = 5
    DEVICES = 6
    HEADING = 7
    ROWS = 8
    FOOTER = 9


class NcclTestsParser(Parser):
    """Reads one run, from its command or first heading to its footer."""

    tool = "nccl-tests"
    kind = NcclTests
    starts = (
        rf"{_COMMAND.replace('P<test>', ':')}"
        r"|# torch-collectives: "
        r"|# nccl-tests version |# Collective test starting|# Writing JSON output to |# nThread \d|# Using devices$"
        rf"|#\s+Rank\s+\d+\s.*Pid|#\s+out-of-place|#\s+size\s+count\s+type|{json_file.STARTS}"
    )
    hosts_nccl = True

    def __init__(self) -> None:
        self._run = Run()
        self._stage: _Stage | None = None
        self._shape: table.Shape | None = None
        self._source: str | None = None

    def feed(self, line: Line) -> Taken:
        """Read a line."""
        text = line.text
        if self._stage is not None and _failure.search(text):
            self._run.failed(line.number, text)
            return Taken.YES
        if (command := _command.match(text)) is not None:
            return self._command(line, command["test"])
        if self._source is not None and line.source != self._source:
            return Taken.NO
        if text.startswith("{"):
            return self._json(line)
        taken = self._heading(line) if text.startswith("#") else self._row(line)
        if taken is Taken.YES and self._source is None:
            self._source = line.source
        if taken is Taken.DAMAGED and self._stage is not None:
            self._run.damaged += 1
        return taken

    def ignores(self, text: str) -> bool:
        """Return whether a line has neither a form of its own nor that of a row."""
        return not (
            text.startswith(("#", "{"))
            or _failure.search(text)
            or _command.match(text)
            or _row_like.match(text.replace(":", "-"))
        )

    def _reach(self, stage: _Stage, *, once: bool = True) -> bool:
        """Go to a stage of the output; False when it lies behind, so that another run has started."""
        if self._stage is not None and (stage < self._stage or (once and stage == self._stage)):
            return False
        self._stage = stage
        return True

    def _command(self, line: Line, test: str) -> Taken:
        if not self._reach(_Stage.COMMAND, once=False):
            # Under mpirun each rank traces its command; only the one that prints tables can begin another run.
            elsewhere = self._source is not None and line.source not in ("", self._source)
            return Taken.YES if elsewhere else Taken.AGAIN
        self._name(test, "command")
        return Taken.YES

    def _json(self, line: Line) -> Taken:
        if re.match(json_file.STARTS, line.text) is None:
            return Taken.NO
        if self._stage is not None:
            return Taken.AGAIN
        self._stage, self._source = _Stage.FOOTER, line.source
        json_file.fill(self._run, line)
        return Taken.YES

    def _name(self, test: str, how: Literal["printed", "command"]) -> None:
        name = test.removesuffix("_mpi").removesuffix("_perf")
        self._run.test, self._run.test_from = name, how

    def _heading(self, line: Line) -> Taken:
        for pattern, stage, once, read in _LINES:
            if (match := pattern.match(line.text)) is not None:
                if stage is not None and not self._reach(stage, once=once):
                    return Taken.AGAIN
                return read(self, line, match) or Taken.YES
        return Taken.DAMAGED if _ours.match(line.text) else Taken.NO

    def _version(self, _line: Line, match: re.Match[str]) -> None:
        run = self._run
        run.version = match[1]
        run.nccl_headers, run.nccl_library = (json_file.version(int(code)) for code in match.group(2, 3))

    def _starting(self, _line: Line, match: re.Match[str]) -> None:
        self._run.started = True
        self._name(match[1], "printed")

    def _settings(self, _line: Line, match: re.Match[str]) -> None:
        settings = {name: figure for name, figure in match.groupdict().items() if figure is not None}
        self._run.settings = Settings.model_validate(settings)

    def _devices(self, _line: Line, _found: re.Match[str]) -> Taken | None:
        return Taken.AGAIN if self._run.devices else None

    def _device(self, line: Line, match: re.Match[str]) -> None:
        fields = {name: value for name, value in match.groupdict().items() if value is not None}
        self._run.devices.append(Device.model_validate({**fields, "line": line.number}))

    def _table(self, _line: Line, match: re.Match[str]) -> Taken | None:
        if self._shape is not None:
            return Taken.AGAIN
        self._shape = table.Shape.of(match)
        self._run.has_table = True
        self._run.timed = self._shape.timed
        return None

    def _out_of_bounds(self, _line: Line, match: re.Match[str]) -> None:
        self._run.out_of_bounds = int(match[1])

    def _average(self, _line: Line, match: re.Match[str]) -> Taken | None:
        try:
            self._run.average = number(match[1])
        except ValueError:
            return Taken.DAMAGED
        self._run.minimum_met = None if match[2] is None else match[2] == "OK"
        return None

    def _concluded(self, _line: Line, match: re.Match[str]) -> None:
        self._run.concluded = True
        self._name(match[1], "printed")

    def _reduced(self, _line: Line, match: re.Match[str]) -> None:
        self._run.reduced = int(match[1])

    def _without_figures(self, _line: Line, _found: re.Match[str]) -> None:
        if self._stage is None:
            self._stage = _Stage.NOTE

    def _row(self, line: Line) -> Taken:
        in_table = self._stage in (_Stage.HEADING, _Stage.ROWS)
        if not in_table or not _row_like.match(line.text.replace(":", "-") if self._stamped() else line.text):
            return Taken.NO
        measured = None if self._shape is None else table.read(line, self._shape)
        if measured is None:
            return Taken.DAMAGED
        self._stage = _Stage.ROWS
        self._run.measured.append(measured)
        return Taken.YES

    def _stamped(self) -> bool:
        return self._shape is not None and self._shape.stamped

    def reading(self, common: Common) -> NcclTests:
        """Return what was read."""
        return self._run.reading(common)


_Reader = Callable[[NcclTestsParser, Line, re.Match[str]], Taken | None]
"""Returns None for a line that was read."""

_LINES: tuple[tuple[re.Pattern[str], _Stage | None, bool, _Reader], ...] = (
    (_device, _Stage.DEVICES, False, NcclTestsParser._device),
    (_version, _Stage.VERSION, True, NcclTestsParser._version),
    (_starting, _Stage.STARTING, True, NcclTestsParser._starting),
    (_settings, _Stage.SETTINGS, True, NcclTestsParser._settings),
    (_devices, _Stage.DEVICES, False, NcclTestsParser._devices),
    (table.HEADING, _Stage.HEADING, False, NcclTestsParser._table),
    (_out_of_bounds, _Stage.FOOTER, False, NcclTestsParser._out_of_bounds),
    (_average, _Stage.FOOTER, False, NcclTestsParser._average),
    (_concluded, _Stage.FOOTER, False, NcclTestsParser._concluded),
    (_reduced, None, False, NcclTestsParser._reduced),
    (_json_note, _Stage.NOTE, True, NcclTestsParser._without_figures),
    (_silent, None, False, NcclTestsParser._without_figures),
)
"""Lines that begin with #, the stage that each is at, whether it comes once, and who reads it."""
