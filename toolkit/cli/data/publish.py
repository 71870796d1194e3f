"""`./hpc data publish`: puts the lists of a data set where its files are, so that pods prove what they see by them."""

from pathlib import Path
from typing import Annotated

import typer

from core.apis.data_sets import list_path
from core.files import write_atomically
from core.wording import plural
from toolkit.cli.data import chosen
from toolkit.cli.data.chosen import Name, TenantOption
from toolkit.cli.data.list import listed
from toolkit.cli.shared.console import print_text
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import DEFAULT_STACK, StackOption
from toolkit.datasets import file_list

_MODE = 0o644
Folder = Annotated[
    Path,
    typer.Argument(metavar="FOLDER", help="Root of the volume on this machine; for a cache, the root of its source."),
]


def command(name: Name, folder: Folder, stack: StackOption = DEFAULT_STACK, tenant: TenantOption = None) -> None:
    """Put a data set's lists where its files are.

    The lists of the set and of its splits go to FOLDER/.hpc/lists, each under its digest. Each is first compared with
    the lock. Lists of earlier locks stay: running jobs may still read them.
    """
    data_set = chosen.find(name, stack, tenant)
    for split in ("", *data_set.lock.splits):
        files = listed(data_set, split)
        if not (folder / files[0].path).is_file():
            raise Problem(
                f"{folder} has no {files[0].path}, the first file of the list",
                "Name the folder that is the volume's root.",
            )
        content = chosen.list_file(data_set.lock_file, split).read_bytes()
        file = folder / list_path(file_list.digest(content))
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, content, mode=_MODE)
        print_text(f"{file}: {plural(len(files), 'file')}{f' of split {split}' if split else ''}")
