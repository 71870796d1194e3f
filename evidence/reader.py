"""Reads a log: finds which tools printed it, by its content, and gives each line to the one whose it is."""

import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import BinaryIO

from evidence import nccl_debug
from evidence.model import UNREAD_KEPT, Reading, Unknown, Unread
from evidence.parser import Common, Parser, Taken
from evidence.text import Line, clean, opened, raw_lines
from evidence.tools import PARSERS

SIMULATED = "simulated by hpc"
"""How the first line of every log of the simulated cluster begins."""


def read(path: Path) -> tuple[Reading, ...]:
    """Return what the tools printed that a file holds, in the order of their first lines; - is standard input.

    Raises OSError when the file cannot be read. A file with nothing known in it gives one `Unknown`.
    """
    if str(path) == "-":
        return read_stream(sys.stdin.buffer, "-")
    with opened(path) as file:
        return read_stream(file, str(path))


def read_stream(file: BinaryIO, name: str, parsers: Sequence[type[Parser]] = PARSERS) -> tuple[Reading, ...]:
    """Return the same of an open file."""
    log = _Log(name, parsers)
    log.feed(clean(number, raw) for number, raw in enumerate(raw_lines(file), 1))
    return log.readings()


class _Run:
    """One run of one tool: its parser, and what every reading has."""

    def __init__(self, parser: Parser | None, line: int, source: str) -> None:
        self.parser = parser
        self.source = source
        self.first = self.last = line
        self.nccl = nccl_debug.Collector()
        self.unread: list[Unread] = []
        self.unread_total = 0
        self.ended = False

    def takes(self, line: Line) -> Taken:
        parser = self.parser
        if self.ended or parser is None or (parser.by_source and line.source != self.source):
            return Taken.NO
        return parser.feed(line)

    def cannot_read(self, line: Line) -> None:
        self.unread_total += 1
        if len(self.unread) < UNREAD_KEPT:
            self.unread.append(Unread(line=line.number, text=line.text))

    def reading(self, file: str, *, simulated: bool) -> Reading:
        common = Common(
            file=file,
            simulated=simulated,
            first_line=self.first,
            last_line=self.last,
            nccl=self.nccl.log(),
            unread=tuple(self.unread),
            unread_total=self.unread_total,
        )
        if self.parser is None:
            tool = "nccl" if common["nccl"] else "unknown"
            missing = None if common["nccl"] else "no tool was recognised"
            return Unknown(tool=tool, complete=missing is None, incomplete=missing, **common)
        return self.parser.reading(common)


class _Log:
    def __init__(self, name: str, parsers: Sequence[type[Parser]]) -> None:
        self._name = name
        self._parsers = parsers
        self._starts = [(re.compile(parser.starts), parser) for parser in parsers]
        self._any = re.compile("|".join(f"(?:{parser.starts})" for parser in parsers) or r"(?!)")
        self._runs: list[_Run] = []
        self._simulated = False

    def feed(self, lines: Iterable[Line]) -> None:
        for line in lines:
            if nccl_debug.MARK in line.text:
                self._program(line).nccl.feed(line)
            elif line.text:
                self._give(line)

    def _give(self, line: Line) -> None:
        if line.text.startswith(SIMULATED):
            self._simulated = True
            return
        damaged: _Run | None = None
        for run in reversed(self._runs):
            taken = run.takes(line)
            if taken is Taken.YES:
                run.last = line.number
                return
            if taken is Taken.AGAIN:
                run.ended = True
                break
            if taken is Taken.DAMAGED:
                damaged = run
                break
        if self._begins(line):
            return
        owner = damaged or (self._runs[-1] if self._runs else self._open(None, line))
        owner.last = line.number
        owner.cannot_read(line)

    def _begins(self, line: Line) -> bool:
        if not self._any.match(line.text):
            return False
        for starts, kind in self._starts:
            if starts.match(line.text):
                run = self._open(kind(), line)
                if run.takes(line) is Taken.YES:
                    return True
                self._runs.pop()
        return False

    def _open(self, parser: Parser | None, line: Line) -> _Run:
        run = _Run(parser, line.number, line.source)
        self._runs.append(run)
        return run

    def _program(self, line: Line) -> _Run:
        """Return the run whose NCCL messages these are: of the last program that uses NCCL."""
        for run in reversed(self._runs):
            if run.parser is not None and run.parser.hosts_nccl and not run.ended:
                run.last = line.number
                return run
        for run in self._runs:
            if run.parser is None:
                run.last = line.number
                return run
        return self._open(None, line)

    def readings(self) -> tuple[Reading, ...]:
        found = [run.reading(self._name, simulated=self._simulated) for run in self._runs]
        if not found:
            found = [_Run(None, 1, "").reading(self._name, simulated=self._simulated)]
        return tuple(found)
