"""`./hpc parse`: what logs hold."""

import gzip
import json
from pathlib import Path

import typer
from typer.testing import CliRunner

from cli.commands import parse
from cli.proving.figures import figures, summary
from evidence.reader import read
from evidence.tools import PARSERS
from tests.evidence.criteria.cases import LOGS, nccl
from tests.evidence.tools.test_cuda_vector_add import LOG as VECTOR_ADD
from tests.support.mutated import read_text

TABLE = LOGS / "nccl-tests" / "redp5610-4.4-02x08.log"


def _run(*arguments: str) -> tuple[int, str]:
    app = typer.Typer()
    app.command()(parse.command)
    done = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    return done.exit_code, done.output


def test_json_has_the_schema_of_the_issue() -> None:
    """Prevents a pipeline from finding other names, or an average that the paper did not print (R-4.4-8)."""
    status, output = _run(str(TABLE), "--json")
    (found,) = json.loads(output)
    assert status == 0
    assert found["file"] == str(TABLE)
    assert (found["tool"], found["complete"], found["ranks"]) == ("nccl-tests", True, 16)
    assert found["hosts"] == ["nccl-test-mpi-worker-0", "nccl-test-mpi-worker-1"]
    assert (found["average_busbw_gb_s"], found["out_of_bounds"], len(found["rows"])) == (12.3088, 0, 26)
    row = found["rows"][-1]
    assert (row["bytes"], row["count"], row["type"], row["redop"]) == (268435456, 67108864, "float", "sum")
    half = row["out_of_place"]
    assert (half["time_us"], half["algbw_gb_s"], half["busbw_gb_s"], half["wrong"]) == (9115.8, 29.45, 55.21, None)
    assert found["unread"] == []


def test_json_tells_of_nccl(tmp_path: Path) -> None:
    """Prevents transports that are counted and not told."""
    file = tmp_path / "log"
    file.write_text(nccl())
    _, output = _run(str(file), "--json")
    log = json.loads(output)[0]["nccl"]
    assert (log["transports"], log["gpudirect"], log["devices"][0]) == ({"NET/IB": 2}, 2, "mlx5_3")


def test_several_files_and_what_none_knows(tmp_path: Path) -> None:
    """Prevents exit status 0 over a file that nobody can read, and one bad file from hiding the good."""
    strange = tmp_path / "strange.log"
    strange.write_text("hello\n[bold]there[/bold]\n")
    status, output = _run(str(TABLE), str(strange), str(tmp_path / "gone.log"))
    assert status == 1
    assert "average 12.3088" in output
    assert f"{strange}: no known tool" in output
    assert f"not read: {strange}:2: [bold]there[/bold]" in output
    assert f"{tmp_path / 'gone.log'}: No such file" in output
    assert _run(str(TABLE))[0] == 0
    assert _run(str(strange), "--json")[0] == 1


def test_why_a_file_cannot_be_read_is_said(tmp_path: Path) -> None:
    """Prevents a log that PowerShell wrote, a cut archive or an empty file from being no tool's, and no word why."""
    file = tmp_path / "log"
    for data, why in (
        ("# nThread 1\n".encode("utf-16"), "it is UTF-16 text: convert it to UTF-8 first"),
        (gzip.compress(b"hello\n" * 100)[:-5], "the compressed file is damaged or cut"),
        (b"", "the file is empty"),
    ):
        file.write_bytes(data)
        status, output = _run(str(file))
        assert (status, f"{file}: {why}" in output) == (1, True), output


def test_lines_that_were_not_read_are_counted(tmp_path: Path) -> None:
    """Prevents damage that only the first lines tell of."""
    file = tmp_path / "log"
    file.write_text(VECTOR_ADD + "".join(f"noise {number}\n" for number in range(10)))
    _, output = _run(str(file))
    assert f"{file}:7: noise 0" in output
    assert "and 7 more" in output


def test_standard_input() -> None:
    """Prevents `oc logs ... | ./hpc parse -` from looking for a file of that name."""
    app = typer.Typer()
    app.command()(parse.command)
    done = CliRunner().invoke(app, ["-"], input=VECTOR_ADD, catch_exceptions=False)
    assert (done.exit_code, "Test PASSED" in done.output) == (0, True)


def test_every_known_log_has_figures_in_a_line() -> None:
    """Prevents a table that names the tool and says nothing of what it printed."""
    seen = set()
    for file in sorted(LOGS.rglob("*.log")):
        for reading in read(file):
            if reading.tool != "unknown":
                seen.add(reading.tool)
                assert summary(reading), file
                assert "\n" not in summary(reading)
    assert seen <= {parser.tool for parser in PARSERS} | {"nccl"}


def test_figures_of_nothing_are_empty() -> None:
    """Prevents a table that fails on a log which ends before its first figure."""
    for parser in PARSERS:
        for text in ("", "# nThread 1 nGpus 8 minBytes 8", "TensorFlow:  1.15", "\tulimit -l", "+ ib_write_bw dgx02"):
            for reading in read_text(text):
                assert isinstance(figures(reading), str), parser.tool
