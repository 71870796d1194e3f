"""One run of one tool, while its log is read."""

from collections.abc import Callable

from core.wording import plural
from toolkit.evidence import nccl_debug
from toolkit.evidence.failures import reports_failure
from toolkit.evidence.model import UNREAD_KEPT, NcclLog, Reading, Unknown, Unread
from toolkit.evidence.parser import Common, Parser, Taken, ending
from toolkit.evidence.secrets import masked
from toolkit.evidence.text import Line

_SHOWN = 2000
"""Characters of a line that could not be read, at most: many such lines are stored."""


class ToolRun:
    """One run of one tool: its parser, and what every reading has."""

    def __init__(self, parser: Parser | None, line: Line, shared: nccl_debug.LineCache) -> None:
        self.parser = parser
        self.source = line.source
        self.first = self.last = line.number
        self.nccl = nccl_debug.Collector(shared)
        self.unread: list[Unread] = []
        self.unread_total = 0
        self._log: NcclLog | None = None

    def takes(self, line: Line) -> Taken:
        """Offer a line to the parser."""
        parser = self.parser
        if parser is None or (parser.by_source and line.source != self.source):
            return Taken.NO
        return parser.feed(line)

    def cannot_read(self, line: Line, may_report: Callable[[int], bool] = bool) -> None:
        """Count a line that could not be read; `may_report`: whether the line of a number may report a failure."""
        self.last = max(self.last, line.number)
        self.unread_total += 1
        kept = len(self.unread)
        if kept < UNREAD_KEPT or (kept < 2 * UNREAD_KEPT and may_report(line.number) and reports_failure(line.text)):
            text = masked(line.text)
            text = text if len(text) <= _SHOWN else f"{text[:_SHOWN]} ... (cut here)"
            self.unread.append(Unread(line=line.number, text=text))

    def pass_over(self, count: int, last: int) -> None:
        """Count lines that could not be read, and store none of them."""
        self.last = max(self.last, last)
        self.unread_total += count

    def adopt(self, other: "ToolRun") -> None:
        """Adopt what was printed before the program's own first line."""
        self.first = min(self.first, other.first)
        self.nccl = other.nccl
        self.unread = [*other.unread, *self.unread][: 2 * UNREAD_KEPT]
        self.unread_total += other.unread_total

    def settle(self) -> None:
        """Count the messages of NCCL, of which no more come, and release the memory that this needed."""
        if self._log is None:
            self._log = self.nccl.log()
            self.nccl = nccl_debug.Collector(nccl_debug.LineCache())

    def reading(self, file: str, *, simulated: bool, missing: str) -> Reading:
        """Return what was read; `missing` is what an unknown file lacks."""
        self.settle()
        name = self.parser.tool if self.parser is not None else "nccl" if self._log is not None else "unknown"
        common = Common(
            tool=name,
            file=file,
            simulated=simulated,
            first_line=self.first,
            last_line=self.last,
            nccl=self._log,
            unread=tuple(self.unread),
            unread_total=self.unread_total,
        )
        if self.parser is not None:
            return self.parser.reading(common)
        if self._log is not None:
            ready, ranks = self._log.initialised, self._log.nranks
            reason = (
                f"{ready} of {plural(ranks, 'rank')} print Init COMPLETE"
                if ranks is not None and ready < ranks
                else None
            )
            return Unknown(**ending(reason), **common)
        return Unknown(**ending(missing), **common)
