"""A command of `./hpc`, run in this process."""

from collections.abc import Callable
from typing import Any

import typer
from typer.testing import CliRunner, Result


def run(command: Callable[..., Any], *arguments: str, text: str | bytes | None = None) -> Result:
    """Run a command to its end, with `text` on its standard input; what it raises is in the result.

    Options that are not its own are passed on where it takes a context, as the engine's are.
    """
    passes_on = "context" in command.__annotations__
    app = typer.Typer()
    app.command(context_settings={"allow_extra_args": passes_on, "ignore_unknown_options": passes_on})(command)
    return CliRunner().invoke(app, arguments, input=text)


def finished(command: Callable[..., Any], *arguments: str, text: str | bytes | None = None) -> tuple[int, str]:
    """Run a command that exits by itself, and return its status and all that it printed; raise what it raises."""
    done = run(command, *arguments, text=text)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.output
