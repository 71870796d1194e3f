"""Results on disk: nothing of a run is lost, and nothing is read that was not written as a whole."""

import errno
import fcntl
import json
import math
import os
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from pydantic import ValidationError

from toolkit.evidence import reader, records
from toolkit.evidence.model import NODE_FACTS, NodeFacts, Reading
from toolkit.evidence.parser import Common, Parser, Taken
from toolkit.evidence.records import SCHEMA_VERSION, RecordsError, Run, append, kinds, read
from toolkit.evidence.text import Line
from toolkit.evidence.tools import PARSERS
from toolkit.evidence.verdict import Ended, Job, Proof, Request, Status, Verdict

WHEN = datetime(2026, 11, 21, 22, 49, 36, tzinfo=UTC)


class Figures(Reading):
    """A reading with figures of its own."""

    rows: tuple[float, ...] = ()


class FiguresParser(Parser):
    """Stands for any parser."""

    tool = "figures"
    kind = Figures
    starts = "figures"

    def feed(self, line: Line) -> Taken:  # noqa: ARG002
        """Take all."""
        return Taken.YES

    def reading(self, common: Common) -> Figures:
        """Return nothing."""
        return Figures(complete=True, **common)


@pytest.fixture(autouse=True)
def _figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "PARSERS", (FiguresParser,))
    kinds.cache_clear()
    monkeypatch.setattr(records, "kinds", kinds.__wrapped__)


def run(minute: int = 0, tool: str = "figures", rows: tuple[float, ...] = (1.5, 2.25)) -> Run:
    """Return a run of one job."""
    reading = Figures(file="a.log", tool=tool, complete=True, first_line=1, last_line=9, rows=rows)
    job = Job(request=Request(job="adas/nccl"), ended=Ended.SUCCEEDED, readings=(reading,), versions={"driver": "440"})
    proof = Proof(file="a.log", line=3, text="# Out of bounds values : 0 OK\u2028\n")
    verdict = Verdict(
        criterion="c", job="adas/nccl", status=Status.PASS, measured="1", limit="1", source="R-1.1", proofs=(proof,)
    )
    when = WHEN + timedelta(minutes=minute)
    return Run(time=when, stack="dev", simulated=True, versions={"release": "4.4"}, jobs=(job,), verdicts=(verdict,))


def test_a_run_comes_back_as_it_was(tmp_path: Path) -> None:
    """A run is read as it was written, with the figures of its tools."""
    path = tmp_path / "deep" / "runs.jsonl"
    assert [append(path, run()), append(path, run(1))] == [1, 2]
    kept = list(read(path))
    assert kept == [(1, run()), (2, run(1))]
    assert isinstance(kept[0].run.jobs[0].readings[0], Figures)
    assert len(path.read_bytes().splitlines()) == 2, "a line separator in a log is not an end of a line"


def test_figures_that_are_no_numbers_come_back(tmp_path: Path) -> None:
    """Figures of inf and nan are read as they were written."""
    path = tmp_path / "runs.jsonl"
    append(path, run(rows=(math.inf,)))
    assert read(path).last().run == run(rows=(math.inf,))


def test_the_figures_of_every_tool_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a parser read of any log of the tests is read as it was written."""
    monkeypatch.setattr(records, "PARSERS", PARSERS)
    path = tmp_path / "runs.jsonl"
    logs = sorted(file for file in (Path(__file__).parent / "logs").rglob("*") if file.is_file())
    runs = [
        Run(
            time=WHEN,
            stack=log.name,
            simulated=False,
            jobs=(Job(request=Request(job="x"), ended=Ended.UNKNOWN, readings=reader.read(log)),),
            verdicts=(),
        )
        for log in logs
    ]
    for each in runs:
        append(path, each)
    assert [kept.run for kept in read(path)] == runs
    tools = {reading.tool for each in runs for job in each.jobs for reading in job.readings}
    assert {"nccl-tests", "perftest", "ibstatus", "tf-cnn-benchmarks"} <= tools


def test_runs_of_the_first_schema_are_read(tmp_path: Path) -> None:
    """A run of schema 1, in which a job's request had another name, is read as it was written."""
    path = tmp_path / "runs.jsonl"
    path.write_text(run().line().replace('"request":', '"asked":').replace('"schema_version":2', '"schema_version":1'))
    assert read(path).last().run == run().model_copy(update={"schema_version": 1})


def test_former_names_of_criteria_are_read(tmp_path: Path) -> None:
    """A verdict of a criterion that has another name now is read under that one."""
    path = tmp_path / "runs.jsonl"
    content = json.loads(run().line())
    content["verdicts"][0]["criterion"] = "fabric-alike"
    path.write_text(json.dumps(content) + "\n")
    assert read(path).last().run.verdicts[0].criterion == "fabric-consistent"


def test_times_are_utc() -> None:
    """Times are stored in UTC."""
    local = WHEN.astimezone(timezone(timedelta(hours=2)))
    assert '"time":"2026-11-21T22:49:36Z"' in run().model_copy(update={"time": local.astimezone(UTC)}).line()
    assert Run(time=local, stack="dev", simulated=False, jobs=(), verdicts=()).time.utcoffset() == timedelta(0)
    with pytest.raises(ValidationError):
        Run(time=WHEN.replace(tzinfo=None), stack="dev", simulated=False, jobs=(), verdicts=())


def test_a_tool_that_is_not_known_has_what_all_have(tmp_path: Path) -> None:
    """Of an unknown tool, the fields of every reading are read."""
    path = tmp_path / "runs.jsonl"
    append(path, run(tool="newer-tool"))
    (reading,) = read(path).last().run.jobs[0].readings
    assert (reading.tool, reading.complete, reading.last_line) == ("newer-tool", True, 9)
    assert not hasattr(reading, "rows")


def test_a_cut_last_line_is_left_out_and_said(tmp_path: Path) -> None:
    """A cut last line is left out and reported; earlier runs and the next one are whole."""
    path = tmp_path / "runs.jsonl"
    append(path, run())
    with path.open("ab") as file:
        file.write(run(1).line().encode()[:-40])
    found = read(path)
    assert found.numbers == (1,)
    assert found.skipped == (f"{path}, line 2: cut, as by a run that was killed; left out",)
    assert append(path, run(2)) == 3
    assert [kept.number for kept in read(path)] == [1, 3]
    assert len(read(path).skipped) == 1


def test_a_cut_anywhere_loses_no_earlier_run(tmp_path: Path) -> None:
    """A file that is cut at any byte keeps all earlier runs."""
    path = tmp_path / "runs.jsonl"
    whole = (run().line() + "\n" + run(1).line()).encode()
    first = len(run().line())
    for size in range(0, len(whole), 7):
        path.write_bytes(whole[:size])
        assert read(path).numbers == ((1,) if size >= first else ())


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write on a full disk leaves the file as it was."""
    path = tmp_path / "runs.jsonl"
    append(path, run())
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        append(path, run(1))
    assert path.read_bytes() == before


def test_several_write_at_once(tmp_path: Path) -> None:
    """Runs that are written at the same time are whole lines."""
    path = tmp_path / "runs.jsonl"
    with ThreadPoolExecutor(8) as pool:
        numbers = list(pool.map(lambda minute: append(path, run(minute)), range(40)))
    assert sorted(numbers) == list(range(1, 41))
    assert {kept.run.time for kept in read(path)} == {run(minute).time for minute in range(40)}


def test_a_newer_schema_locks_out_its_own_run_alone(tmp_path: Path) -> None:
    """A run of a newer schema is refused, and the others are read."""
    path = tmp_path / "runs.jsonl"
    newer = rf"runs.jsonl, line 2, has schema version {SCHEMA_VERSION + 1}.*reads up to"
    append(path, run())
    with path.open("a") as file:
        file.write(json.dumps({"schema_version": SCHEMA_VERSION + 1}) + "\n")
    found = read(path)
    assert found.last().number == found.find("1").number == found.find("-1").number == 1
    assert re.search(newer, found.skipped[0])
    with pytest.raises(RecordsError, match=newer):
        found.find("2")
    path.write_text("\n" + path.read_text().splitlines()[1])
    with pytest.raises(RecordsError, match=newer):
        read(path).last()


def test_a_file_that_may_not_be_read_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that may not be read is reported, without a traceback."""
    append(tmp_path / "runs.jsonl", run())

    def locked(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", locked)
    with pytest.raises(RecordsError, match=r"runs.jsonl cannot be read: No locks available; name"):
        read(tmp_path / "runs.jsonl")


def test_a_line_that_is_nested_without_end_is_no_run(tmp_path: Path) -> None:
    """A line of endless nesting is not a run, and the others are read."""
    path = tmp_path / "runs.jsonl"
    append(path, run())
    with path.open("a") as file:
        file.write("[" * 200_000 + "\n")
    found = read(path)
    assert (found.numbers, found.skipped) == ((1,), (f"{path}, line 2: no JSON; left out",))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[]", "line 1: not a run; left out"),
        ("{}", "line 1: not a run; left out"),
        ('{"schema_version": "1"}', "line 1: not a run; left out"),
        ("# a note", "line 1: no JSON; left out"),
    ],
)
def test_a_line_that_is_no_run_is_reported(tmp_path: Path, line: str, said: str) -> None:
    """A line that is not a run is reported."""
    path = tmp_path / "runs.jsonl"
    path.write_text(line + "\n")
    assert [text.removeprefix(f"{path}, ") for text in read(path).skipped] == [said]


@pytest.mark.parametrize(
    "content",
    [
        {"schema_version": 1},
        {"schema_version": 1, "time": "yesterday", "stack": "dev", "simulated": True, "jobs": [], "verdicts": []},
        {"schema_version": 1, "jobs": [{}]},
        {"schema_version": 1, "jobs": [7]},
        {"schema_version": 1, "jobs": 7},
        {"schema_version": 1, "jobs": [{"readings": [{"tool": []}]}]},
    ],
)
def test_a_run_with_wrong_fields_names_its_line(tmp_path: Path, content: object) -> None:
    """A run with wrong fields is reported with its line."""
    path = tmp_path / "runs.jsonl"
    path.write_text(json.dumps(content) + "\n")
    with pytest.raises(RecordsError, match=rf"runs.jsonl, line 1, is not a run of schema {SCHEMA_VERSION}"):
        read(path).last()


def test_runs_are_found_by_number_and_time(tmp_path: Path) -> None:
    """Runs are found by number, by negative number and by time."""
    path = tmp_path / "runs.jsonl"
    for minute in (0, 1, 120):
        append(path, run(minute))
    found = read(path)
    said = {which: found.find(which).number for which in ("1", "2", "-1", "-3", "2026-11-21", "2026-11-21 22:49")}
    assert said == {"1": 1, "2": 2, "-1": 3, "-3": 1, "2026-11-21": 2, "2026-11-21 22:49": 1}
    assert found.last().number == 3
    for which in ("0", "4", "-4", "2025-01-01", "yesterday", ""):
        with pytest.raises(RecordsError, match=r"has no run"):
            found.find(which)


def test_files_without_runs_say_what_to_do(tmp_path: Path) -> None:
    """A file without runs is reported with the command that writes it."""
    with pytest.raises(RecordsError, match=r"runs.jsonl does not exist: `./hpc verify`"):
        read(tmp_path / "runs.jsonl")
    with pytest.raises(RecordsError, match="is a folder"):
        read(tmp_path)
    (tmp_path / "runs.jsonl").touch()
    with pytest.raises(RecordsError, match="has no runs yet"):
        read(tmp_path / "runs.jsonl").last()


def test_nodes_come_back(tmp_path: Path) -> None:
    """Nodes, which no parser reads, are read as they were written."""
    facts = NodeFacts(file="(nodes)", tool=NODE_FACTS, complete=True, first_line=1, last_line=1, nodes=())
    one = run()
    path = tmp_path / "runs.jsonl"
    append(path, one.model_copy(update={"jobs": (one.jobs[0].model_copy(update={"readings": (facts,)}),)}))
    assert read(path).last().run.jobs[0].readings == (facts,)


def test_every_tool_has_a_kind_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every tool has a kind of reading of its own."""
    monkeypatch.setattr(records, "PARSERS", PARSERS)
    for tool, kind in records.kinds().items():
        assert issubclass(kind, Reading), tool
        assert kind is not Reading, f"the parser of {tool} must say what it returns"
