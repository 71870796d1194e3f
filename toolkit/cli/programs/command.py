"""`./hpc programs ...`: a module for each subcommand."""

import typer

from toolkit.cli.programs import check

app = typer.Typer(no_args_is_help=True, help="Files of your own programs.")


@app.callback()
def _programs() -> None:
    """Keep `check` a subcommand: a single one would take its group's place."""


app.command("check")(check.command)
