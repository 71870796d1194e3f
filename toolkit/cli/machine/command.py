"""`./hpc machine ...`: a module for each subcommand."""

import typer

from toolkit.cli.machine import check, discover, from_logs

app = typer.Typer(no_args_is_help=True, help="Machine files from nodes, and nodes compared with them.")

app.command("discover")(discover.command)
app.command("from-logs")(from_logs.command)
app.command("check", cls=check.KIND)(check.command)
