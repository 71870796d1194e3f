"""`./hpc verify --figures`: the content of logs."""

import gzip
import json
from functools import partial
from pathlib import Path

from tests.support.commands import finished
from tests.support.mutated import read_text
from tests.toolkit.evidence.criteria.cases import LOGS
from tests.toolkit.evidence.tools.logs import VECTOR_ADD
from toolkit.cli.verify.command import command
from toolkit.evidence.reader import read
from toolkit.evidence.tools import PARSERS

TABLE = LOGS / "nccl-tests" / "redp5610-4.4-02x08.log"
_run = partial(finished, command, "--figures")


def test_json_has_the_schema_of_the_issue() -> None:
    """The JSON has the fields of the schema, and the paper's printed average."""
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


def test_several_files_and_what_none_knows(tmp_path: Path) -> None:
    """A file of no known tool, or that is missing, gives status 1, and hides no figures of the others."""
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


def test_why_a_file_cannot_be_read_is_reported(tmp_path: Path) -> None:
    """A file that cannot be read is named with the reason: its encoding, a damaged archive, or no content."""
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
    """The first lines that were not read are shown, and the others counted."""
    file = tmp_path / "log"
    file.write_text(VECTOR_ADD + "".join(f"noise {number}\n" for number in range(10)))
    _, output = _run(str(file))
    assert f"{file}:7: noise 0" in output
    assert "and 7 more" in output


def test_standard_input() -> None:
    """A log is read from standard input."""
    status, output = _run("-", text=VECTOR_ADD)
    assert (status, "Test PASSED" in output) == (0, True)


def test_every_known_log_has_figures_in_a_line() -> None:
    """Every reading of the recorded logs has its figures in one line."""
    seen = set()
    for file in sorted(LOGS.rglob("*.log")):
        for reading in read(file):
            if reading.tool != "unknown":
                seen.add(reading.tool)
                assert reading.summary(), file
                assert "\n" not in reading.summary()
    assert seen <= {parser.tool for parser in PARSERS} | {"nccl"}


def test_figures_of_nothing_are_empty() -> None:
    """A log that ends before its first figure has figures as text, too."""
    for parser in PARSERS:
        for text in ("", "# nThread 1 nGpus 8 minBytes 8", "TensorFlow:  1.15", "\tulimit -l", "+ ib_write_bw dgx02"):
            for reading in read_text(text):
                assert isinstance(reading.figures(), str), parser.tool
