"""`./hpc pulumi --print-env`: the environment in which plain `pulumi` and `kubectl` work on a stack."""

import os
import shlex
from pathlib import Path

from toolkit.cli.shared import environment, session
from toolkit.cli.shared.console import Reporter, print_notice, print_warning
from toolkit.cli.shared.stack import Stack
from toolkit.engine import tools
from toolkit.engine.plugins.locate import PROVIDER


def print_variables(stack: Stack) -> None:
    """Print the environment for plain `pulumi` and `kubectl`, as a shell reads it."""
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
    """Whether the stack has no state on its simulated cluster, which runs."""
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
