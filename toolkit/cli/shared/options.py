"""Options that several commands share, and what they write: a file of text where the user names one, or JSON."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from toolkit.cli.shared.errors import Problem

STANDARD_OUTPUT = Path("-")
"""What `-o -` means with every command that writes one file."""


def file_option(what: str) -> Any:
    """Return the option -o of a command that writes one file of text, which may be standard output."""
    help_text = f"{what}; - for standard output."
    return typer.Option("--output", "-o", metavar="FILE|-", help=help_text, callback=_reserve_standard_output)


def path_option(what: str) -> Any:
    """Return the option -o of a command that writes a folder, or a file that is no text."""
    return typer.Option("--output", "-o", help=f"{what}.", callback=_refuse_standard_output)


def _reserve_standard_output(context: typer.Context, path: Path | None) -> Path | None:
    """Let everything else that the command prints go to standard error where the file goes to standard output."""
    if path == STANDARD_OUTPUT:
        from toolkit.cli.shared.console import console  # noqa: PLC0415 - a batch of `./hpc scc explain` starts without rich

        def release() -> None:
            console.stderr = False

        console.stderr = True
        context.call_on_close(release)
    return path


def _refuse_standard_output(path: Path | None) -> Path | None:
    if path == STANDARD_OUTPUT:
        raise typer.BadParameter("standard output cannot hold it; name a path")
    return path


def write_text(path: Path, content: str) -> None:
    """Write a file, and its folder where there is none, or standard output; raise Problem where that cannot be."""
    if path == STANDARD_OUTPUT:
        print(content, end="")  # noqa: T201 - for a program
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    except OSError as error:
        raise Problem(f"{path} cannot be written: {error.strerror or error}", "Name another file.") from None


def print_json(content: Any, *, sort_keys: bool = False) -> None:
    """Print a value as JSON."""
    print(json.dumps(content, indent=2, sort_keys=sort_keys))  # noqa: T201 - for a program


StackOption = Annotated[
    str, typer.Option("--stack", "-s", help="Stack: NAME of a file Pulumi.NAME.yaml or stacks/examples/NAME.yaml.")
]
OtherName = Annotated[
    str | None,
    typer.Option("--name", "-n", help="Simulated cluster to use instead of the one in the stack's settings."),
]
PolicyOption = Annotated[
    Path | None,
    typer.Option("--config", help="JSON: levels and parameters of policies; they override those of the settings."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
FolderOption = Annotated[Path, path_option("Folder for the files")]

DEFAULT_STACK = "dev"
