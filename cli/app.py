"""The command line, put together; a command is imported when it is called, so that none pays for the others."""

import importlib
import os
import re
import signal
import sys
from dataclasses import dataclass
from typing import Annotated, Any, cast

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


_PAGES = {
    "init": "docs/first-stack.md",
    "up": "docs/operations.md",
    "site": "docs/site.md",
    "machine": "hardware/README.md",
    "data": "docs/data.md",
    "programs": "docs/programs.md",
    "check": "docs/policies/README.md",
    "diff": "docs/reviews.md",
    "drift": "docs/operations.md",
    "settings": "docs/bases.md",
    "scc": "docs/policies/README.md",
    "policy-config": "docs/policies/README.md",
    "verify": "docs/evidence.md",
    "parse": "docs/evidence.md",
    "report": "docs/evidence.md",
    "state": "docs/state.md",
    "adopt": "docs/operations.md",
    "split": "docs/layers.md",
    "sim": "docs/simulated-cluster.md",
}
"""Pages that describe commands; that of the others is docs/commands.md."""
_EXTRA = re.compile(r"unexpected extra argument\(s\) \((\S+)\)")


class _Commands(TyperGroup):
    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        # Typer looks for similar names among these; `get_command` imports what they are.
        self.commands = dict.fromkeys(COMMANDS, TyperCommand(None))
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except Exception as error:
            _name_the_option(error)
            raise

    def get_command(self, ctx: Any, cmd_name: str) -> TyperCommand | TyperGroup | None:  # noqa: ARG002
        if (entry := COMMANDS.get(cmd_name)) is None:
            return None
        module: Any = importlib.import_module(entry.module)
        single = typer.Typer(callback=_hpc, add_completion=False)
        page = page_of(cmd_name)
        if hasattr(module, "app"):
            single.add_typer(module.app, name=cmd_name, rich_help_panel=entry.panel, epilog=page)
        else:
            single.command(
                cmd_name,
                cls=getattr(module, "KIND", TyperCommand),
                context_settings={"allow_extra_args": entry.passes_on, "ignore_unknown_options": entry.passes_on},
                rich_help_panel=entry.panel,
                epilog=page,
            )(module.command)
        return cast("TyperCommand | TyperGroup", get_group(single).commands[cmd_name])


def page_of(command: str) -> str:
    """Return the last line of a command's help: the page that describes it."""
    return f"More: {_PAGES.get(command, 'docs/commands.md')}"


def _name_the_option(error: Any) -> None:
    """Complete the message of an error of usage where a stack is given without its option."""
    found = _EXTRA.search(getattr(error, "message", ""))
    if found is None or not any("--stack" in option.opts for option in error.ctx.command.params):
        return
    from cli.shared.paths import ROOT  # noqa: PLC0415 - the settings take long to import
    from stacks.settings import known  # noqa: PLC0415

    if found[1] in known(ROOT):
        error.message += f"; {found[1]} is a stack: write --stack {found[1]}"


def _print_version(wanted: bool) -> None:
    if wanted:
        from policies.version import version  # noqa: PLC0415 - it reads YAML, which most starts do not need

        typer.echo(f"hpc {version()}")
        raise typer.Exit


VersionOption = Annotated[
    bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
]


def _hpc(version: VersionOption = False) -> None:
    """Its presence makes a group of a single command."""


app = typer.Typer(
    cls=_Commands,
    help="Multi-node GPU training on OpenShift: the platform, its policies, and a simulated cluster to try both.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    callback=_hpc,
    epilog="Start with docs/first-stack.md; docs/commands.md has all commands.",
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
