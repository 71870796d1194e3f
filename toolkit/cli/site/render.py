"""`./hpc site render`: write the files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from core.files import write_atomically
from toolkit.cli.shared.console import print_text, print_warning, show_rows
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import DEFAULT_STACK, FolderOption, StackOption
from toolkit.cli.site import files
from toolkit.evidence.wording import listed
from toolkit.site import manifest
from toolkit.site.manifest import Manifest

OnlyOption = Annotated[list[str] | None, typer.Option("--only", help="Write only this group of files; repeatable.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Also replace edited files, and a damaged MANIFEST.json.")]

_EXECUTABLE, _READABLE = 0o755, 0o644


def command(
    output: FolderOption, stack: StackOption = DEFAULT_STACK, only: OnlyOption = None, *, force: ForceOption = False
) -> None:
    """Write files for hosts, switches and other surroundings.

    Values that the settings lack are listed as open. A folder with unrelated files is refused; files of an earlier run
    that the settings no longer need are removed.
    """
    site_files = files.of_stack(stack, only or ())
    # Of a damaged list nothing is known to be ours: no file is removed, and those that the settings want are replaced.
    before = files.stored(output, Manifest(stack=stack, files={}) if force else None)
    if before and before.stack != stack:
        raise Problem(f"{output} has the files of stack {before.stack}, not of {stack}", "Name another folder.")
    if before and not force:
        _refuse_edited(output, site_files, before, only or ())
    try:
        _write(output, site_files, before, only or ())
    except OSError as error:
        raise Problem(
            f"{error.filename or output} cannot be written: {error.strerror or error}",
            "Correct its rights, move away what is in its place, or name another folder.",
        ) from None
    rows = [
        (group.name, group.title, str(len(written)), str(len(missing)))
        for group, written, missing in site_files.groups
        if written or missing
    ]
    show_rows(f"Files in {output}", ("group", "what", "files", "open"), rows)
    if unused := [group.name for group, written, missing in site_files.groups if not (written or missing)]:
        print_text(f"Stack {stack} has no settings for: {listed(unused)}.")
    for group, _, missing in site_files.groups:
        for open_part in missing:
            print_warning(f"{group.name}: open: {open_part.what}; {open_part.remedy}")


def _refuse_edited(folder: Path, site_files: files.SiteFiles, before: Manifest, only: Sequence[str]) -> None:
    """Raise Problem for files that would be replaced or removed, and are not as an earlier call wrote them."""
    touched = [path for path in before.files if not only or files.group_of(path) in only]
    touched += [file.path for file in site_files.files if file.path not in before.files]
    present = files.present(folder, touched)
    edited = [
        path for path, digest in present.items() if path not in before.files or digest != before.files[path].sha256
    ]
    if edited:
        raise Problem(
            f"{', '.join(edited)} in {folder} changed since `./hpc site render` wrote the folder",
            "Move your changes to the settings, or replace the files with --force.",
        )


def _write(folder: Path, site_files: files.SiteFiles, before: Manifest | None, only: Sequence[str]) -> None:
    others = {}
    for path, entry in before.files.items() if before else ():
        if only and files.group_of(path) not in only:
            others[path] = entry
        else:
            files.inside(folder, path).unlink(missing_ok=True)
    listed = site_files.manifest.model_copy(update={"files": {**others, **site_files.manifest.files}})
    # First the list, so that files of a call that was interrupted are known as ours.
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / manifest.NAME, manifest.to_text(listed), mode=_READABLE)
    for file in site_files.files:
        target = files.inside(folder, file.path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(file.text)
        if file.executable:
            target.chmod(_EXECUTABLE)
