"""Commands of `./hpc`, run in this process."""

import signal
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest
import typer
from typer.testing import CliRunner, Result

from toolkit.cli import app


def run(command: Callable[..., Any], *arguments: str, text: str | bytes | None = None) -> Result:
    """Run a command to its end, with `text` on its standard input; what it raises is in the result.

    Options that are not its own are passed on where it takes a context, as the engine's are.
    """
    passes_on = "context" in command.__annotations__
    alone = typer.Typer()
    alone.command(context_settings={"allow_extra_args": passes_on, "ignore_unknown_options": passes_on})(command)
    return CliRunner().invoke(alone, arguments, input=text)


def finished(command: Callable[..., Any], *arguments: str, text: str | bytes | None = None) -> tuple[int, str]:
    """Run a command that exits by itself, and return its status and all that it printed; raise what it raises."""
    done = run(command, *arguments, text=text)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.output


def exit_status(*arguments: str) -> int:
    """Run `./hpc` to its end, with its own handling of errors and signals, and return its exit status."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        with patch("sys.argv", ["hpc", *arguments]), pytest.raises(SystemExit) as exit_:
            app.main()
    finally:
        signal.signal(signal.SIGTERM, before)
    return int(exit_.value.code or 0)
