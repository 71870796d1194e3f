"""`./hpc state list`: the stacks of a backend, or the older states of one."""

from typing import Annotated

import typer

from toolkit.cli.shared import tables
from toolkit.cli.shared.backends import older_states
from toolkit.cli.shared.console import print_text
from toolkit.cli.shared.options import OtherName
from toolkit.cli.state import presentation, selection
from toolkit.cli.state.selection import BackendUrl, SomeStack

_SHOWN = 20

AllOption = Annotated[bool, typer.Option("--all", help=f"All older states, not only the newest {_SHOWN}.")]


def command(
    *,
    backend: BackendUrl = None,
    stack: SomeStack = None,
    name: OtherName = None,
    everything: AllOption = False,
) -> None:
    """List a backend's stacks, or one stack's older states.

    The id of an older state is what `./hpc state restore --version` takes.
    """
    there, wanted = selection.meant(backend, stack, name)
    names = [wanted.name] if wanted else there.stacks()
    if not names or (wanted and not there.has(wanted.name) and not older_states.kept(there, wanted.name)):
        print_text(f"no {'state of stack ' + wanted.name if wanted else 'stacks'} in {there.url}")
        return
    tables.show_rows(
        "Stacks",
        ("stack", "resources", "size", "written", "locked by"),
        (presentation.stack_row(there, each) for each in names),
    )
    if wanted is None:
        return
    found = tuple(one for one in older_states.kept(there, wanted.name) if not one.latest or one.removed)
    shown = found if everything else found[:_SHOWN]
    if shown:
        tables.show_rows("Older states", ("id", "kind", "written", "resources"), presentation.older_rows(there, shown))
    if len(found) > len(shown):
        print_text(f"{len(found) - len(shown)} older ones: --all")
