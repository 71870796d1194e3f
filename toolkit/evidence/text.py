"""Lines of log files without what mpirun, kubectl, the container runtime and terminals put before and into them."""

import gzip
import re
import zlib
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from toolkit.evidence import log_records, prefixes

BLOCK = 1 << 17
"""Bytes that are read at once: the memory for a log of any size. Blocks of a MiB, beyond the cache, take 5 % longer."""
LONGEST = 1 << 16
"""Bytes of a line that are stored; a longer one belongs to no tool."""

_GZIP = b"\x1f\x8b"
_OTHER = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16", b"\x00\x00\xfe\xff": "UTF-32"}
_BOM = b"\xef\xbb\xbf"

_ANSI = re.compile(rb"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][0-9A-B]|[=>78cDEHM])")
TIMED = re.compile(prefixes.TIME.encode() + rb"\s(?:std(?:out|err) [FP] )?")
"""The prefix of kubectl logs --timestamps, and of the container runtime's own files."""
_DAY = rb"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?: \d{4})?"
_PREFIX = re.compile(
    rb"(?:"
    rb"\[pod/(?P<pod>[^/\]]+)/[^\]]+\]\s"  # kubectl logs --prefix
    rb"|" + TIMED.pattern + rb"|" + _DAY + rb"(?=\[\d+,\d+\]|<)"  # mpirun --timestamp-output, before the tag
    rb")"
)
_TAG = re.compile(rb"\[(\d+(?:,\d+)?)\]\s?<std(?:out|err|diag)")
"""mpirun --tag-output, and horovodrun, whose tag has one number; up to the >: that ends it."""
_LONGEST_TAG = 40
_BRACKET = ord("[")
_FRAME = "\u2502".encode()
"""What a terminal draws at both ends of a line: k9s does."""


class Line(NamedTuple):
    """One line: `number` from 1, `text` without prefixes and trailing blanks, `source` its pod or rank."""

    number: int
    text: str
    source: str = ""


class Text:
    """The lines of a file of any size, which may be compressed by gzip."""

    def __init__(self, file: BinaryIO) -> None:
        self.fault: str | None = None
        """What keeps the file from being read, or from being read to its end; known when its lines are."""
        self.empty = True
        self._file = file

    def blocks(self) -> Iterator[list[bytes]]:
        """Yield the lines without their ends, many at a time.

        Of a line that is longer than a block, what is beyond LONGEST is left out, so that a file without line ends
        takes no memory; it is still longer than LONGEST. Of one that carriage returns overwrite, the last state stays.
        """
        rest, skipping = b"", False
        for block in self._bytes():
            lines = (rest + block).split(b"\n")
            if skipping:
                # The end of a line that is too long: the rest is what was stored of it, and it grows no more.
                lines[0] = rest
                skipping = len(lines) == 1
            rest = lines.pop()
            if len(rest) > LONGEST:
                rest = rest[rest.rfind(b"\r", 0, -1) + 1 :]
                skipping = skipping or len(rest) > LONGEST
                rest = rest[: LONGEST + 1]
            if lines:
                yield lines
        if rest:
            yield [rest]

    def _bytes(self) -> Iterator[bytes]:
        # All that can be read of a damaged archive is given before it fails: read() would lose what it had.
        read: Callable[[int], bytes] = getattr(self._file, "read1", self._file.read)
        try:
            block = read(BLOCK)
            if (name := _OTHER.get(block[:2]) or _OTHER.get(block[:4])) is not None:
                self.fault = f"it is {name} text: convert it to UTF-8 first (iconv -f {name} -t UTF-8)"
                self.empty = False
                return
            block = block.removeprefix(_BOM)
            while block:
                self.empty = False
                yield block
                block = read(BLOCK)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            self.empty = False
            self.fault = f"the compressed file is damaged or cut: {error}"


def raw_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file without their ends; see Text.blocks."""
    for block in Text(file).blocks():
        yield from block


_REWRITTEN = (b"\x1b", b"\0", b"\r", _FRAME)


_WRAPPED = frozenset({_FRAME[:1], *log_records.BEGINNINGS})


def _unwrapped(raw: bytes) -> tuple[bytes, str]:
    """Return a line without a terminal's frame, or the text of a log store's record, and what names its source."""
    if raw.startswith(_FRAME):
        raw = raw.rstrip().removesuffix(_FRAME)[len(_FRAME) :].strip()
    return log_records.read(raw) or (raw, "")


def is_rewritten(block: bytes) -> bool:
    """Return whether `clean` changes lines of a block within, and not only what is before their text."""
    return any(mark in block for mark in _REWRITTEN) or log_records.has_mark(block)


def clean(number: int, raw: bytes) -> Line:
    """Return a line without its prefixes."""
    source = ""
    if b"\x1b" in raw:
        raw = _ANSI.sub(b"", raw)
    if b"\0" in raw:
        # Where a file was written to on, after it had been cut (copytruncate), there are zeros.
        raw = raw.replace(b"\0", b"")
    if b"\r" in raw:
        # A progress bar overwrites its line; its last text is what was shown.
        raw = raw.rstrip(b"\r").rpartition(b"\r")[2]
    if raw[:1] in _WRAPPED:
        raw, source = _unwrapped(raw)
    while raw:
        if raw[0] == _BRACKET:
            tag, mark, rest = raw.partition(b">:")
            if mark and len(tag) < _LONGEST_TAG and (rank := _rank(tag)) is not None:
                source, raw = rank, rest[1:] if rest[:1].isspace() else rest
                continue
        elif raw[4:5] != b"-" and raw[3:4] != b" ":
            break  # neither a date nor a day of the week: most lines, which need no search
        if (match := _PREFIX.match(raw)) is None:
            break
        source = source or (match["pod"] or b"").decode("ascii", "replace")
        raw = raw[match.end() :]
    if b"NCCL " in raw:
        raw = raw[prefixes.before_nccl(raw) :]
    return Line(number, raw.decode("utf-8", "replace").rstrip(), source)


@lru_cache(maxsize=10_000)
def _rank(tag: bytes) -> str | None:
    match = _TAG.fullmatch(tag)
    return None if match is None else match[1].decode()


def opened(path: Path) -> BinaryIO:
    """Open a log; one with the first bytes of gzip is decompressed on the way."""
    file = path.open("rb")
    compressed = file.read(len(_GZIP)) == _GZIP
    file.seek(0)
    return cast("BinaryIO", gzip.open(file)) if compressed else file
