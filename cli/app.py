"""The command line, put together; a command is imported when it is called, so that none pays for the others."""

import importlib
import os
import sys
from typing import Any, cast

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from cli.errors import explain, tell

_PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True}
_COMMANDS: dict[str, dict[str, bool]] = {
    "up": {},
    "preview": _PASS_ON,
    "diff": {},
    "drift": {},
    "down": {},
    "render": {},
    "check": {},
    "status": {},
    "parse": {},
    "verify": {},
    "place": {},
    "plan": {},
    "policy-config": {},
    "env": {},
    "pulumi": _PASS_ON,
    "sim": {},
    "scc": {},
    "report": {},
    "state": {},
    "split": {},
    "adopt": {},
    "comment": {},
    "kubeconfig": {},
}
"""Each is a module of `cli.commands` (_ for -), with a function `command` or, for several commands, a Typer `app`.

`KIND` of a module is the class of its command, where it is another than Typer's.
"""


class _Commands(TyperGroup):
    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(_COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> TyperCommand | TyperGroup | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        module: Any = importlib.import_module(f"cli.commands.{cmd_name.replace('-', '_')}")
        alone = typer.Typer(callback=_hpc, add_completion=False)
        if hasattr(module, "app"):
            alone.add_typer(module.app, name=cmd_name)
        else:
            kind = getattr(module, "KIND", TyperCommand)
            alone.command(cmd_name, cls=kind, context_settings=_COMMANDS[cmd_name])(module.command)
        return cast("TyperCommand | TyperGroup", get_group(alone).commands[cmd_name])


def _hpc() -> None:
    """Take no options of its own; its presence makes a group of a single command."""


app = typer.Typer(
    cls=_Commands,
    help="Multi-node GPU training on OpenShift: the platform, its policies, and a simulated cluster to try both.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    callback=_hpc,
)


def main() -> None:
    """Run the command line; what a user can put right ends as one message and exit status 1."""
    try:
        app(prog_name="hpc")
    except KeyboardInterrupt:
        typer.echo("interrupted; run the same command again to go on", err=True)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        message = explain(error)
        if message is None:
            raise
        tell(message)
        sys.exit(1)
