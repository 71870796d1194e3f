"""`./hpc machine ...`: a module for each subcommand."""

import typer

from cli.machine import from_logs

app = typer.Typer(no_args_is_help=True, help="Machine files from what nodes print.")

app.command("from-logs")(from_logs.command)
