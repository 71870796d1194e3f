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
from typer.testing import CliRunner

import toolkit.cli.app
from policies.version import version
from tests.support.commands import exit_status
from tests.support.recorded import ROOT
from toolkit.cli.app import COMMANDS, app

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


def test_the_list_shows_the_commands_own_first_lines(commands: dict[str, Any]) -> None:
    """`./hpc --help` imports no command, and says what the help of each begins with."""
    own = {name: " ".join(commands[name].help.split("\n\n")[0].split()) for name in COMMANDS}
    assert {name: entry.summary for name, entry in COMMANDS.items()} == own


def test_paragraphs_of_help_are_whole(commands: dict[str, Any]) -> None:
    """A terminal breaks the lines of help, not the source: a narrower one would break them twice."""
    assert any("\n\n" in command.help for command in commands.values())
    assert not [name for name, command in commands.items() if "\n" in command.help.replace("\n\n", "")]


def test_every_output_option_has_standard_output_or_refuses_it(commands: dict[str, Any]) -> None:
    """Every -o writes one file, which may be standard output, or a path that standard output cannot be."""
    options = {name: option for name, each in commands.items() for option in each.params if "-o" in option.opts}
    files = {name for name, option in options.items() if option.help.endswith("; - for standard output.")}
    assert files == {"adopt", "diff", "drift", "job", "machine discover", "machine from-logs", "state backup"}
    assert options.keys() - files == {"data index", "render", "report", "site render"}
    assert all(option.callback for option in options.values())


def test_help_names_a_page(commands: dict[str, Any]) -> None:
    """The help of every command ends with a page that exists."""
    top = {name: command.epilog for name, command in commands.items() if " " not in name}
    assert not [name for name, more in top.items() if not (ROOT / more.removeprefix("More: ")).is_file()]


@pytest.mark.parametrize(
    ("words", "status", "part"),
    [
        (["chek"], 2, "No such command 'chek'. Did you mean 'check'?"),
        (["plan", "prod"], 2, "prod is a stack: write --stack prod"),
        (["state", "check", "prod"], 2, "prod is a stack: write --stack prod"),
        (["plan", "nothing"], 2, "unexpected extra argument(s) (nothing)"),
        (["--version"], 0, f"hpc {version()}"),
    ],
)
def test_usage(words: list[str], status: int, part: str) -> None:
    """A misspelt command and a stack without its option are answered with what was meant."""
    found = CliRunner().invoke(app, words, env={"COLUMNS": "200"})
    assert (found.exit_code, part in found.output) == (status, True), found.output


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

    monkeypatch.setattr(toolkit.cli.app, "app", command)
    assert exit_status() == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []
