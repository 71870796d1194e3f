"""`./hpc site ...`: a module for each subcommand."""

import typer

from toolkit.cli.site import check, diff, render

app = typer.Typer(no_args_is_help=True, help="Hosts, switches and what else is around the cluster.")

app.command("render")(render.command)
app.command("check")(check.command)
app.command("diff", cls=diff.KIND)(diff.command)
