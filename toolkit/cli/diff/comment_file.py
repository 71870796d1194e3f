"""The files of a review's comment: the comment, and the whole review where that does not fit into one."""

from contextlib import suppress
from pathlib import Path

from toolkit.cli.ci.comment import whole
from toolkit.cli.shared.options import write_text
from toolkit.review import comment
from toolkit.review.model import Review


def write(path: Path, review: Review) -> Path | None:
    """Write the comment; return the file of the whole review, or None where the comment has all of it."""
    short, long = comment.write(review), comment.write(review, limit=None)
    write_text(path, short)
    _remove(whole.file_of(path))
    if short == long or not path.is_file():  # not /dev/stdout
        return None
    write_text(whole.file_of(path), long)
    return whole.file_of(path)


def remove(path: Path) -> None:
    """Remove the files of an earlier review; a link or a device stays."""
    for file in (path, whole.file_of(path)):
        _remove(file)


def _remove(path: Path) -> None:
    if path.is_file() and not path.is_symlink():  # not /dev/stdout
        with suppress(OSError):
            path.unlink()
