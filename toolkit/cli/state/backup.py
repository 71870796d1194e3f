"""`./hpc state backup`: the state of a stack as one file."""

from pathlib import Path
from typing import Annotated

from core.wording import plural
from toolkit.cli.shared import session
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.checkpoints import access
from toolkit.cli.shared.console import print_text
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import STANDARD_OUTPUT, OtherName, StackOption, file_option
from toolkit.cli.state import selection

FileOption = Annotated[Path, file_option("New file, in which secrets stay encrypted")]


def command(
    *,
    stack_name: StackOption,
    name: OtherName = None,
    output: FileOption,
) -> None:
    """Write the state of a stack to one private file."""
    stack = stacks.read(stack_name, name)
    running = session.engine(stack)
    backend = stack.backend
    if backend and not backend.has(stack.name):
        raise Problem(
            f"there is no state of stack {stack_name} in {backend.url}",
            "`./hpc state list --backend URL` lists the stacks.",
        )
    count = access.write_backup(stack.name, access.export(running), selection.tags(stack, backend), output)
    if output != STANDARD_OUTPUT:
        size = output.stat().st_size / 1e6
        print_text(f"{output}: {plural(count, 'resource')}, {size:.1f} MB, read back and whole")
