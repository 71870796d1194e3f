"""The command line, put together."""

import os
import sys

import typer

from cli.commands import down, env, preview, pulumi, render, sim, status, up
from cli.console import errors
from cli.errors import explain

_PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True}

app = typer.Typer(
    help="Multi-node GPU training on OpenShift: the platform, its policies, and a simulated cluster to try both.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.add_typer(sim.app, name="sim")
app.command("up")(up.command)
app.command("preview", context_settings=_PASS_ON)(preview.command)
app.command("down")(down.command)
app.command("render")(render.command)
app.command("status")(status.command)
app.command("env")(env.command)
app.command("pulumi", context_settings=_PASS_ON)(pulumi.command)


def main() -> None:
    """Run the command line; what a user can put right ends as one message and exit status 1."""
    try:
        app(prog_name="hpc")
    except KeyboardInterrupt:
        errors.print("interrupted; run the same command again to go on")
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        message = explain(error)
        if message is None:
            raise
        errors.print("error:", style="bold red", end=" ")
        errors.print(message, markup=False)
        sys.exit(1)
