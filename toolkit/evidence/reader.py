"""Reads a log: finds by its content which tools printed it, and passes each line to the parser of its tool."""

import re
import sys
import zlib
from collections.abc import Callable, Sequence
from operator import length_hint
from pathlib import Path
from typing import BinaryIO

from core.apis.names import SIMULATED
from toolkit.evidence import nccl_debug
from toolkit.evidence.failures import hinted
from toolkit.evidence.flight_recorder import dump
from toolkit.evidence.line_owners import LineOwners, OwnedShapes
from toolkit.evidence.line_shapes import without_times
from toolkit.evidence.model import UNREAD_KEPT, Reading
from toolkit.evidence.parser import Parser, Taken
from toolkit.evidence.prefixes import Bare, Prefixes
from toolkit.evidence.text import LONGEST, Line, Text, clean, opened
from toolkit.evidence.tool_run import ToolRun
from toolkit.evidence.tools import PARSERS
from toolkit.evidence.tools.nccl_ras import json_file

_LEADS = 8
"""Lines that are held, at most, until their tool is known."""
_HEAD = 1 << 12
"""Bytes by which a file that is no text is recognised."""
_DOCUMENTS: tuple[tuple[Callable[[bytes], bool], Callable[[BinaryIO, str], Reading]], ...] = (
    (dump.is_dump, dump.read),
    (json_file.is_ras, json_file.read),
)
"""Files that are read as a whole: what recognises them, and what reads them."""
_NCCL_PAUSE = 8
"""Lines of others after which NCCL is taken to be silent."""


def read(path: Path, parsers: Sequence[type[Parser]] = PARSERS) -> tuple[Reading, ...]:
    """Return the readings of the tools' output in a file, in the order of their first lines; - is standard input.

    Raises OSError when the file cannot be read. A file with nothing known in it gives one `Unknown`.
    """
    if str(path) == "-":
        return read_stream(sys.stdin.buffer, "-", parsers)
    with opened(path) as file:
        head = _head(file)
        for is_of, read_whole in _DOCUMENTS:
            if is_of(head):
                return (read_whole(file, str(path)),)
        return read_stream(file, str(path), parsers)


def _head(file: BinaryIO) -> bytes:
    """Return the first bytes of a file, which is then at its beginning; none of a damaged archive."""
    try:
        return file.read(_HEAD)
    except (EOFError, OSError, zlib.error):
        return b""
    finally:
        file.seek(0)


def read_stream(file: BinaryIO, name: str, parsers: Sequence[type[Parser]] = PARSERS) -> tuple[Reading, ...]:
    """Return the same of an open file."""
    text = Text(file)
    log = _Log(name, parsers)
    number = 1
    for lines in text.blocks():
        log.feed(number, lines)
        number += len(lines)
    return log.readings(text)


class _Log:
    def __init__(self, name: str, parsers: Sequence[type[Parser]]) -> None:
        self._name = name
        self._starts = [(re.compile(parser.starts), parser) for parser in parsers]
        self._any = re.compile("|".join(f"(?:{parser.starts})" for parser in parsers) or r"(?!)")
        leads = [parser.leads for parser in parsers if parser.leads]
        self._leads = re.compile("|".join(f"(?:{lead})$" for lead in leads) or r"(?!)")
        self._held: dict[str, list[tuple[Line, ToolRun | None]]] = {}
        """Source -> lines that may lead to a tool's first, each with the run before it."""
        self._runs: list[ToolRun] = []
        self._active: list[ToolRun] = []
        """Those that may still take lines: of a table that is printed every second only the last."""
        self._shared = nccl_debug.LineCache()
        self._nccl_run: ToolRun | None = None
        """The run that NCCL's messages belong to: the last program that uses NCCL, or an unknown one."""
        self._since_nccl = 0
        """Lines since the last of NCCL's, but for those passed over."""
        self._simulated = False
        self._prefixes = Prefixes()
        self._owners = LineOwners(parsers, self._prefixes)
        self._first, self._block = 1, list[bytes]()
        self._hinted: frozenset[int] | None = None
        """Lines of the block that may report a failure; None: not searched yet."""

    def feed(self, first: int, lines: list[bytes]) -> None:
        """Read lines; `first` is the number of the first of them."""
        last = first + len(lines) - 1
        self._first, self._block, self._hinted = first, lines, None
        bare = without_times(lines)
        left = iter(bare)
        while (at := len(lines) - length_hint(left)) < len(lines):
            # Where NCCL has become silent there is nothing of its own to pass over, but lines of known shapes.
            nccl_run = self._nccl_run if self._since_nccl < _NCCL_PAUSE else None
            shapes = self._owned(bare[at]) if nccl_run is None else None
            if nccl_run is not None:
                unskimmed = nccl_run.nccl.skim(bare, left, last)
            elif shapes is not None:
                unskimmed = shapes.skim(left)
            else:
                self._read(first + at, lines[at], next(left))
                continue
            end = len(lines) - length_hint(left) - (unskimmed is not None)
            if end > at and nccl_run is not None:
                nccl_run.last, self._since_nccl = first + end - 1, 0
            elif end > at and shapes is not None:
                self._pass_over(shapes.owner, first + at, lines[at:end])
            if unskimmed is not None:
                self._read_or_pass_over(first + end, lines[end], bare[end])

    def _owned(self, bare: bytes) -> OwnedShapes | None:
        """Return the owner of lines of this shape, where they may be passed over; None: they have to be read."""
        shapes = self._owners.owned_shapes(bare)
        if shapes is None or self._held:
            return None
        if shapes.owner is None and len(self._runs[-1].unread) < UNREAD_KEPT:
            return None
        return shapes

    def _pass_over(self, owner: ToolRun | None, first: int, lines: Sequence[bytes]) -> None:
        self._since_nccl += len(lines)
        last = first + len(lines) - 1
        if owner is None:
            self._runs[-1].pass_over(len(lines), last)
            return
        assert owner.parser is not None  # noqa: S101 - it counts lines
        for index in owner.parser.pass_over(lines):
            self._line(first + index, lines[index])
        owner.last = last

    def _read_or_pass_over(self, number: int, raw: bytes, bare: bytes) -> None:
        shapes = self._owned(bare)
        if shapes is not None:
            self._pass_over(shapes.owner, number, [raw])
        else:
            self._read(number, raw, bare)

    def _read(self, number: int, raw: bytes, bare: bytes) -> None:
        """Read a line with care, and remember what became of it."""
        self._line(number, raw)
        self._owners.decide(bare, self._active)

    def _line(self, number: int, raw: bytes) -> None:
        if len(raw) > LONGEST:
            raw = raw.rstrip(b"\r").rpartition(b"\r")[2]
        line = clean(number, raw[:LONGEST])
        is_nccl = nccl_debug.is_nccl(line.text)
        self._since_nccl = 0 if is_nccl else self._since_nccl + 1
        if len(raw) > LONGEST:
            self._cannot_read(line)
        elif is_nccl:
            self._read_nccl(line, raw)
        elif line.text:
            bare = self._prefixes.strip(line.text)
            self._offer(line if bare is None else _without(line, bare))

    def _read_nccl(self, line: Line, raw: bytes) -> None:
        if self._nccl_run is None:
            is_only_run = len(self._runs) == 1 and self._runs[0].parser is None
            self._nccl_run = self._runs[0] if is_only_run else self._open(None, line)
        run = self._nccl_run
        run.last = line.number
        if run.nccl.feed(line, raw) is Taken.DAMAGED:
            run.cannot_read(line)

    def _offer(self, line: Line) -> None:
        if line.text.startswith(SIMULATED):
            self._simulated = True
            return
        damaged: ToolRun | None = None
        for run in reversed(self._active):
            taken = run.takes(line)
            if taken is Taken.YES:
                run.last = line.number
                if self._held:
                    self._release(line.source)
                return
            if taken is Taken.AGAIN:
                self._active.remove(run)
                self._owners.forget()
                break
            if taken is Taken.DAMAGED:
                damaged = run
                break
        if self._start(line):
            self._release(line.source, self._runs[-1])
        elif damaged is None and self._prefixes.learn(line.text, lambda bare: self._start_bare(line, bare)):
            self._owners.forget()
            self._release(line.source)
        elif damaged is None and self._leads.match(line.text) and len(self._held.get(line.source, ())) < _LEADS:
            before = self._runs[-1] if self._runs else None
            self._held.setdefault(line.source, []).append((line, before))
        else:
            self._release(line.source)
            self._cannot_read(line, damaged)

    def _release(self, source: str, run: ToolRun | None = None) -> None:
        """Give the held lines to the run that they lead to; those that lead to none belong to no run."""
        for line, before in self._held.pop(source, ()):
            leads = run.parser.leads if run is not None and run.parser is not None else None
            if run is not None and leads is not None and re.fullmatch(leads, line.text):
                run.first = min(run.first, line.number)
                continue
            if before is None and (not self._runs or self._runs[0].parser is not None):
                self._runs.insert(0, ToolRun(None, line, self._shared))
            self._cannot_read(line, before or self._runs[0])

    def _cannot_read(self, line: Line, owner: ToolRun | None = None) -> None:
        (owner or (self._runs[-1] if self._runs else self._open(None, line))).cannot_read(line, self._may_report)

    def _may_report(self, number: int) -> bool:
        """Return whether a line of the block, or one that was held before it, may report a failure."""
        if self._hinted is None:
            self._hinted = hinted(self._block)
        return number < self._first or number - self._first in self._hinted

    def _start(self, line: Line) -> bool:
        if not self._any.match(line.text):
            return False
        for starts, kind in self._starts:
            if starts.match(line.text):
                run = self._open(kind(), line)
                if run.takes(line) is Taken.YES:
                    self._active.append(run)
                    self._owners.forget()
                    if kind.hosts_nccl:
                        self._route_nccl(run)
                    return True
                self._runs.pop()
        return False

    def _start_bare(self, line: Line, bare: Bare) -> bool:
        if bare.text.startswith(SIMULATED):
            self._simulated = True
            return True
        return self._start(_without(line, bare))

    def _open(self, parser: Parser | None, line: Line) -> ToolRun:
        run = ToolRun(parser, line, self._shared)
        self._runs.append(run)
        return run

    def _route_nccl(self, run: ToolRun) -> None:
        """Assign NCCL's messages to a program that has started: from now on, and earlier ones that belong to no run."""
        before = self._nccl_run
        self._nccl_run = run
        if before is None:
            return
        if before.parser is None:
            self._runs.remove(before)
            run.adopt(before)
            for source, held in self._held.items():
                self._held[source] = [(line, run if owner is before else owner) for line, owner in held]
        else:
            before.settle()

    def readings(self, text: Text) -> tuple[Reading, ...]:
        """Return what was read."""
        for source in tuple(self._held):
            self._release(source)
        missing = text.fault or ("the file is empty" if text.empty else "no known tool printed this")
        if not self._runs:
            self._open(None, Line(1, ""))
        self._runs.sort(key=lambda run: run.first)
        readings = [run.reading(self._name, simulated=self._simulated, missing=missing) for run in self._runs]
        if text.fault and text.fault != readings[-1].incomplete:
            whole = "; ".join(filter(None, (readings[-1].incomplete, text.fault)))
            readings[-1] = readings[-1].model_copy(update={"complete": False, "incomplete": whole})
        return tuple(readings)


def _without(line: Line, bare: Bare) -> Line:
    return Line(line.number, bare.text, bare.source or line.source)
