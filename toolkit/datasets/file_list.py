"""The list of the files of a data set: one line a file, `<path>\\t<bytes>\\n`, sorted by the path's UTF-8.

Its digest, the SHA-256 of exactly these bytes, is what a lock has, and what staging and jobs prove.
"""

import hashlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from core.errors import DataSetError

_SEPARATORS = ("\t", "\n", "\r", "\0")
"""What no path may have: a reader of lines would see other files."""


class File(NamedTuple):
    """One file of a list."""

    path: str
    size: int
    """Bytes."""


def text(files: Iterable[File]) -> bytes:
    """Return the list of files, the same for any order of them.

    Raises DataSetError for a path that is empty, that a list cannot have, or that is given twice.
    """
    lines = []
    last = None
    for key, path, size in sorted((path.encode("utf-8", "surrogateescape"), path, size) for path, size in files):
        if not path or any(separator in path for separator in _SEPARATORS):
            raise DataSetError(
                f"file {path!r}: a list has one line a file, and no path may be empty or have a tab or the end of a "
                "line; rename the file, and index again"
            )
        if size < 0:
            raise DataSetError(f"file {path!r}: {size} bytes; index again")
        if key == last:
            raise DataSetError(f"file {path!r} is chosen twice; correct the locations, which lead two sources there")
        last = key
        lines.append(b"%s\t%d\n" % (key, size))
    return b"".join(lines)


def digest(listed: bytes) -> str:
    """Return the SHA-256 of a list in hex."""
    return hashlib.sha256(listed).hexdigest()


def read(listed: bytes, source: str) -> Iterator[File]:
    """Yield the files of a list; raise DataSetError, naming `source`, for a line that is none."""
    lines = listed.split(b"\n")
    for number, line in enumerate(lines, 1):
        if number == len(lines) and not line:
            return
        path, tab, size = line.partition(b"\t")
        if not (path and tab and size.isdigit()) or number == len(lines):
            raise DataSetError(
                f"{source}:{number}: {line[:80]!r} is not a line `<path>, tab, <bytes>`; write the list again with "
                "`./hpc data select`"
            )
        yield File(path.decode("utf-8", "surrogateescape"), int(size))
