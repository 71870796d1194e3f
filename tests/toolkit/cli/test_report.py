"""`./hpc report`: which run is reported and compared, where the results are, and the exit status."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from core.errors import DataSetError
from tests.support.messages import has
from tests.support.states import on_real_cluster
from tests.toolkit.evidence import samples
from toolkit.cli.app import app
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.paths import ROOT
from toolkit.evidence.records import FILE, ROUNDS, Run, append

RUNNER = CliRunner()


def report(*arguments: str | Path) -> tuple[int, str]:
    """Return exit status and output; a Problem is the message that the user sees."""
    done = RUNNER.invoke(app, ["report", *map(str, arguments)])
    if isinstance(done.exception, Problem):
        return 1, str(done.exception)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.output


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    """Collect the runs that are drawn, in place of drawing them: tests/toolkit/evidence/report checks the pages."""
    seen: list[Run] = []

    def draw(run: Run, *_: object) -> str:
        seen.append(run)
        return "<!doctype html>"

    monkeypatch.setattr("toolkit.cli.report.draw", draw)
    return seen


def kept(file: Path, *runs: Run) -> Path:
    """Keep runs in a file."""
    for run in runs:
        append(file, run)
    return file


def test_a_missing_package_is_named_with_the_file_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With requirements.txt alone a report needs matplotlib: an error with the remedy, and no files."""
    file = kept(tmp_path / "runs.jsonl", samples.good())
    for module in [
        name for name in sys.modules if name.partition(".")[0] == "matplotlib" or "toolkit.evidence.report" in name
    ]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    status, printed = report("--run", file, "-o", tmp_path / "out")
    assert status == 1
    assert "matplotlib" in printed
    assert "requirements/sim.txt" in printed
    assert not (tmp_path / "out").exists()


def test_the_last_run_of_a_stack_is_reported(tmp_path: Path, sim_home: Path, drawn: list[Run]) -> None:
    """Without a file the report is of the stack's last run on its cluster, and prints where it is."""
    file = stacks.read("dev", "mine").results / FILE
    assert file == sim_home / "mine" / "results" / "dev" / "runs.jsonl"
    kept(file, samples.good(), samples.good(1))
    output = tmp_path / "out" / "deep"
    status, printed = report("--stack", "dev", "--name", "mine", "-o", output)
    assert (status, drawn) == (0, [samples.good(1)])
    assert has(printed, "simulated", "run 2", "2026-11-21 22:50 UTC", "Passed: 5 criteria")
    assert f"{output}/report.html\n{output}/report.md\n" in printed
    assert (output / "report.md").read_text(encoding="utf-8").startswith("# ✅ Passed")
    assert report("--stack", "dev", "--name", "mine", "--run", "1", "-o", output)[0] == 0
    assert drawn[1] == samples.good()
    assert "does not exist: `./hpc verify`" in report("--stack", "dev", "-o", output)[1]


def test_the_rounds_of_the_suite_are_drawn_beside_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are in the file beside that of the runs, in the order in which they were read."""
    seen: list[Any] = []

    def draw(*given: Any) -> str:
        seen.append(given[3])
        return ""

    monkeypatch.setattr("toolkit.cli.report.draw", draw)
    file = kept(tmp_path / "runs.jsonl", samples.good(5))
    assert report("--run", file, "-o", tmp_path / "out")[0] == 0
    kept(tmp_path / ROUNDS, samples.good(2), samples.good(1))
    assert report("--run", file, "-o", tmp_path / "out")[0] == 0
    assert seen == [[], [samples.good(1), samples.good(2)]]


def test_results_of_real_clusters_are_in_the_checkout() -> None:
    """Results of a real cluster are in a folder of the checkout that git ignores."""
    assert on_real_cluster(stacks.read("prod")).results / FILE == ROOT / ".hpc" / "prod" / "runs.jsonl"
    assert ".hpc/" in (ROOT / ".gitignore").read_text().splitlines()


@pytest.mark.usefixtures("drawn")
def test_a_regression_is_the_exit_status(tmp_path: Path) -> None:
    """A regression gives status 1; whether a run failed is the status of verify."""
    file = kept(tmp_path / "runs.jsonl", samples.good(), samples.good(1), samples.good(2, slower=1.2))
    status, printed = report("--run", file, "--against", "1", "-o", tmp_path)
    assert status == 1
    assert has(printed, "10 regressions", "run 1", "2026-11-21 22:49 UTC")
    assert "## Changes" in (tmp_path / "report.md").read_text(encoding="utf-8")
    status, printed = report("--run", file, "--against", file, "-o", tmp_path)
    assert status == 1
    assert has(printed, "10 regressions", "median of 2 runs", "(1, 2)"), "the run itself is not an earlier one"
    other = kept(tmp_path / "other.jsonl", samples.good(3))
    assert report("--run", other, "--against", file, "-o", tmp_path)[0] == 0
    assert report("--run", kept(tmp_path / "bad.jsonl", samples.bad()), "-o", tmp_path)[0] == 0


@pytest.mark.usefixtures("drawn")
def test_what_cannot_be_compared_is_reported(tmp_path: Path) -> None:
    """A run is not compared with itself, with a missing run, or a measured one with a simulated one."""
    file = kept(tmp_path / "runs.jsonl", samples.good(), samples.bad())
    assert "has no run 7; it has 1-2" in report("--run", file, "--against", "7", "-o", tmp_path)[1]
    assert "cannot be compared with itself" in report("--run", file, "--against", "-1", "-o", tmp_path)[1]
    assert "was simulated and this one measured" in report("--run", file, "--against", "1", "-o", tmp_path)[1]
    single = kept(tmp_path / "single.jsonl", samples.good())
    assert "has no run before run 1" in report("--run", single, "--against", single, "-o", tmp_path)[1]
    assert not (tmp_path / "report.html").exists()


@pytest.mark.usefixtures("drawn")
def test_a_cut_line_is_reported_and_a_newer_file_refused(tmp_path: Path) -> None:
    """A cut line of the file is named in a warning, and a newer schema is refused."""
    file = kept(tmp_path / "runs.jsonl", samples.good())
    with file.open("a") as opened:
        opened.write('{"schema_version":1,"time"')
    status, printed = report("--run", file, "-o", tmp_path)
    assert status == 0
    assert "warning: " in printed
    assert "line 2: cut" in printed
    file.write_text(json.dumps({"schema_version": 99}) + "\n")
    assert "has schema version 99" in report("--run", file, "-o", tmp_path)[1]


@pytest.mark.usefixtures("drawn")
def test_a_folder_that_cannot_be_one_is_one_message(tmp_path: Path) -> None:
    """An output that cannot be written is refused with a message."""
    runs = kept(tmp_path / "runs.jsonl", samples.good())
    (tmp_path / "file").write_text("")
    (tmp_path / "folder" / "report.html").mkdir(parents=True)
    for output in ("file", "folder"):
        status, printed = report("--run", runs, "-o", tmp_path / output)
        assert status == 1
        assert "cannot be written" in printed


def test_a_confusion_matrix_is_drawn_with_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The matrix of a CSV file comes into the page with its empty and weak classes; a broken one is named."""
    seen: list[Any] = []

    def draw(*given: object) -> str:
        seen.extend(given[2:])
        return "<!doctype html>"

    monkeypatch.setattr("toolkit.cli.report.draw", draw)
    file, matrix = kept(tmp_path / "runs.jsonl", samples.good()), tmp_path / "matrix.csv"
    matrix.write_text("x,sky,car,bicycle\nsky,9,1,0\ncar,3,1,0\nbicycle,0,0,0\n")
    assert report("-o", tmp_path / "out", "--run", file, "--confusion", matrix)[0] == 0
    assert seen[0].classes == ("sky", "car", "bicycle")
    assert [*seen[0].notes] == ["not evaluated, for no label has it: bicycle", "recall below 0.5: car 0.25"]
    matrix.write_text("x,sky\n")
    with pytest.raises(DataSetError, match="no matrix"):
        report("-o", tmp_path / "out", "--run", file, "--confusion", matrix)
