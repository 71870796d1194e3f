"""`./hpc pulumi ...`: plain `pulumi` in the environment of a stack."""

import os
import shlex
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from toolkit.cli.pulumi import engine_options
from toolkit.cli.shared import environment, identity, session, stack_checks
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.console import Reporter, print_notice, print_warning
from toolkit.cli.shared.engine import Engine
from toolkit.cli.shared.environment import SETTINGS, make_passphrase, require_passphrase
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import DEFAULT_STACK, OtherName
from toolkit.cli.shared.policy_configuration import policy_arguments, settled
from toolkit.cli.shared.preflight import update_checks
from toolkit.cli.shared.stack import Stack
from toolkit.engine import tools
from toolkit.engine.plugins.locate import PROVIDER

_LOOKING = {"refresh", "destroy", "down", "dn"}
"""What reads a cluster, or takes one that is gone for good out of the state: it can do without an answer."""
_CHANGING = {"up", "update", "import", "watch"}
_UPDATING = {"up", "update"}
_HELP = {"-h", "--help"}
_VALUED = {"-C", "--cwd", "-v", "--verbose", "--color", "--tracing", "--otel-traces", "--profiling", "--memprofilerate"}
"""Options of every command that may stand before its name, with a value of their own."""

StacksOption = Annotated[
    list[str],
    typer.Option("--stack", "-s", help=f"Stack, as for any command; default: {DEFAULT_STACK}.", metavar="NAME"),
]
PrintOption = Annotated[
    bool,
    typer.Option("--print-env", help='Print the environment, for a shell: eval "$(./hpc pulumi --print-env)".'),
]
_PREVIEWS = {"preview", "pre"}
_JSON = {"--json", "-j"}
_PACK = "--policy-pack"


def command(
    context: typer.Context,
    stack_names: StacksOption = [],  # noqa: B006 - Typer's way
    name: OtherName = None,
    *,
    print_env: PrintOption = False,
) -> None:
    """Run plain `pulumi` in the environment of a stack.

    --stack and --name come first; all that follows goes to `pulumi`.

    `preview` and `up` run with the policies, unless --policy-pack names others. `preview` first compares the settings
    with the cluster, as `./hpc diff` and `up` do. What runs beside it (`kubectl`, plain `pulumi`) gets its environment
    by --print-env.
    """
    stack = stacks.read(_single_name(stack_names), name)
    if print_env:
        if context.args:
            raise Problem("--print-env runs no command", f"Omit it, or omit {' '.join(context.args)}.")
        _print_variables(stack)
        return
    if _name(context.args) in _PREVIEWS and _HELP.isdisjoint(context.args):
        raise typer.Exit(_preview(stack, context.args))
    running = session.engine(stack)
    words = [word for word in context.args if not word.startswith("-")]
    configures = words[:1] == ["config"]
    if configures and not stack.keeps_secrets:
        # What is set belongs into the settings: the copy of them, for a cluster elsewhere, follows the file.
        own = {**running.environment, SETTINGS: ""}
        running = replace(running, environment=own)
    else:
        if configures and words[1:2] == ["set"] and not any(word.startswith("--secret") for word in context.args):
            raise Problem(
                f"{stack.copy} accepts secrets only, and otherwise follows {stack.file}",
                f"Write what is not a secret into {stack.file.name}, or set a secret with --secret.",
            )
        stack.renew_copy()
        if stack.keeps_secrets:  # of another stack's the engine asks for what it needs
            make_passphrase(stack, running.environment)
            require_passphrase(stack, running.environment)
    engine_options.require_same(stack, running.environment, context.args, Path.cwd())
    match = None
    if _HELP.isdisjoint(context.args):
        if _name(context.args) in _CHANGING | _LOOKING:
            session.require_provider(stack, running.program)
        match = _checked(stack, running, _name(context.args))
    updates = _name(context.args) in _UPDATING and _HELP.isdisjoint(context.args)
    with _policies(stack, context.args) if updates else nullcontext(()) as options:
        status = running.run_interactively(*context.args, *options)
    if status == 0 and match and _name(context.args) in _CHANGING:
        identity.record(stack, running, match)
    raise typer.Exit(status)


def _single_name(named: Sequence[str]) -> str:
    """Return the one stack that is named, however often: the engine's command may have options of its own behind it."""
    different = list(dict.fromkeys(named))
    if len(different) > 1:
        raise Problem(
            f"--stack names {' and '.join(different)}", "Name one stack: its cluster is checked, and updated."
        )
    return different[0] if different else DEFAULT_STACK


def _checked(stack: Stack, running: Engine, command: str) -> identity.ClusterMatch | None:
    if command in _CHANGING:
        match = identity.require(stack, session.cluster(stack), stack.backend, running)
        if stack.simulated:
            session.prepare(stack, running)
        return match
    return identity.require_unless_unreachable(stack, running) if command in _LOOKING else None


def _name(arguments: Sequence[str]) -> str:
    """Return the name of the engine's command: the first word that is not an option, and no value of one."""
    before = ["", *arguments]
    words = (word for word, last in zip(arguments, before, strict=False) if word[:1] != "-" and last not in _VALUED)
    return next(words, "")


def _preview(stack: Stack, arguments: Sequence[str]) -> int:
    stack.require_served()
    stack.require_passable()
    stack_checks.require_own_cluster(stack)
    stack_checks.require_platform(stack)
    stack_checks.warn_of_refused(stack)
    stack_checks.require_fitting(stack)
    checked = _policies(stack, arguments)
    running = session.engine(stack)
    engine_options.require_same(stack, running.environment, arguments, Path.cwd())
    if identity.require_unless_unreachable(stack, running) is not None:
        update_checks.require(stack, session.cluster(stack)).show()
    plain = _JSON.isdisjoint(arguments)  # output for a program has nothing beside the engine's
    if plain:
        session.print_plugins(stack, running.program)
    else:
        session.require_provider(stack, running.program)
    session.prepare(stack, running)
    if plain:
        update_checks.show_placements(stack.settings)
    with checked as own:
        return running.run_interactively(*arguments, *own)


def _policies(stack: Stack, arguments: Sequence[str]) -> AbstractContextManager[Sequence[str]]:
    """Return the engine's options for the policies of a stack; none where the arguments name a policy pack."""
    if any(argument.partition("=")[0] == _PACK for argument in arguments):
        return nullcontext(())
    return policy_arguments(settled(stack.settings, None))


def _print_variables(stack: Stack) -> None:
    if stack.simulated and not stack.kubeconfig.is_file():
        text = f"there is no simulated cluster {stack.cluster_name} yet: `./hpc up {stack.options}` creates it"
        print_notice(text)
    stack.require_served()
    stack.renew_copy()
    environment.make_passphrase(stack, os.environ)
    if stack.copied:
        kept = ", and keeps its secrets" if stack.keeps_secrets else ""
        print_notice(
            f"pulumi reads {stack.copy}, a copy of {stack.file.name} for cluster {stack.cluster_name} "
            f"({environment.SETTINGS}).\nChange {stack.file.name} itself: each ./hpc command makes the copy follow it"
            f"{kept}.",
        )
    if _is_new(stack):
        session.prepare(stack, session.engine(stack))  # the first plain `pulumi up` would find no stack
    pulumi = tools.find("pulumi", progress=Reporter())
    _warn_of_provider(stack, pulumi)
    for key, value in environment.variables(stack, pulumi, os.environ).items():
        print(f"export {key}={shlex.quote(value)}")  # noqa: T201 - for a shell


def _is_new(stack: Stack) -> bool:
    if not stack.simulated:
        return False
    from toolkit.cli.shared.simulated import backend, cluster  # noqa: PLC0415 - for simulated clusters alone

    return cluster.runs(stack.home) and not backend.of_cluster(stack.home).has(stack.name)


def _warn_of_provider(stack: Stack, pulumi: Path) -> None:
    """Print that plain `pulumi` gets no provider from here, or the stand-in on a real cluster."""
    chosen = environment.plugins(stack, pulumi, os.environ)
    if PROVIDER in chosen.missing:
        print_warning(f"{session.provider_refusal(stack)}: plain `pulumi` downloads it, or fails.")
        print_notice(session.provider_remedy(stack))
    elif text := session.provider_caution(stack, chosen):
        print_warning(text)
