"""The parts of the language host that need no engine."""

import sys
from pathlib import Path

import pytest
from pulumi.runtime.proto import language_pb2

from simulator.plugins import interpreters
from simulator.plugins.language import outcome, program_path, run_description
from simulator.plugins.locate import OFFLINE_FOLDER, plugin_choice
from simulator.plugins.program import user_traceback


def test_interpreter_of_the_project(tmp_path: Path) -> None:
    """Prevents a program from running in another environment than its project names."""
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    (tmp_path / "venv" / "bin" / "python").touch()
    assert interpreters.interpreter(str(tmp_path), {"virtualenv": "venv"}) == tmp_path / "venv" / "bin" / "python"
    assert interpreters.interpreter(str(tmp_path), {}) == Path(sys.executable)
    with pytest.raises(interpreters.MissingInterpreterError, match=r"Make the environment \(python3 -m venv"):
        interpreters.interpreter(str(tmp_path), {"virtualenv": "none"})


def test_required_plugins_of_an_environment() -> None:
    """Prevents the engine from starting without knowing which provider a program needs."""
    found = {item.name: item.version for item in interpreters.required_plugins(Path(sys.prefix) / "bin" / "python")}
    assert found["kubernetes"].startswith("4.")


def test_outcomes() -> None:
    """Prevents a killed program from passing, and a logged error from being shown twice."""
    assert not outcome(0).error
    assert outcome(32).bail
    assert "SIGKILL" in outcome(-9).error
    assert "exit status 3" in outcome(3).error


def test_run_request() -> None:
    """Prevents a program from seeing another stack than the one that is updated."""
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
    assert program_path(info) == Path("/r/p")


def test_traceback_starts_in_the_program() -> None:
    """Prevents the user's error from being buried under the frames that lead to it."""
    source = "def inner():\n    raise ValueError('mine')\ninner()"
    with pytest.raises(ValueError, match="mine") as caught:
        exec(compile(source, "/home/user/__main__.py", "exec"), {})  # noqa: S102
    text = user_traceback(caught.value)
    assert "/home/user/__main__.py" in text
    assert text.rstrip().endswith("ValueError: mine")


def _executable(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)


def test_offline_plugins_only_where_needed(tmp_path: Path) -> None:
    """Prevents the stand-ins from taking the place of official plugins, and from going unannounced."""
    home = {"HOME": str(tmp_path), "PATH": str(tmp_path / "bin")}
    nothing = plugin_choice(home)
    assert nothing.path.endswith(str(OFFLINE_FOLDER))
    assert "offline stand-ins for pulumi-language-python and pulumi-resource-kubernetes" in nothing.announcement

    _executable(tmp_path / "bin" / "pulumi")
    _executable(tmp_path / "bin" / "pulumi-language-python")
    half = plugin_choice({**home, "PATH": nothing.path})
    assert half.offline == ("resource-kubernetes",)
    folder = Path(half.path.rpartition(":")[2])
    assert [path.name for path in folder.iterdir()] == ["pulumi-resource-kubernetes"]

    _executable(tmp_path / ".pulumi" / "plugins" / "resource-kubernetes-v4.34.2" / "pulumi-resource-kubernetes")
    official = plugin_choice({**home, "PATH": half.path})
    assert official.path == str(tmp_path / "bin")
    assert official.offline == ()
