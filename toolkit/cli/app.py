"""The command line, put together; a command is imported when it is called, so that none pays for the others."""

import os
import re
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from core import project
from policies import version
from toolkit.cli.shared.command_groups import built
from toolkit.cli.shared.errors import UNJUDGED, explain, print_error


@dataclass(frozen=True)
class _Entry:
    """One command: its module has a function `command` or, for several commands, a Typer `app`.

    `KIND` of the module is the class of the command, where it is another than Typer's.
    """

    module: str
    summary: str
    """The first line of its help, which the list of commands shows without an import."""
    page: str = "docs/reference/commands.md"
    """Where more is written."""
    passes_on: bool = False
    """Whether options that are not its own go to the engine."""


GROUPS = {
    "Stacks": {
        "init": _Entry("toolkit.cli.init.command", "Write the settings of a first stack.", "docs/guide/first-stack.md"),
        "up": _Entry("toolkit.cli.up.command", "Bring a stack up and show its jobs.", "docs/guide/operations.md"),
        "diff": _Entry(
            "toolkit.cli.diff.command", "Show what an update would change and what it means.", "docs/guide/reviews.md"
        ),
        "drift": _Entry(
            "toolkit.cli.drift.command", "Show how the cluster differs from the program.", "docs/guide/operations.md"
        ),
        "status": _Entry("toolkit.cli.status.command", "Show platform, tenants, nodes and jobs as on the cluster."),
        "upgrade": _Entry(
            "toolkit.cli.upgrade.command",
            "Versions: the way from those that run to others.",
            "docs/guide/upgrade.md",
        ),
        "destroy": _Entry("toolkit.cli.destroy", "Delete a stack from its simulated cluster."),
    },
    "Checks": {
        "check": _Entry(
            "toolkit.cli.check.command",
            "Check a stack, manifests or a program, without a cluster.",
            "docs/reference/policies/README.md",
        ),
        "scc": _Entry(
            "toolkit.cli.scc.command", "Predict which SCC admits a pod, and why.", "docs/reference/policies/README.md"
        ),
        "render": _Entry("toolkit.cli.render", "Write the manifests of a stack, without its secrets."),
        "settings": _Entry(
            "toolkit.cli.settings",
            "Print a stack's settings with those of its bases.",
            "docs/guide/several-stacks.md",
        ),
    },
    "Jobs": {
        "plan": _Entry(
            "toolkit.cli.plan", "Show where jobs fit, and what a lost node costs.", "docs/guide/programs.md"
        ),
        "job": _Entry("toolkit.cli.job.command", "Write the manifest of a job that a user starts."),
        "verify": _Entry(
            "toolkit.cli.verify.command",
            "Judge by their logs whether jobs met their expectations.",
            "docs/guide/evidence.md",
        ),
        "nodes": _Entry("toolkit.cli.nodes.command", "Judge which nodes are fit for jobs.", "docs/guide/gpus.md"),
        "suite": _Entry(
            "toolkit.cli.suite.command", "Compare the newest round of a suite with earlier ones.", "docs/guide/suite.md"
        ),
        "report": _Entry(
            "toolkit.cli.report", "Write the results of verification as HTML and Markdown.", "docs/guide/evidence.md"
        ),
    },
    "Site": {
        "hardware": _Entry(
            "toolkit.cli.hardware",
            "Machines: what they need, what fits, how nodes differ.",
            "docs/guide/machines.md",
        ),
        "site": _Entry(
            "toolkit.cli.site", "Hosts, switches and what else is around the cluster.", "docs/guide/site.md"
        ),
        "data": _Entry("toolkit.cli.data", "The data sets that jobs train on.", "docs/guide/data.md"),
    },
    "Engine": {
        "state": _Entry(
            "toolkit.cli.state.command",
            "A stack's state: backups, repair, existing objects, tenants.",
            "docs/guide/state.md",
        ),
        "pulumi": _Entry(
            "toolkit.cli.pulumi.command", "Run plain `pulumi` in the environment of a stack.", passes_on=True
        ),
        "ci": _Entry("toolkit.cli.ci.command", "What pipelines need: comments, kubeconfig, policies."),
        "sim": _Entry(
            "toolkit.cli.sim",
            "Start, stop, inspect and remove the simulated cluster alone.",
            "docs/reference/simulated-cluster.md",
        ),
    },
}
COMMANDS = {name: entry for entries in GROUPS.values() for name, entry in entries.items()}
FORMER_NAMES = {
    "down": "destroy",
    "preview --repair": "drift --repairs",
    "preview": "pulumi preview",
    "place": "hardware fit",
    "machine": "hardware",
    "programs": "check --program FILE",
    "env": "pulumi --print-env",
    "kubeconfig": "ci kubeconfig",
    "comment": "ci comment",
    "policy-config": "ci policy-config",
    "parse": "verify --figures",
    "adopt": "state adopt",
    "split": "state split",
    "settings show": "settings",
    "verify --nodes": "nodes",
    "verify --profile": "verify --machine",
    "nodes --profile": "nodes --machine",
    "verify --history": "suite",
}
"""Former name -> present one; a name of two words is a command with a word behind it."""
_JUDGING = {"verify", "nodes", "machine"}
"""Commands whose status of a wrong option is UNJUDGED: their 2 is a judgement."""
_USAGE = """Usage: hpc COMMAND ...; `hpc COMMAND --help` explains a command.

Multi-node GPU training on OpenShift: platform, policies, simulated cluster."""
_MORE = "Start with docs/guide/first-stack.md; docs/reference/commands.md has all."
_EXTRA = re.compile(r"unexpected extra argument\(s\) \((\S+)\)")


class _Commands(TyperGroup):
    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Print the help of `./hpc` for one screen: a line for each command, which is not imported for it."""
        typer.echo(f"{_USAGE}\n")
        for group, entries in GROUPS.items():
            for number, (name, entry) in enumerate(entries.items()):
                typer.echo(f"{'' if number else group:8}{name:10}{entry.summary}")
        typer.echo(f"\n{project.located(_MORE)}")

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if (new := present_name(args)) is not None:
            try:
                ctx.fail(new)
            except typer.TyperException as error:
                if args[0] in _JUDGING:
                    error.exit_code = UNJUDGED
                raise
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
        page = f"More: {project.located(entry.page)}"
        return built(cmd_name, entry.module, epilog=page, passes_on=entry.passes_on)


def _name_the_option(error: Any) -> None:
    """Complete the message of an error of usage where a stack is given without its option."""
    match = _EXTRA.search(getattr(error, "message", ""))
    if match is None or not any("--stack" in option.opts for option in error.ctx.command.params):
        return
    from stacks.loading.settings import stack_names  # noqa: PLC0415
    from toolkit.cli.shared.paths import ROOT  # noqa: PLC0415 - the settings take long to import

    if match[1] in stack_names(ROOT):
        error.message += f"; {match[1]} is a stack: write --stack {match[1]}"


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(f"hpc {version()}")
        raise typer.Exit


VersionOption = Annotated[
    bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
]


def _hpc(version: VersionOption = False) -> None:
    """Its presence makes a group of a single command."""


app = typer.Typer(
    cls=_Commands,
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


def present_name(arguments: Sequence[str]) -> str | None:
    """Return what the command of a command line is called now; None where it has no former name."""
    further = {argument.partition("=")[0] for argument in arguments[1:]}
    for former, present in FORMER_NAMES.items():
        command, _, word = former.partition(" ")
        if arguments[:1] == [command] and (not word or word in further):
            return f"`./hpc {former}` is now `./hpc {present}`."
    return None
