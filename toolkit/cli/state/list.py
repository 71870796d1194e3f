"""`./hpc state list`: the stacks of a backend, or the older states of one."""

from typing import Annotated

import typer

from toolkit.cli.shared.backends import older_states
from toolkit.cli.shared.console import print_text, show_rows
from toolkit.cli.shared.options import OtherName
from toolkit.cli.state import selection
from toolkit.cli.state.selection import BackendUrl, SomeStack, older_rows, stack_row

_SHOWN = 20

AllOption = Annotated[bool, typer.Option("--all", help=f"All older states, not only the newest {_SHOWN}.")]


def command(
    *,
    backend_url: BackendUrl = None,
    stack_name: SomeStack = None,
    name: OtherName = None,
    everything: AllOption = False,
) -> None:
    """List a backend's stacks, or one stack's older states.

    The id of an older state is what `./hpc state restore --version` takes.
    """
    backend, stack = selection.meant(backend_url, stack_name, name)
    names = [stack.name] if stack else backend.stacks()
    if not names or (stack and not backend.has(stack.name) and not older_states.kept(backend, stack.name)):
        print_text(f"no {'state of stack ' + stack.name if stack else 'stacks'} in {backend.url}")
        return
    show_rows(
        "Stacks",
        ("stack", "resources", "size", "written", "locked by"),
        (stack_row(backend, state_name) for state_name in names),
    )
    if stack is None:
        return
    states = tuple(state for state in older_states.kept(backend, stack.name) if not state.latest or state.removed)
    shown = states if everything else states[:_SHOWN]
    if shown:
        show_rows("Older states", ("id", "kind", "written", "resources"), older_rows(backend, shown))
    if len(states) > len(shown):
        print_text(f"{len(states) - len(shown)} older ones: --all")
