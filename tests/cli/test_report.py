"""`./hpc report`: which run is reported and compared, where the results are, and the exit status."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli import results
from cli import stack as stacks
from cli.app import app
from cli.errors import Problem
from cli.places import ROOT
from evidence.records import Run, append
from tests.evidence import samples

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
    """Collect the runs that are drawn, in place of drawing them: tests/evidence/report looks at pages."""
    seen: list[Run] = []

    def draw(run: Run, _: object) -> str:
        seen.append(run)
        return "<!doctype html>"

    monkeypatch.setattr("cli.commands.report.draw", draw)
    return seen


def kept(file: Path, *runs: Run) -> Path:
    """Keep runs in a file."""
    for run in runs:
        append(file, run)
    return file


def test_the_last_run_of_a_stack_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, drawn: list[Run]) -> None:
    """Prevents a report of another stack's or another cluster's run, and files that nobody finds."""
    monkeypatch.setenv("HPC_SIM_HOME", str(tmp_path / "sim"))
    file = results.file(stacks.read("dev", "mine"))
    assert file == tmp_path / "sim" / "mine" / "results" / "dev" / "runs.jsonl"
    kept(file, samples.good(), samples.good(1))
    output = tmp_path / "out" / "deep"
    status, told = report("--stack", "dev", "--name", "mine", "-o", output)
    assert (status, drawn) == (0, [samples.good(1)])
    assert "simulated run 2 of 2026-11-21 22:50 UTC: Passed: 5 criteria" in told
    assert f"{output}/report.html\n{output}/report.md\n" in told
    assert (output / "report.md").read_text(encoding="utf-8").startswith("# ✅ Passed")
    assert report("--stack", "dev", "--name", "mine", "--run", "1", "-o", output)[0] == 0
    assert drawn[1] == samples.good()
    assert "no results" in report("--stack", "dev", "-o", output)[1]


def test_results_of_real_clusters_are_in_the_checkout() -> None:
    """Prevents results of a real cluster that go with a simulated one, or into a commit."""
    stack = stacks.read("prod")
    cluster = stack.settings.cluster.model_copy(update={"simulated": False})
    stack = replace(stack, settings=stack.settings.model_copy(update={"cluster": cluster}))
    assert results.file(stack) == ROOT / ".hpc" / "prod" / "runs.jsonl"
    assert ".hpc/" in (ROOT / ".gitignore").read_text().splitlines()


@pytest.mark.usefixtures("drawn")
def test_a_regression_is_the_exit_status(tmp_path: Path) -> None:
    """Prevents a pipeline that goes on over a slower fabric; a failed run itself is verify's to tell."""
    file = kept(tmp_path / "runs.jsonl", samples.good(), samples.good(1), samples.good(2, slower=1.2))
    status, told = report("--run", file, "--against", "1", "-o", tmp_path)
    assert status == 1
    assert "10 regressions against run 1 of 2026-11-21 22:49 UTC" in told
    assert "## Changes" in (tmp_path / "report.md").read_text(encoding="utf-8")
    status, told = report("--run", file, "--against", file, "-o", tmp_path)
    assert status == 1
    assert "10 regressions against the median of 2 runs (1, 2)" in told, "the run itself is no earlier one"
    other = kept(tmp_path / "other.jsonl", samples.good(3))
    assert report("--run", other, "--against", file, "-o", tmp_path)[0] == 0
    assert report("--run", kept(tmp_path / "bad.jsonl", samples.bad()), "-o", tmp_path)[0] == 0


@pytest.mark.usefixtures("drawn")
def test_what_cannot_be_compared_is_said(tmp_path: Path) -> None:
    """Prevents a comparison with oneself, or of a model with hardware, that finds no regression."""
    file = kept(tmp_path / "runs.jsonl", samples.good(), samples.bad())
    assert "has no run 7; it has 1-2" in report("--run", file, "--against", "7", "-o", tmp_path)[1]
    assert "cannot be compared with itself" in report("--run", file, "--against", "-1", "-o", tmp_path)[1]
    assert "was simulated and this one measured" in report("--run", file, "--against", "1", "-o", tmp_path)[1]
    single = kept(tmp_path / "single.jsonl", samples.good())
    assert "has no run before run 1" in report("--run", single, "--against", single, "-o", tmp_path)[1]
    assert not (tmp_path / "report.html").exists()


@pytest.mark.usefixtures("drawn")
def test_a_cut_line_is_said_and_a_newer_file_refused(tmp_path: Path) -> None:
    """Prevents a report that silently leaves out the run that was meant."""
    file = kept(tmp_path / "runs.jsonl", samples.good())
    with file.open("a") as opened:
        opened.write('{"schema_version":1,"time"')
    status, told = report("--run", file, "-o", tmp_path)
    assert status == 0
    assert "warning: " in told
    assert "line 2: cut" in told
    file.write_text(json.dumps({"schema_version": 99}) + "\n")
    assert "has schema version 99" in report("--run", file, "-o", tmp_path)[1]


@pytest.mark.usefixtures("drawn")
def test_a_folder_that_cannot_be_one_is_one_message(tmp_path: Path) -> None:
    """Prevents forty lines of traceback for a file, or a page that is a folder."""
    runs = kept(tmp_path / "runs.jsonl", samples.good())
    (tmp_path / "file").write_text("")
    (tmp_path / "folder" / "report.html").mkdir(parents=True)
    for output in ("file", "folder"):
        status, told = report("--run", runs, "-o", tmp_path / output)
        assert status == 1
        assert "cannot be written" in told
