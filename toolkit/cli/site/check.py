"""`./hpc site check`: which files of a folder are not what the settings mean now."""

from pathlib import Path
from typing import Annotated

import typer

from core.wording import plural
from toolkit.cli.shared.console import print_text, show_rows
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import DEFAULT_STACK, StackOption
from toolkit.cli.site import files
from toolkit.site import manifest

FolderArgument = Annotated[Path, typer.Argument(help="Folder that `./hpc site render` wrote.")]


def command(folder: FolderArgument, stack: StackOption = DEFAULT_STACK) -> None:
    """List stale files; exit with 1 if there are any.

    A file is stale when the settings changed since, when it was edited, or when it is missing.
    """
    stored = files.stored(folder)
    if stored is None:
        raise Problem(f"{folder} is empty or missing", "Write it first: `./hpc site render -o FOLDER`.")
    if stored.stack != stack:
        raise Problem(f"{folder} has the files of stack {stored.stack}, not of {stack}", "Name it with --stack.")
    groups = sorted({files.group_of(path) for path in stored.files})
    current = files.of_stack(stack, groups).manifest
    stale_files = manifest.stale(stored, current, files.present(folder, tuple(stored.files)))
    if stale_files:
        show_rows(f"Stale files in {folder}", ("file", "why"), stale_files.items())
        raise typer.Exit(1)
    match = plural(len(stored.files), f"file in {folder} matches", f"files in {folder} match")
    print_text(f"{match} the settings of stack {stack}")
