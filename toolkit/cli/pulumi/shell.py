"""`./hpc pulumi --print-env`: the environment in which plain `pulumi` and `kubectl` work on a stack."""

import os
import shlex
from pathlib import Path

from toolkit.cli.shared import environment, offline_provider, passphrases, session
from toolkit.cli.shared.console import Reporter, print_notice, print_warning
from toolkit.cli.shared.stack import Stack
from toolkit.engine import tools
from toolkit.engine.plugins.locate import PROVIDER


def print_variables(wanted: Stack) -> None:
    """Print the environment for plain `pulumi` and `kubectl`, as a shell reads it."""
    if wanted.simulated and not wanted.kubeconfig.is_file():
        text = f"there is no simulated cluster {wanted.cluster_name} yet: `./hpc up {wanted.options}` creates it"
        print_notice(text)
    wanted.require_served()
    wanted.renew_copy()
    passphrases.make(wanted, os.environ)
    if wanted.copied:
        kept = ", and keeps its secrets" if wanted.keeps_secrets else ""
        print_notice(
            f"pulumi reads {wanted.copy}, a copy of {wanted.file.name} for cluster {wanted.cluster_name} "
            f"({environment.SETTINGS}).\nChange {wanted.file.name} itself: each ./hpc command makes the copy follow it"
            f"{kept}.",
        )
    if _is_new(wanted):
        session.prepare(wanted, session.engine(wanted))  # the first plain `pulumi up` would find no stack
    pulumi = tools.find("pulumi", progress=Reporter())
    _warn_of_provider(wanted, pulumi)
    for key, value in environment.variables(wanted, pulumi, os.environ).items():
        print(f"export {key}={shlex.quote(value)}")  # noqa: T201 - for a shell


def _is_new(wanted: Stack) -> bool:
    """Whether the stack has no state on its simulated cluster, which runs."""
    if not wanted.simulated:
        return False
    from toolkit.cli.shared.simulated import backend, cluster  # noqa: PLC0415 - for simulated clusters alone

    return cluster.runs(wanted.home) and not backend.of_cluster(wanted.home).has(wanted.name)


def _warn_of_provider(wanted: Stack, pulumi: Path) -> None:
    """Print that plain `pulumi` gets no provider from here, or the stand-in on a real cluster."""
    chosen = environment.plugins(wanted, pulumi, os.environ)
    if PROVIDER in chosen.missing:
        print_warning(f"{offline_provider.refusal(wanted)}: plain `pulumi` downloads it, or fails.")
        print_notice(offline_provider.remedy(wanted))
    elif text := offline_provider.caution(wanted, chosen):
        print_warning(text)
