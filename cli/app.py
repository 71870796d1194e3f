"""The command line, put together; a command is imported when it is called, so that none pays for the others."""

import importlib
import os
import signal
import sys
from dataclasses import dataclass
from typing import Any, cast

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from cli.shared.errors import explain, print_error

_EVERYDAY, _REVIEW, _EVIDENCE, _STATE, _SIMULATION = "Everyday", "Review", "Evidence", "State", "Simulation"


@dataclass(frozen=True)
class _Entry:
    """One command: its module has a function `command` or, for several commands, a Typer `app`.

    `KIND` of the module is the class of the command, where it is another than Typer's.
    """

    module: str
    panel: str
    passes_on: bool = False
    """Whether options that are not its own go to the engine."""


COMMANDS = {
    "init": _Entry("cli.init.command", _EVERYDAY),
    "up": _Entry("cli.up.command", _EVERYDAY),
    "preview": _Entry("cli.preview", _EVERYDAY, passes_on=True),
    "status": _Entry("cli.status.command", _EVERYDAY),
    "down": _Entry("cli.down", _EVERYDAY),
    "plan": _Entry("cli.plan.command", _EVERYDAY),
    "site": _Entry("cli.site.command", _EVERYDAY),
    "place": _Entry("cli.place", _EVERYDAY),
    "job": _Entry("cli.job.command", _EVERYDAY),
    "machine": _Entry("cli.machine.command", _EVERYDAY),
    "data": _Entry("cli.data.command", _EVERYDAY),
    "programs": _Entry("cli.programs.command", _EVERYDAY),
    "env": _Entry("cli.env", _EVERYDAY),
    "pulumi": _Entry("cli.pulumi.command", _EVERYDAY, passes_on=True),
    "kubeconfig": _Entry("cli.kubeconfig", _EVERYDAY),
    "check": _Entry("cli.check.command", _REVIEW),
    "diff": _Entry("cli.diff.command", _REVIEW),
    "drift": _Entry("cli.drift.command", _REVIEW),
    "comment": _Entry("cli.comment.command", _REVIEW),
    "render": _Entry("cli.render", _REVIEW),
    "settings": _Entry("cli.settings.command", _REVIEW),
    "scc": _Entry("cli.scc.command", _REVIEW),
    "policy-config": _Entry("cli.policy_config", _REVIEW),
    "verify": _Entry("cli.verify.command", _EVIDENCE),
    "parse": _Entry("cli.parse", _EVIDENCE),
    "report": _Entry("cli.report", _EVIDENCE),
    "state": _Entry("cli.state.command", _STATE),
    "adopt": _Entry("cli.adopt.command", _STATE),
    "split": _Entry("cli.split.command", _STATE),
    "sim": _Entry("cli.sim", _SIMULATION),
}


class _Commands(TyperGroup):
    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> TyperCommand | TyperGroup | None:  # noqa: ARG002
        if (entry := COMMANDS.get(cmd_name)) is None:
            return None
        module: Any = importlib.import_module(entry.module)
        single = typer.Typer(callback=_hpc, add_completion=False)
        if hasattr(module, "app"):
            single.add_typer(module.app, name=cmd_name, rich_help_panel=entry.panel)
        else:
            single.command(
                cmd_name,
                cls=getattr(module, "KIND", TyperCommand),
                context_settings={"allow_extra_args": entry.passes_on, "ignore_unknown_options": entry.passes_on},
                rich_help_panel=entry.panel,
            )(module.command)
        return cast("TyperCommand | TyperGroup", get_group(single).commands[cmd_name])


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
    """Run the command line; an error that a user can correct is one message and exit status 1.

    SIGTERM ends it as an exit does, so that temporary files are removed.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        app(prog_name="hpc")
    except KeyboardInterrupt:
        typer.echo("interrupted; run the same command again to continue", err=True)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        message = explain(error)
        if message is None:
            raise
        print_error(message)
        sys.exit(1)
