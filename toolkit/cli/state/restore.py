"""`./hpc state restore`: bring an older state back, adjusted to the cluster's present objects."""

from pathlib import Path
from typing import Annotated

import typer

from toolkit.cli.shared import identity, session
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.backends.tags import UID
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
    stack: StackOption,
    name: OtherName = None,
    source: SourceOption = None,
    version: VersionOption = None,
    without_cluster: AloneOption = False,
    yes: YesOption = False,
) -> None:
    """Restore an older state, adjusted to the cluster's present objects.

    The present state is backed up first.
    """
    wanted = stacks.read(stack, name)
    if (source is None) == (version is None):
        raise Problem("no state is named", "Give one of --from FILE and --version ID.")
    with session.exclusive(wanted):
        running = session.engine(wanted)
        there = wanted.backend
        selection.require_free(wanted, there)
        found, cluster = (
            restore_plan.from_file(source)
            if source
            else restore_plan.from_version(selection.known(wanted, there), wanted.name, version or "")
        )
        tags = selection.tags(wanted, there)
        live = None if without_cluster else session.cluster(wanted)
        here = _uid(live) if live else tags.get(UID, "")
        restore_plan.require_own(wanted, found, cluster, here)
        if live:
            identity.require(wanted, live, there, running)
        session.prepare(wanted, running)
        plan = restore_plan.plan(wanted, running, there, found, live.find if live else None)
        if not plan.change.any and not plan.present.damaged:
            print_text(f"the state of stack {stack} is that already; nothing to restore")
            return
        for line in plan.lines():
            print_text(line)
        if not confirmed(f"Restore the state of stack {stack}?", yes=yes):
            raise typer.Exit(1)
        backup = restore_plan.backup_of(wanted, plan)
        restore_plan.carry_out(running, there, plan, backup)
        print_text(f"the state before is in {backup}")
    if live is None:
        print_warning(
            "the cluster was not queried, and may have objects that this state lacks\n"
            f"`./hpc state repair {wanted.options}` finds them; run it before the next update."
        )
    print_text(
        f"restored; nothing on the cluster was changed. `./hpc drift {wanted.options}` shows how the cluster differs "
        f"from it, `./hpc up {wanted.options}` applies the settings."
    )


def _uid(live: Cluster) -> str:
    try:
        return identity.read(live).uid
    except Problem as problem:
        raise Problem(
            str(problem), "If the cluster is not reachable now: --without-cluster restores the state unchanged."
        ) from None
