"""Writes what `./hpc init` makes, and nothing over what is there."""

from collections.abc import Mapping
from pathlib import Path

from core.files import write_atomically
from core.wording import some
from toolkit.cli.shared.errors import Problem


def write(files: Mapping[Path, str], *, force: bool) -> None:
    """Write files by path; raise Problem, before any is written, where one is there and `force` is not given."""
    existing = sorted(path for path in files if path.exists())
    if existing and not force:
        raise Problem(
            f"{some([path.name for path in existing])} is there already, and may have been completed manually",
            "Give the stack another name, or overwrite it with --force.",
        )
    for path, content in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, content)
        except OSError as error:
            raise Problem(
                f"{path} cannot be written: {error.strerror or error}", "Give yourself the right to it."
            ) from None
