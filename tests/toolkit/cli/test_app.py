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
from typer.core import TyperGroup
from typer.main import get_group
from typer.testing import CliRunner

import toolkit.cli.app
from policies import version
from tests.support.commands import exit_status
from tests.support.recorded import ROOT
from toolkit.cli.app import COMMANDS, FORMER_NAMES, app, present_name
from toolkit.cli.shared.errors import UNJUDGED

_LONGEST = 10
CLI = ROOT / "toolkit" / "cli"
_OTHERS = {"__init__", "__main__", "app", "shared"}


def _commands() -> Iterator[tuple[str, Any]]:
    group: Any = get_group(app)
    context = typer.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield name, command
        yield from ((f"{name} {inner}", command.get_command(context, inner)) for inner in _inner(command, context))


def _inner(command: Any, context: Any) -> list[str]:
    return command.list_commands(context) if isinstance(command, TyperGroup) else []


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
    assert files == {"state adopt", "diff", "drift", "job", "hardware discover", "hardware from-logs", "state backup"}
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
        (["status", "prod"], 2, "prod is a stack: write --stack prod"),
        (["state", "check", "prod"], 2, "prod is a stack: write --stack prod"),
        (["status", "nothing"], 2, "unexpected extra argument(s) (nothing)"),
        (["--version"], 0, f"hpc {version()}"),
    ],
)
def test_usage(words: list[str], status: int, part: str) -> None:
    """A misspelt command and a stack without its option are answered with what was meant."""
    found = CliRunner().invoke(app, words, env={"COLUMNS": "200"})
    assert (found.exit_code, part in found.output) == (status, True), found.output


def test_help_fits_one_screen() -> None:
    """The help without a command has a line for each command, and fits a terminal of 80 columns."""
    for words in ([], ["--help"]):
        lines = CliRunner().invoke(app, words).output.rstrip().splitlines()
        assert len(lines) <= 30
        assert max(map(len, lines)) <= 80
        assert {name for name in COMMANDS if any(name in line.split()[:2] for line in lines)} == {*COMMANDS}


@pytest.mark.parametrize("former", FORMER_NAMES)
def test_a_former_name_is_answered_with_the_present_one(former: str, commands: dict[str, Any]) -> None:
    """What a command was called before is no command, and names the one that it is now."""
    done = CliRunner().invoke(app, former.split(), env={"COLUMNS": "300"})
    assert done.exit_code in (2, UNJUDGED)
    assert f"`./hpc {former}` is now `./hpc {FORMER_NAMES[former]}`" in done.output
    present = FORMER_NAMES[former].split("`")[0].split()
    assert {" ".join(present[:1]), " ".join(present[:2]) if not present[-1].startswith("-") else present[0]} & {
        *commands
    }


def test_a_former_option_with_its_value_is_answered() -> None:
    """An option that has another name now is known with its value behind =, too."""
    assert present_name(["verify", "--profile=dgx-h100"]) == (
        "`./hpc verify --profile` is now `./hpc verify --machine`."
    )


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


def test_a_module_or_a_folder_for_each_command() -> None:
    """A command's code is found by the command's name."""
    found = {
        path.stem for path in CLI.iterdir() if path.name != "__pycache__" and (path.is_dir() or path.suffix == ".py")
    }
    assert found - _OTHERS == {name.replace("-", "_") for name in COMMANDS}
