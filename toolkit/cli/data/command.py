"""`./hpc data ...`: a module for each subcommand."""

import typer

from toolkit.cli.data import confusion, diff, drift, generate, index, list, publish, select, stats, status

app = typer.Typer(no_args_is_help=True, help="The data sets that jobs train on.")

app.command("generate")(generate.command)
app.command("index")(index.command)
app.command("stats")(stats.command)
app.command("select")(select.command)
app.command("list")(list.command)
app.command("publish")(publish.command)
app.command("diff")(diff.command)
app.command("drift")(drift.command)
app.command("confusion")(confusion.command)
app.command("status")(status.command)
