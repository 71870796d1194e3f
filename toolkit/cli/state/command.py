"""`./hpc state ...`: a module for each subcommand."""

import typer

from toolkit.cli.state import accept_cluster, backup, check, init, list, repair, restore, rotate

app = typer.Typer(no_args_is_help=True, help="Create, check, list, back up and restore a stack's state.")

for module in (init, check, list, backup, restore, repair, rotate, accept_cluster):
    app.command(module.__name__.rpartition(".")[2].replace("_", "-"))(module.command)
