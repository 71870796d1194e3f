"""`./hpc settings ...`: a module for each subcommand."""

import typer

from toolkit.cli.settings import show

app = typer.Typer(no_args_is_help=True, help="A stack's settings, merged over its bases.")

app.command("show")(show.command)
