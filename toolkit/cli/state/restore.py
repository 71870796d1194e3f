"""`./hpc state restore`: bring an older state back, adjusted to the cluster's present objects."""

from pathlib import Path
from typing import Annotated

import typer

from toolkit.cli.shared import identity, session
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.backends.backend import CLUSTER_UID
from toolkit.cli.shared.cluster_client import Cluster
from toolkit.cli.shared.console import confirmed, print_text, print_warning
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import OtherName, StackOption
from toolkit.cli.state import restore_plan, selection

SourceOption = Annotated[Path | None, typer.Option("--from", help="File of `./hpc state backup`.")]
VersionOption = Annotated[str | None, typer.Option(help="Id that `./hpc state list --stack` shows.")]
AloneOption = Annotated[
    bool, typer.Option("--without-cluster", help="Restore the state unchanged, without reading the cluster.")
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def command(
    *,
    stack_name: StackOption,
    name: OtherName = None,
    source: SourceOption = None,
    version: VersionOption = None,
    without_cluster: AloneOption = False,
    yes: YesOption = False,
) -> None:
    """Restore an older state, adjusted to the cluster's present objects.

    The present state is backed up first.
    """
    stack = stacks.read(stack_name, name)
    if (source is None) == (version is None):
        raise Problem("no state is named", "Give one of --from FILE and --version ID.")
    with session.exclusive(stack):
        running = session.engine(stack)
        backend = stack.backend
        selection.require_free(stack, backend)
        deployment, cluster = (
            restore_plan.from_file(source)
            if source
            else restore_plan.from_version(selection.readable(stack, backend), stack.name, version or "")
        )
        tags = selection.tags(stack, backend)
        live = None if without_cluster else session.cluster(stack)
        here = _uid(live) if live else tags.get(CLUSTER_UID, "")
        restore_plan.require_own(stack, deployment, cluster, here)
        if live:
            identity.require(stack, live, backend, running)
        session.prepare(stack, running)
        plan = restore_plan.plan(stack, running, backend, deployment, live.find if live else None)
        if not plan.change.any and not plan.present.damaged:
            print_text(f"the state of stack {stack_name} is that already; nothing to restore")
            return
        for line in plan.lines():
            print_text(line)
        if not confirmed(f"Restore the state of stack {stack_name}?", yes=yes):
            raise typer.Exit(1)
        backup = restore_plan.backup_of(stack, plan)
        restore_plan.carry_out(running, backend, plan, backup)
        print_text(f"the state before is in {backup}")
    if live is None:
        print_warning(
            "the cluster was not queried, and may have objects that this state lacks\n"
            f"`./hpc state repair {stack.options}` finds them; run it before the next update."
        )
    print_text(
        f"restored; nothing on the cluster was changed. `./hpc drift {stack.options}` shows how the cluster differs "
        f"from it, `./hpc up {stack.options}` applies the settings."
    )


def _uid(live: Cluster) -> str:
    try:
        return identity.read(live).uid
    except Problem as problem:
        raise Problem(
            str(problem), "If the cluster is not reachable now: --without-cluster restores the state unchanged."
        ) from None
