"""Lines of log files without what mpirun, kubectl, the container runtime and terminals put before and into them."""

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

BLOCK = 1 << 20
"""Bytes that are read at once: the memory for a log of any size."""

_ANSI = re.compile(rb"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
_TIME = rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
_PREFIX = re.compile(
    rb"(?:"
    rb"\[pod/(?P<pod>[^/\]]+)/[^\]]+\]\s"  # kubectl logs --prefix
    rb"|" + _TIME + rb"\s(?:std(?:out|err) [FP] )?"  # kubectl logs --timestamps, and the container runtime's own form
    rb"|\[(?P<rank>\d+,\d+)\]\s?<std(?:out|err|diag)>:\s?"  # mpirun --tag-output, and Horovod
    rb")"
)


class Line(NamedTuple):
    """One line: `number` from 1, `text` without prefixes and trailing blanks, `source` the pod or rank that said it."""

    number: int
    text: str
    source: str = ""


def raw_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file without their ends; the file may be of any size, and compressed by gzip."""
    for line in file:
        yield line.rstrip(b"\r\n")


def clean(number: int, raw: bytes) -> Line:
    """Return a line without its prefixes."""
    source = b""
    if b"\x1b" in raw:
        raw = _ANSI.sub(b"", raw)
    # A progress bar overwrites its line; what stands there in the end is what was shown.
    raw = raw.rpartition(b"\r")[2]
    while (found := _PREFIX.match(raw)) is not None:
        source = found["rank"] or source or found["pod"] or b""
        raw = raw[found.end() :]
    return Line(number, raw.decode("utf-8", "replace").rstrip(), source.decode("ascii", "replace"))


def opened(path: Path) -> BinaryIO:
    """Open a log; one with the first bytes of gzip is decompressed on the way."""
    file = path.open("rb")
    compressed = file.read(2) == b"\x1f\x8b"
    file.seek(0)
    return cast("BinaryIO", gzip.open(file)) if compressed else file
