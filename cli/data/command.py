"""`./hpc data ...`: a module for each subcommand."""

import typer

from cli.data import generate, index, stats

app = typer.Typer(no_args_is_help=True, help="The data that jobs are trained on.")

app.command("generate")(generate.command)
app.command("index")(index.command)
app.command("stats")(stats.command)
