"""What `./hpc --help` lists."""

import os
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import typer
from typer.main import get_group

import cli.app
from cli.app import app
from tests.support.commands import exit_status

_LONGEST = 10
PANELS = {"Everyday", "Review", "Evidence", "State", "Simulation"}


def _commands() -> Iterator[tuple[str, Any]]:
    group: Any = get_group(app)
    context = typer.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield name, command
        yield from ((f"{name} {inner}", part) for inner, part in getattr(command, "commands", {}).items())


@pytest.fixture(scope="module")
def commands() -> dict[str, Any]:
    """Give all commands, with those of groups."""
    return dict(_commands())


def test_each_line_has_ten_words_at_most(commands: dict[str, Any]) -> None:
    """The first paragraph of a command's help fits on its line of the list."""
    lines = {name: cast("str", command.help).split("\n\n")[0].split() for name, command in commands.items()}
    assert not {name: " ".join(words) for name, words in lines.items() if not 0 < len(words) <= _LONGEST}


def test_commands_are_grouped_by_purpose(commands: dict[str, Any]) -> None:
    """Every command is in one of the panels, and each panel has a command."""
    assert {command.rich_help_panel for name, command in commands.items() if " " not in name} == PANELS


def test_a_command_that_is_terminated_removes_its_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGTERM ends a command with its status, and nothing stays of what it had in temporary folders."""

    def command(**_: object) -> None:
        with tempfile.TemporaryDirectory(dir=tmp_path):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(10)

    monkeypatch.setattr(cli.app, "app", command)
    assert exit_status() == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []
