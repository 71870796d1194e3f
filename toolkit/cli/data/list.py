"""`./hpc data list`: the files of a data set, in the form of the command that brings them near."""

import os
import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Annotated

import typer

from stacks.settings.storage import DirectoryVolume
from toolkit.cli.data import chosen
from toolkit.cli.data.chosen import Name, Named, TenantOption
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import DEFAULT_STACK, StackOption
from toolkit.datasets import file_list
from toolkit.datasets.file_list import File

_PLAIN = re.compile(r"[\w./+=,@:-]+", re.ASCII)


class Format(StrEnum):
    """Who reads the list."""

    PLAIN = "plain"
    MMAFMCTL = "mmafmctl"
    MMAFMCOSCTL = "mmafmcosctl"


FormatOption = Annotated[
    Format,
    typer.Option(
        "--format",
        help="plain: paths on the volume; mmafmctl: for `prefetch --list-file`, fully qualified; mmafmcosctl: for "
        "`download --object-list`.",
    ),
]
SplitOption = Annotated[str, typer.Option("--split", help="Only this split.")]
RootOption = Annotated[
    str | None,
    typer.Option(
        "--root", help="Path of the volume's root on a storage node; default: the directory of a directory volume."
    ),
]


def command(
    name: Name,
    *,
    stack: StackOption = DEFAULT_STACK,
    tenant: TenantOption = None,
    form: FormatOption = Format.PLAIN,
    split: SplitOption = "",
    root: RootOption = None,
) -> None:
    """Print the files of a data set.

    One per line, after comparing the list with its lock.
    """
    data_set = chosen.find(name, stack, tenant)
    files = listed(data_set, split)
    lines = written(files, form, _root(data_set, root) if form is Format.MMAFMCTL else "")
    typer.echo(b"".join(os.fsencode(line) + b"\n" for line in lines), nl=False)


def listed(data_set: Named, split: str = "") -> list[File]:
    """Return the files of a data set or of a split; raise Problem where the list is missing, or is another one's."""
    made, file = data_set.lock, chosen.list_file(data_set.lock_file, split)
    if split and split not in made.splits:
        raise Problem(
            f"{made.name} has no split {split!r}", f"It has {', '.join(made.splits) or 'none'}; correct --split."
        )
    again = f"Run `./hpc data select {made.name} --stack {data_set.stack.name}` again; its lock must not change."
    shown = chosen.shown(file)
    if not file.is_file():
        raise Problem(f"{shown} is missing: lists are not committed", again)
    content = file.read_bytes()
    digest = made.splits[split].digest if split else made.digest
    if (actual := file_list.digest(content)) != digest:
        raise Problem(f"{shown} has the digest {actual}, and its lock {digest}", again)
    return [*file_list.read(content, str(shown))]


def written(files: Iterable[File], form: Format, root: str) -> Iterator[str]:
    """Yield the lines of a format.

    Raises Problem for a name that mmafmctl takes only from a list that a policy of the file system wrote: its
    documentation says so of special characters, without a list of them.
    """
    for path, _ in files:
        if form is not Format.PLAIN and not _PLAIN.fullmatch(path):
            raise Problem(
                f"{path!r} has characters that {form} may not take from a list that was written manually",
                "Rename the file, or let a policy of the file system write the list.",
            )
        yield str(PurePosixPath(root) / path) if form is Format.MMAFMCTL else path


def _root(data_set: Named, option: str | None) -> str:
    volume = data_set.tenant.all_volumes[data_set.settings.volume]
    root = option or (volume.path if isinstance(volume, DirectoryVolume) else None)
    if root is None or not root.startswith("/"):
        raise Problem(
            f"--root {root}: mmafmctl requires fully qualified names, and where storage nodes have volume "
            f"{data_set.settings.volume} is not in the settings",
            "Give the path of its fileset on a storage node, e.g. --root /gpfs/fs1/pvc-1234.",
        )
    return root
