"""Stored results: one run is one line of JSON in a file that only grows."""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC
from functools import cache
from io import FileIO
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, AwareDatetime, Field, ValidationError
from pydantic_core import to_jsonable_python

from core import field_errors
from core.model import Model
from toolkit.evidence.flight_recorder.dump import FLIGHT_RECORDER, FlightRecorder
from toolkit.evidence.goodput.reading import GOODPUT, Goodput
from toolkit.evidence.metrics import METRICS, Metrics
from toolkit.evidence.model import NODE_FACTS, NodeFacts, Reading, Unknown
from toolkit.evidence.tools import PARSERS
from toolkit.evidence.verdict import Job, Status, Verdict

SCHEMA_VERSION = 2
"""Of the lines that are written; it grows when a reader of today's lines could not read tomorrow's."""
FILE = "runs.jsonl"
"""Name of the file in the folder of results of a stack."""
ROUNDS = "suite.jsonl"
"""The same for the rounds of its suite: one a line, with the repeats of a job as one job."""


class RecordsError(Exception):
    """A file of runs cannot be read, or does not have the requested run: what, and what to do."""


class Run(Model):
    """What one `./hpc verify` found: enough for a report without the logs."""

    schema_version: int = Field(default=SCHEMA_VERSION, ge=1)
    time: Annotated[AwareDatetime, AfterValidator(lambda time: time.astimezone(UTC))] = Field(
        description="when it was judged, UTC"
    )
    stack: str = Field(description="name of the stack; of files the name that the user gave")
    simulated: bool = Field(description="whether the cluster, or any of the logs, was simulated")
    versions: Mapping[str, str] = Field(
        default={}, description="part of the stack -> version: release, operators, images, driver, NCCL"
    )
    jobs: tuple[Job, ...]
    verdicts: tuple[Verdict, ...]

    def line(self) -> str:
        """Return it as one line of JSON, with every figure of each kind of reading."""
        # Not as JSON yet: pydantic's would have null for the inf or nan that a tool printed.
        content = self.model_dump(serialize_as_any=True, exclude_defaults=True)
        # The version is written in any case: the rest is read by it.
        whole = {"schema_version": self.schema_version, **content}
        return json.dumps(whole, separators=(",", ":"), default=to_jsonable_python)

    def count(self, status: Status) -> int:
        """Return how many of its verdicts came out so."""
        return sum(verdict.status is status for verdict in self.verdicts)


class Kept(NamedTuple):
    """A run with its number, which is that of its line in the file: it never changes."""

    number: int
    run: Run


class Records:
    """The runs of a file. A line is read on demand: a report needs few of many."""

    def __init__(
        self, name: str, lines: Mapping[int, Mapping[str, Any]], skipped: Sequence[str], newer: Mapping[int, int]
    ) -> None:
        self.name = name
        self.skipped = tuple(skipped)
        self._lines = lines
        self._newer = newer
        """Lines of a newer version of this program, with their schema version."""

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of the runs, the oldest first."""
        return tuple(self._lines)

    def __iter__(self) -> Iterator[Kept]:
        """Yield all runs, the oldest first."""
        return (self.kept(number) for number in self._lines)

    def kept(self, number: int) -> Kept:
        """Return a run; raise RecordsError for a number that is not there, or what is not a run."""
        if number in self._newer:
            raise RecordsError(_too_new(self.name, number, self._newer[number]))
        if number not in self._lines:
            have = f"it has {_ranges(self.numbers)}" if self._lines else "it has none"
            raise RecordsError(f"{self.name} has no run {number}; {have}")
        return Kept(number, _loaded(self._lines[number], f"{self.name}, line {number}"))

    def last(self) -> Kept:
        """Return the newest run; raise RecordsError where there is none."""
        if not self._lines and self._newer:
            return self.kept(max(self._newer))
        if not self._lines:
            raise RecordsError(f"{self.name} has no runs yet: `./hpc verify` adds one")
        return self.kept(self.numbers[-1])

    def find(self, key: str) -> Kept:
        """Return the run of a number, or the last one of a time: 2026-11-21, or as much more of it as is needed.

        A negative number counts from the end: -1 is the last. Raises RecordsError.
        """
        if key.removeprefix("-").isdecimal():
            number = int(key)
            if number < 0 and -number <= len(self._lines):
                number = self.numbers[number]
            return self.kept(number)
        time = key.replace(" ", "T")
        for number in reversed(self.numbers):
            if len(time) >= len("2026-11-21") and str(self._lines[number].get("time")).startswith(time):
                return self.kept(number)
        raise RecordsError(
            f"{self.name} has no run of {key!r}: give a number ({_ranges(self.numbers)}) or a time in UTC such as "
            "2026-11-21 or 2026-11-21T22:49"
        )


def append(path: Path, run: Run) -> int:
    """Add a run to a file, making it and its folder where missing, and return its number.

    The line is there as a whole or not at all, also when several write at once. Raises OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    line = run.line().encode() + b"\n"
    with path.open("a+b", buffering=0) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        size = file.seek(0, os.SEEK_END)
        try:
            _write(file, line if _ends_whole(file, size) else b"\n" + line)
            os.fsync(file.fileno())
        except OSError:
            file.truncate(size)
            raise
        file.seek(0)
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))


def _ends_whole(file: FileIO, size: int) -> bool:
    if size == 0:
        return True
    file.seek(size - 1)
    return file.read(1) == b"\n"


def _write(file: FileIO, content: bytes) -> None:
    while content:
        content = content[file.write(content) :]


def read(path: Path) -> Records:
    """Return the runs of a file; `skipped` says which lines are none, such as the cut last one of a killed run.

    A line of a newer version of this program is skipped, and refused when that run is requested. Raises RecordsError
    for a file that is not there, or cannot be read.
    """
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH)
            content = file.read()
    except FileNotFoundError:
        raise RecordsError(f"{path} does not exist: `./hpc verify` stores results in it") from None
    except IsADirectoryError:
        raise RecordsError(f"{path} is a folder: name the file of results in it, {FILE}") from None
    except OSError as error:
        raise RecordsError(f"{path} cannot be read: {error.strerror or error}; name another") from None
    lines: dict[int, Mapping[str, Any]] = {}
    newer: dict[int, int] = {}
    skipped = []
    for number, raw in enumerate(content.split(b"\n"), 1):
        if not raw.strip():
            continue
        try:
            record = json.loads(raw)
        except (ValueError, RecursionError):
            cut = "cut, as by a run that was killed" if raw.lstrip().startswith(b"{") else "no JSON"
            skipped.append(f"{path}, line {number}: {cut}; left out")
            continue
        version = record.get("schema_version") if isinstance(record, dict) else None
        if not isinstance(version, int):
            skipped.append(f"{path}, line {number}: not a run; left out")
            continue
        if version > SCHEMA_VERSION:
            newer[number] = version
            skipped.append(f"{_too_new(str(path), number, version)}; left out")
            continue
        lines[number] = record
    return Records(str(path), lines, skipped, newer)


def _too_new(name: str, number: int, version: int) -> str:
    return (
        f"{name}, line {number}, has schema version {version}, and this hpc reads up to {SCHEMA_VERSION}: use the "
        "version of hpc that wrote it"
    )


@cache
def kinds() -> Mapping[str, type[Reading]]:
    """Return the kind of reading of each tool, and of what no parser reads."""
    return {
        **{parser.tool: parser.kind for parser in PARSERS},
        NODE_FACTS: NodeFacts,
        METRICS: Metrics,
        GOODPUT: Goodput,
        FLIGHT_RECORDER: FlightRecorder,
    }


_RENAMED = {
    "every-run-told": "channels-of-every-run",
    "every-ring-told": "channels-of-every-ring",
    "fabric-alike": "fabric-consistent",
    "test-asked-for": "test-requested",
}
"""Former names of criteria, by which earlier files have them."""


def _loaded(content: Mapping[str, Any], where: str) -> Run:
    try:
        jobs = [_job(job) for job in content.get("jobs", ())]
        verdicts = [
            {**verdict, "criterion": _RENAMED.get(verdict["criterion"], verdict["criterion"])}
            for verdict in content["verdicts"]
        ]
        return Run.model_validate({**content, "jobs": jobs, "verdicts": verdicts})
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise RecordsError(
            f"{where}, is not a run of schema {SCHEMA_VERSION}: {field_errors.sentence(first, field)}"
        ) from None
    except (AttributeError, KeyError, TypeError) as error:
        raise RecordsError(f"{where}, is not a run of schema {SCHEMA_VERSION}: {error!r}") from None


def _job(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields of a job; in schema 1 `request` was called `asked`."""
    renamed = {"request" if name == "asked" else name: value for name, value in content.items()}
    return {**renamed, "readings": [_reading(reading) for reading in content["readings"]]}


def _reading(content: Mapping[str, Any]) -> Reading:
    """Return a reading as the kind that its tool has; of a tool that is not known, what all readings have."""
    kind = kinds().get(content["tool"])
    if kind is not None:
        return kind.model_validate(content)
    return Unknown.model_validate({key: value for key, value in content.items() if key in Unknown.model_fields})


def _ranges(numbers: Sequence[int]) -> str:
    """Return 1-3, 5 for 1, 2, 3, 5."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in parts) or "none"
