"""The reader of data sets, in stagings, before programs, and in slices: what pods see of a locked set."""

import re
from collections.abc import Iterable, Sequence

from pydantic import Field

from core.apis.data_sets import TOOL
from core.wording import plural
from toolkit.evidence.criterion import Criterion, Outcome, line_proofs, readings_of, row_proofs
from toolkit.evidence.model import Reading, Record, Unread
from toolkit.evidence.parser import Common, Parser, Taken, ending
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import Data, Job, Status
from toolkit.evidence.wording import listed, some

_LINE = re.compile(rf"{TOOL} (?:(stage|slice|reduced|error) )?((?:[a-z]+=\S{{0,1000}} ?)+)", re.ASCII)
_PART = re.compile(r"(\d{1,6})/(\d{1,6})", re.ASCII)
_WHOLE = 100.0


class DataLine(Record):
    """One line of the reader."""

    what: str = Field(description="check (a pod sees the set), stage, slice, or reduced (all slices are proved)")
    name: str = Field(description="of the data set")
    digest: str = Field(description="SHA-256 of its list, hex")
    files: int = Field(description="of the set, or of the slice")
    bytes: int = Field(description="of these files")
    cached: float | None = Field(default=None, description="percent of the bytes that are here; None: not looked at")
    host: str | None = Field(default=None, description="the pod; None: not printed")
    part: int | None = Field(default=None, description="number of the slice, from 0; None: of no slice")
    parts: int | None = Field(default=None, description="slices; None: of no slice")
    seconds: float | None = Field(default=None, description="seconds that reading took; None: nothing was read")


class DataLog(Reading):
    """What the pods of a job printed."""

    rows: tuple[DataLine, ...]
    failures: tuple[Unread, ...] = Field(description="lines in which the reader refuses")

    def _figures(self) -> str:
        sets = dict.fromkeys(_set(row.name, row.digest) for row in self.rows)
        return f"{some(sets)}: {plural(len(self.rows), 'line')}" if sets else plural(len(self.failures), "refusal")


class HpcDataParser(Parser):
    """Reads the lines of all pods, in any order."""

    tool = TOOL
    kind = DataLog
    starts = rf"{TOOL} "

    def __init__(self) -> None:
        self._rows: list[DataLine] = []
        self._failures: list[Unread] = []

    def feed(self, line: Line) -> Taken:
        """Read a line of a pod."""
        if not line.text.startswith(f"{TOOL} "):
            return Taken.NO
        if (match := _LINE.fullmatch(line.text)) is None:
            return Taken.DAMAGED
        if match[1] == "error":
            self._failures.append(Unread(line=line.number, text=line.text))
            return Taken.YES
        try:
            self._rows.append(_row(match[1] or "check", dict(word.split("=", 1) for word in match[2].split()), line))
        except (KeyError, ValueError):
            return Taken.DAMAGED
        return Taken.YES

    def reading(self, common: Common) -> DataLog:
        """Return what was printed."""
        return DataLog(**ending(None), rows=tuple(self._rows), failures=tuple(self._failures), **common)


def _row(what: str, figures: dict[str, str], line: Line) -> DataLine:
    """Return a line; raise KeyError or ValueError for one that was cut."""
    part = _PART.fullmatch(figures["slice"]) if what in ("stage", "slice") else None
    return DataLine(
        what=what,
        name=figures["name"],
        digest=figures["digest"],
        files=int(figures["files"]),
        bytes=int(figures["bytes"]),
        cached=float(figures["cached"]) if what in ("check", "stage") else None,
        host=figures["host"] if what == "check" else None,
        part=int(part[1]) if part else None,
        parts=int(part[2]) if part else int(figures["slices"]) if what == "reduced" else None,
        seconds=float(figures["seconds"]) if what == "stage" else None,
        line=line.number,
    )


def _set(name: str, digest: str) -> str:
    return f"{name} {digest[:10]}"


def _rows(job: Job, *whats: str) -> list[tuple[str, DataLine]]:
    return [(log.file, row) for log in readings_of(job, DataLog) for row in log.rows if row.what in whats]


def _expected_data(job: Job, rows: Sequence[tuple[str, DataLine]]) -> Data:
    """Return the expected data set of the job: its lock's, or where that is unknown the first line's."""
    first = rows[0][1]
    lock = job.request.data
    return lock or Data(name=first.name, digest=first.digest, files=first.files, bytes=first.bytes, role="reads")


def _refused(job: Job) -> Outcome | None:
    failures = [(log.file, failure) for log in readings_of(job, DataLog) for failure in log.failures]
    if not failures:
        return None
    shown = listed((failure.text.removeprefix(f"{TOOL} error ") for _, failure in failures), 2)
    return Outcome(Status.FAIL, shown, proofs=line_proofs(failures))


def _lack(job: Job, *roles: str) -> Outcome | None:
    """Return that nothing was printed, for a job that is to print it."""
    is_expected = job.request.data is not None and job.request.data.role in roles
    return Outcome(Status.MISSING, "no pod printed what it sees") if is_expected else None


def _of_others(rows: Sequence[tuple[str, DataLine]]) -> Outcome:
    """Return that rows are of other sets than the expected one."""
    return Outcome(Status.FAIL, listed(_set(row.name, row.digest) for _, row in rows), proofs=row_proofs(rows))


def _seen(job: Job) -> Outcome | None:
    if refused := _refused(job):
        return refused
    rows = _rows(job, "check")
    if not rows:
        return _lack(job, "reads", "slices")
    data_set = _expected_data(job, rows)
    limit = f"{plural(data_set.files, 'file')}, {data_set.bytes:,} bytes, {_set(data_set.name, data_set.digest)}"
    key = (data_set.digest, data_set.files, data_set.bytes)
    if differing := [(file, row) for file, row in rows if (row.digest, row.files, row.bytes) != key]:
        what = listed(f"{row.host}: {plural(row.files, 'file')}, {_set(row.name, row.digest)}" for _, row in differing)
        return Outcome(Status.FAIL, what, limit, proofs=row_proofs(differing))
    pods = len({row.host for _, row in rows})
    expected_pods = job.request.shape.pods if job.request.shape else pods
    cached = min(row.cached or 0.0 for _, row in rows)
    measured = f"{plural(data_set.files, 'file')} seen by {plural(pods, 'pod')}, {cached:g} % cached"
    if pods < expected_pods:
        return Outcome(Status.MISSING, f"{measured}; the job has {expected_pods}", limit, short=True)
    uncached = [(file, row) for file, row in rows if (row.cached or 0.0) < _WHOLE]
    return Outcome(Status.WARN if uncached else Status.PASS, measured, limit, proofs=row_proofs(uncached))


def _parts(rows: Iterable[tuple[str, DataLine]], data_set: Data) -> str | None:
    """Return why slices are not disjoint and complete, None where they are; those of a Job of one slice are one."""
    by_part = {row.part: row for _, row in rows}
    counts = {row.parts for row in by_part.values()}
    if len(counts) != 1 or (data_set.slices and counts != {data_set.slices}):
        return f"slices of {', '.join(map(str, sorted(counts, key=str)))}"
    (count,) = counts
    wholes = set(range(count or 0)) if data_set.slice is None else {data_set.slice}
    if absent := sorted(wholes - by_part.keys(), key=str):
        return f"no slice {listed(map(str, absent))} of {count}"
    if data_set.slice is not None:
        return None
    sums = sum(row.files for row in by_part.values()), sum(row.bytes for row in by_part.values())
    if sums != (data_set.files, data_set.bytes):
        return f"slices have {sums[0]:,} files and {sums[1]:,} bytes, the set {data_set.files:,} and {data_set.bytes:,}"
    return None


def _staged(job: Job) -> Outcome | None:
    rows = _rows(job, "stage")
    data = job.request.data
    if refused := _refused(job) if rows or (data and data.role == "stages") else None:
        return refused
    if not rows:
        return _lack(job, "stages")
    if data is None:
        total = [sum(getattr(row, field) for _, row in rows) for field in ("files", "bytes")]
        data = Data(name=rows[0][1].name, digest=rows[0][1].digest, files=total[0], bytes=total[1], role="stages")
    if differing := [(file, row) for file, row in rows if row.digest != data.digest]:
        return _of_others(differing)
    if why := _parts(rows, data):
        return Outcome(Status.FAIL, why, proofs=row_proofs(rows), short=True)
    cached = min(row.cached or 0.0 for _, row in rows)
    seconds = max(row.seconds or 0.0 for _, row in rows)
    files = sum(row.files for _, row in rows)
    measured = f"{plural(files, 'file')} read whole in {seconds:g} s, {cached:g} % cached then"
    uncached = [(file, row) for file, row in rows if (row.cached or 0.0) < _WHOLE]
    return Outcome(Status.WARN if uncached else Status.PASS, measured, proofs=row_proofs(uncached))


def _sliced(job: Job) -> Outcome | None:
    rows, data = _rows(job, "slice"), job.request.data
    reduced = _rows(job, "reduced")
    if refused := _refused(job) if rows or reduced or (data and data.role in ("slices", "reduces")) else None:
        return refused
    if not rows and not reduced:
        return _lack(job, "slices", "reduces")
    if reduced:
        whole = data or _expected_data(job, reduced)
        key = (whole.digest, whole.files, whole.bytes)
        differing = [(file, row) for file, row in reduced if (row.digest, row.files, row.bytes) != key]
        if differing:
            return _of_others(differing)
        slices = plural(reduced[-1][1].parts or 0, "slice")
        return Outcome(Status.PASS, f"{slices} disjoint and complete by their digests")
    if data is None:
        checks = _rows(job, "check")
        data = _expected_data(job, checks) if checks else None
    why = "no pod printed the set's counts" if data is None else _parts(rows, data)
    if why:
        return Outcome(Status.FAIL, why, proofs=row_proofs(rows), short=True)
    return Outcome(Status.PASS, f"{plural(len({row.part for _, row in rows}), 'slice')} with all files once")


CRITERIA = (
    Criterion(
        name="data-set",
        title="Every pod sees exactly the files in the lock",
        limit="digest, files and bytes of the lock, 100 % cached",
        unit="files",
        tolerance="files that are not cached are a warning: the job reads them from their source",
        applies="jobs with a `data_set`",
        source="R-5.4-6, R-5.4-7",
        judge=_seen,
    ),
    Criterion(
        name="data-staged",
        title="Every file of a data set was read completely before jobs start",
        limit="all slices, with the files and bytes of the lock",
        unit="files",
        tolerance="files that are evicted again while others are read are a warning: the cache is too small",
        applies="jobs of kind stage-data",
        source="R-5.4-6",
        judge=_staged,
    ),
    Criterion(
        name="data-slices",
        title="The slices of a data set are disjoint and complete",
        limit="each file in one slice",
        unit="slices",
        applies="jobs of kind indexed, and their reducers, which compare the digest of every slice",
        source="R-5.3-11",
        judge=_sliced,
    ),
)
