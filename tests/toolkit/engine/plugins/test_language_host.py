"""The parts of the language host that need no engine."""

import shutil
import sys
from pathlib import Path

import pytest
from pulumi.runtime.proto import language_pb2

from toolkit.engine.plugins import interpreters
from toolkit.engine.plugins.language import outcome, run_description
from toolkit.engine.plugins.program import user_traceback


def test_interpreter_of_the_project(tmp_path: Path) -> None:
    """A program runs in the environment that its project names."""
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    (tmp_path / "venv" / "bin" / "python").touch()
    assert interpreters.interpreter(str(tmp_path), {"virtualenv": "venv"}) == tmp_path / "venv" / "bin" / "python"
    assert interpreters.interpreter(str(tmp_path), {}) == Path(shutil.which("python3") or sys.executable)
    with pytest.raises(interpreters.MissingInterpreterError, match=r"Make the environment \(python3 -m venv"):
        interpreters.interpreter(str(tmp_path), {"virtualenv": "none"})


def test_required_plugins_of_an_environment() -> None:
    """The plugins that an environment needs are reported."""
    found = {item.name: item.version for item in interpreters.required_plugins(Path(sys.prefix) / "bin" / "python")}
    assert found["kubernetes"].startswith("4.")


def test_outcomes() -> None:
    """A killed program fails, and a logged error is shown once."""
    assert not outcome(0).error
    assert outcome(32).bail
    assert "SIGKILL" in outcome(-9).error
    assert outcome(3).error == "program exited with non-zero exit code: 3"


def test_run_request() -> None:
    """A program gets the stack that is updated."""
    info = language_pb2.ProgramInfo(root_directory="/r", program_directory="/r/p", entry_point=".")
    request = language_pb2.RunRequest(
        project="p", stack="s", monitor_address="m", dryRun=True, parallel=4, organization="o", info=info
    )
    assert run_description(request, "e") == {
        "project": "p",
        "stack": "s",
        "organization": "o",
        "root_directory": "/r",
        "parallel": 4,
        "monitor": "m",
        "engine": "e",
        "dry_run": True,
    }


def test_traceback_starts_in_the_program() -> None:
    """A traceback starts in the user's program."""
    source = "def inner():\n    raise ValueError('mine')\ninner()"
    with pytest.raises(ValueError, match="mine") as caught:
        exec(compile(source, "/home/user/__main__.py", "exec"), {})  # noqa: S102
    text = user_traceback(caught.value, "/home/user")
    assert "/home/user/__main__.py" in text
    assert "interpreters" not in text
    assert text.rstrip().endswith("ValueError: mine")
