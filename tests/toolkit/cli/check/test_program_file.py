"""`./hpc check --program`."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from toolkit.cli.app import app

PROGRAM = """
command: [torchrun, train.py]
kinds: [job]
prints: [nccl]
metrics:
  - {name: throughput, pattern: 'throughput: ([\\d.]+)', unit: images/s, value: median, warm_up: 1}
"""
LOG = "throughput: 1\nthroughput: 8517.25\n"


def check(folder: Path, program: str = PROGRAM, log: str | None = LOG) -> tuple[int, str]:
    """Return exit status and output of the command on a program and a log."""
    (folder / "train.yaml").write_text(program)
    options = []
    if log is not None:
        (folder / "train.log").write_text(log)
        options = ["--log", str(folder / "train.log")]
    done = CliRunner().invoke(app, ["check", "--program", str(folder / "train.yaml"), *options])
    return done.exit_code, f"{done.output}{done.exception or ''}"


def test_a_log_gives_values(tmp_path: Path) -> None:
    """The value that counts is shown with its unit, how many there are, and its line."""
    status, printed = check(tmp_path)
    assert status == 0
    row = next(line for line in printed.splitlines() if line.startswith("throughput"))
    assert row.split() == ["throughput", "8,517.25", "images/s", "2", "2"]
    assert check(tmp_path, log=None)[0] == 0


@pytest.mark.parametrize(
    ("program", "log", "expected"),
    [
        (PROGRAM, "loss 1\n", "none"),
        (PROGRAM, "throughput: 1\n", "all in warm_up"),
        (PROGRAM, "throughput: 1 throughput: 2\n", "line 1: throughput: 1 throughput: 2"),
        (PROGRAM.replace("[nccl]", "[ncccl]"), LOG, "prints: no such tool: ncccl"),
        (
            PROGRAM.replace("[job]", "job"),
            LOG,
            "train.yaml:3:8: kinds: is not a list (value: 'job'); write a list, e.g. [a, b]",
        ),
        (PROGRAM.replace("[job]", "[jobs]"), LOG, "1 wrong\n"),
        (PROGRAM.replace("[job]", "[jobs]"), LOG, "kinds[0]: is not 'mpi', 'torch', 'job' or 'indexed'"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, program: str, log: str, expected: str) -> None:
    """A metric without a value ends with status 1, as does a wrong field."""
    status, printed = check(tmp_path, program, log)
    assert status == 1
    assert expected in printed


@pytest.mark.parametrize(
    "arguments", [("--log", "x.log"), ("--program", "p.yaml", "--stack", "dev"), ("--program", "p.yaml", "x")]
)
def test_a_program_is_checked_alone(arguments: tuple[str, ...]) -> None:
    """A program's file is no manifest, and no part of a stack; a log needs its program."""
    done = CliRunner().invoke(app, ["check", *arguments])
    assert "--program, with --log, is a check of its own" in f"{done.output}{done.exception}"


def test_a_pattern_that_never_matches_is_shown_with_a_line(tmp_path: Path) -> None:
    """The line is one to compare the pattern with."""
    status, printed = check(tmp_path, log="Throughput: 8517 images/s\n")
    assert status == 1
    assert "not in line 1: Throughput: 8517 images/s" in " ".join(printed.split())
