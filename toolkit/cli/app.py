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

from core import project
from toolkit.cli.shared.errors import explain, print_error

_EVERYDAY, _REVIEW, _EVIDENCE, _STATE, _SIMULATION = "Everyday", "Review", "Evidence", "State", "Simulation"


@dataclass(frozen=True)
class _Entry:
    """One command: its module has a function `command` or, for several commands, a Typer `app`.

    `KIND` of the module is the class of the command, where it is another than Typer's.
    """

    module: str
    panel: str
    summary: str
    """The first line of its help, which the list of commands shows without an import."""
    page: str = "docs/reference/commands.md"
    """Where more is written."""
    passes_on: bool = False
    """Whether options that are not its own go to the engine."""


COMMANDS = {
    "init": _Entry(
        "toolkit.cli.init.command", _EVERYDAY, "Write the settings of a first stack.", "docs/guide/first-stack.md"
    ),
    "up": _Entry(
        "toolkit.cli.up.command", _EVERYDAY, "Bring a stack up and show its jobs.", "docs/guide/operations.md"
    ),
    "preview": _Entry("toolkit.cli.preview", _EVERYDAY, "Run `pulumi preview` with the policies.", passes_on=True),
    "status": _Entry(
        "toolkit.cli.status.command", _EVERYDAY, "Show platform, tenants, nodes and jobs as on the cluster."
    ),
    "down": _Entry("toolkit.cli.down", _EVERYDAY, "Delete a stack from its simulated cluster."),
    "plan": _Entry("toolkit.cli.plan.command", _EVERYDAY, "Show the hardware that a stack needs beyond the cluster."),
    "site": _Entry(
        "toolkit.cli.site.command",
        _EVERYDAY,
        "Hosts, switches and what else is around the cluster.",
        "docs/guide/site.md",
    ),
    "place": _Entry("toolkit.cli.place", _EVERYDAY, "Show on which nodes a job of some GPUs fits."),
    "job": _Entry("toolkit.cli.job.command", _EVERYDAY, "Write the manifest of a job that a user starts."),
    "machine": _Entry(
        "toolkit.cli.machine.command",
        _EVERYDAY,
        "Machine files from nodes, and nodes compared with them.",
        "docs/guide/machines.md",
    ),
    "data": _Entry("toolkit.cli.data.command", _EVERYDAY, "The data sets that jobs train on.", "docs/guide/data.md"),
    "programs": _Entry(
        "toolkit.cli.programs.command", _EVERYDAY, "Files of your own programs.", "docs/guide/programs.md"
    ),
    "env": _Entry("toolkit.cli.env", _EVERYDAY, "Print the environment for plain `pulumi` and `kubectl`."),
    "pulumi": _Entry(
        "toolkit.cli.pulumi.command", _EVERYDAY, "Run plain `pulumi` in the environment of a stack.", passes_on=True
    ),
    "kubeconfig": _Entry("toolkit.cli.kubeconfig", _EVERYDAY, "Write the kubeconfig of a CI job to its file."),
    "check": _Entry(
        "toolkit.cli.check.command",
        _REVIEW,
        "Check a stack, or manifests in files, without a cluster.",
        "docs/reference/policies/README.md",
    ),
    "diff": _Entry(
        "toolkit.cli.diff.command",
        _REVIEW,
        "Show what an update would change and what it means.",
        "docs/guide/reviews.md",
    ),
    "drift": _Entry(
        "toolkit.cli.drift.command",
        _REVIEW,
        "Show how the cluster differs from the program.",
        "docs/guide/operations.md",
    ),
    "comment": _Entry("toolkit.cli.comment.command", _REVIEW, "Put a review onto a CI job's pull request."),
    "render": _Entry("toolkit.cli.render", _REVIEW, "Write the manifests of a stack, without its secrets."),
    "settings": _Entry(
        "toolkit.cli.settings.command",
        _REVIEW,
        "A stack's settings, merged over its bases.",
        "docs/guide/several-stacks.md",
    ),
    "scc": _Entry(
        "toolkit.cli.scc.command",
        _REVIEW,
        "Predict which SCC admits a pod, and why.",
        "docs/reference/policies/README.md",
    ),
    "policy-config": _Entry(
        "toolkit.cli.policy_config",
        _REVIEW,
        "Print the policies' configuration of a stack.",
        "docs/reference/policies/README.md",
    ),
    "verify": _Entry(
        "toolkit.cli.verify.command",
        _EVIDENCE,
        "Judge by their logs whether jobs met their expectations.",
        "docs/guide/evidence.md",
    ),
    "parse": _Entry(
        "toolkit.cli.parse", _EVIDENCE, "Print the figures in logs of known tools.", "docs/guide/evidence.md"
    ),
    "report": _Entry(
        "toolkit.cli.report",
        _EVIDENCE,
        "Write the results of verification as HTML and Markdown.",
        "docs/guide/evidence.md",
    ),
    "state": _Entry(
        "toolkit.cli.state.command",
        _STATE,
        "Create, check, list, back up and restore a stack's state.",
        "docs/guide/state.md",
    ),
    "adopt": _Entry(
        "toolkit.cli.adopt.command",
        _STATE,
        "Import objects of a stack that exist on the cluster.",
        "docs/guide/operations.md",
    ),
    "split": _Entry(
        "toolkit.cli.split.command",
        _STATE,
        "Move tenants from one stack into their own.",
        "docs/guide/several-stacks.md",
    ),
    "sim": _Entry(
        "toolkit.cli.sim",
        _SIMULATION,
        "Start, stop, inspect and remove the simulated cluster alone.",
        "docs/reference/simulated-cluster.md",
    ),
}
_EXTRA = re.compile(r"unexpected extra argument\(s\) \((\S+)\)")


class _Commands(TyperGroup):
    _listed = False

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self._listed = True
        super().format_help(ctx, formatter)

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
        if self._listed:
            return TyperCommand(cmd_name, help=entry.summary, rich_help_panel=entry.panel)
        module: Any = importlib.import_module(entry.module)
        single = typer.Typer(callback=_hpc, add_completion=False)
        page = f"More: {project.located(entry.page)}"
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
        made = cast("TyperCommand | TyperGroup", get_group(single).commands[cmd_name])
        _unwrap(made)
        return made


def _unwrap(command: Any) -> None:
    """Make each paragraph of the help one line, which the terminal breaks at its own width."""
    paragraphs = project.located(command.help or "").split("\n\n")
    command.help = "\n\n".join(" ".join(each.split()) for each in paragraphs)
    for parameter in command.params:
        parameter.help = project.located(getattr(parameter, "help", None) or "")
    for inner in getattr(command, "commands", {}).values():
        _unwrap(inner)


def _name_the_option(error: Any) -> None:
    """Complete the message of an error of usage where a stack is given without its option."""
    found = _EXTRA.search(getattr(error, "message", ""))
    if found is None or not any("--stack" in option.opts for option in error.ctx.command.params):
        return
    from stacks.loading.settings import known  # noqa: PLC0415
    from toolkit.cli.shared.paths import ROOT  # noqa: PLC0415 - the settings take long to import

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
    epilog=project.located("Start with docs/guide/first-stack.md; docs/reference/commands.md has all commands."),
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
