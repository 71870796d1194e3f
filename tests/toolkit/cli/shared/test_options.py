"""The option -o of commands, and what they write."""

from pathlib import Path
from typing import Annotated

import pytest
import typer

from tests.support.commands import run
from toolkit.cli.shared import options
from toolkit.cli.shared.console import print_text


def _writes(path: Annotated[Path, options.file_option("File")]) -> None:
    print_text("working")
    options.write_text(path, "content\n")


def _fills(path: Annotated[Path, options.path_option("Folder")]) -> None:
    raise AssertionError(path)


def test_standard_output_has_the_file_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With -o - the file is printed, all else goes to standard error, and no file is called so."""
    monkeypatch.chdir(tmp_path)
    done = run(_writes, "-o", "-")
    assert (done.stdout, done.stderr) == ("content\n", "working\n")
    assert [*tmp_path.iterdir()] == []
    assert run(_writes, "-o", "made.txt").stdout == "working\n"


def test_a_folder_is_not_standard_output() -> None:
    """What is no single text is refused there, and no folder is called so."""
    done = run(_fills, "-o", "-")
    assert done.exit_code == typer.BadParameter("").exit_code
    assert "standard output cannot hold it" in done.output
