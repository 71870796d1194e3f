"""Reads the text of `ncclras`, as src/ras/client_support.cc of NCCL 2.24 and later writes it."""

import re
from collections.abc import Callable
from typing import Literal

from toolkit.evidence.parser import Common, Parser, Taken, ending
from toolkit.evidence.text import Line
from toolkit.evidence.tools.nccl_ras.model import NcclRas, Process, Rank

_MOST = 10_000
"""Ranks and processes that are stored."""
_VERSION = re.compile(r"NCCL version (?P<version>\S+) compiled with CUDA [\d.]+$")
_CUDA = re.compile(r"CUDA runtime version \d+, driver version \d+$")
_TITLE = re.compile(r"(?:Job summary|Communicators\.\.\. ?\(\d+\.\d+s\)|Errors|Warnings|=+)$")
_HEADS = re.compile(
    r"(?:\s+Nodes  Processes|\(total\)|\s+per node|\s+Processes  |Group +Comms|\s+# +in group|No communicator)"
)
_JOB = re.compile(r"\s*\d+ +\d+ +\d+ +(?P<processes>\d+) +\d+$")
_GROUP = re.compile(
    r"\s*\d+ +(?P<comms>\d+) +\d+ +[\d-]+ +\d+ +\d+ +(?:NOCOMM|INIT|RUNNING|FINALIZE|ABORT) +(?:OK|[A-Z]+(?:,[A-Z]+)*)$"
)
_SECTION = re.compile(r"(?:(?P<comm>#\d+-\d+) \([0-9a-f]+\) )?(?P<kind>INCOMPLETE|DEAD|ERROR|MISMATCH|TIMEOUT)$")
_MISSING = re.compile(r"\s+Missing communicator data from (?P<count>\d+) (?:job process|rank)")
_DEAD = re.compile(r"\s+(?P<count>\d+) job process(?:es are| is) considered dead")
_TIMEOUTS = re.compile(r"\s+Encountered (?P<count>\d+) communication timeouts? while")
_PROCESS = re.compile(r"\s+Process (?P<pid>\d+) on node (?P<node>\S+) managing GPUs? (?P<gpus>.+)")
_MANY = re.compile(
    r"\s+\d+ ranks (?:have launched up to operation (?P<launched>\d+)|(?P<none>have not launched any operations)"
    r"|have status (?P<status>\w+)|reported (?P<error>.+))$"
)
_DIFFERENT = re.compile(r"\s+Communicator ranks have different (?:(?P<operation>\w+) operation counts|status)$")
_ERRORS = re.compile(r"\s+(?:Initialization|Asynchronous) errors? on \d+ ranks?$")
_RANK = re.compile(
    r"\s+Rank (?P<rank>\d+)(?: has launched up to operation (?P<launched>\d+)"
    r"| (?P<none>has not launched any operations)| has status (?P<status>\w+)| reported (?P<error>.+?))?"
    r" -- (?:GPU (?P<gpu>.+?) managed by process (?P<pid>\d+) on node (?P<node>\S+)|\[process information not found\])$"
)
_UNKNOWN = re.compile(r"\s+\[could not find information on \d+ process(?:es)?\]$")


class NcclRasParser(Parser):
    """Reads one answer."""

    tool = "nccl-ras"
    kind = NcclRas
    starts = r"NCCL version \S+ compiled with CUDA |CUDA runtime version \d+, driver version \d+$|Job summary$"

    def __init__(self) -> None:
        self._version: str | None = None
        self._processes_total: int | None = None
        self._communicators = self._silent = self._timeouts = 0
        self._processes: list[Process] = []
        self._ranks: list[Rank] = []
        self._comm: str | None = None
        self._section = self._operation = ""
        self._value: tuple[str, int | None] = "", None
        """Of the ranks that are listed: operation and number, status or error."""
        self._most: dict[tuple[str | None, str], int] = {}
        self._summary = self._has_warnings = False

    def feed(self, line: Line) -> Taken:
        """Read a line."""
        text = line.text
        if (begin := self._begins(text)) is not None:
            return begin
        self._has_warnings = self._has_warnings or text == "Warnings"
        if _TITLE.match(text) is not None or _HEADS.match(text) is not None or _UNKNOWN.match(text) is not None:
            return Taken.YES
        readers: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], Line], None]], ...] = (
            (_SECTION, self._read_section),
            (_RANK, self._read_rank),
            (_PROCESS, self._read_process),
            (_MANY, self._read_many),
            (_DIFFERENT, self._read_different),
            (_ERRORS, lambda _match, _line: None),
            (_MISSING, self._read_count),
            (_DEAD, self._read_count),
            (_TIMEOUTS, self._read_count),
            (_GROUP, self._read_group),
            (_JOB, self._read_job),
        )
        for pattern, read in readers:
            if (match := pattern.match(text)) is not None:
                read(match, line)
                return Taken.YES
        return Taken.NO

    def _begins(self, text: str) -> Taken | None:
        """Read a line of the head, which another answer has again; None: it is none."""
        version = _VERSION.match(text)
        if version is None and text != "Job summary":
            return Taken.YES if _CUDA.match(text) is not None else None
        if self._summary:
            return Taken.AGAIN
        self._summary = version is None
        self._version = version["version"] if version is not None else self._version
        return Taken.YES

    def _read_section(self, match: re.Match[str], _line: Line) -> None:
        self._comm, self._section = match["comm"], match["kind"]
        self._operation, self._value = "", ("", None)

    def _read_count(self, match: re.Match[str], _line: Line) -> None:
        if self._section == "TIMEOUT":
            self._timeouts += int(match["count"])
        elif self._comm is None:
            self._silent += int(match["count"])

    def _read_process(self, match: re.Match[str], line: Line) -> None:
        state: Literal["missing", "dead"] = "dead" if self._section == "DEAD" else "missing"
        if len(self._processes) < _MOST:
            self._processes.append(
                Process(state=state, pid=int(match["pid"]), node=match["node"], gpus=match["gpus"], line=line.number)
            )

    def _read_many(self, match: re.Match[str], _line: Line) -> None:
        self._value = self._value_of(match)

    def _read_different(self, match: re.Match[str], _line: Line) -> None:
        self._operation, self._value = match["operation"] or "", ("", None)

    def _value_of(self, match: re.Match[str]) -> tuple[str, int | None]:
        if match["launched"] or match["none"]:
            number = int(match["launched"] or 0)
            key = (self._comm, self._operation)
            self._most[key] = max(self._most.get(key, 0), number)
            return f"{self._operation} {number}", number
        return match["status"] or match["error"] or "", None

    def _read_rank(self, match: re.Match[str], line: Line) -> None:
        value, launched = self._value_of(match)
        if not value:
            value, launched = self._value
        facts: dict[str, Literal["missing", "launched", "status", "error"]] = {
            "INCOMPLETE": "missing",
            "ERROR": "error",
            "MISMATCH": "launched" if launched is not None else "status",
        }
        if self._section in facts and len(self._ranks) < _MOST:
            self._ranks.append(
                Rank(
                    communicator=self._comm or "",
                    rank=int(match["rank"]),
                    fact=facts[self._section],
                    value=value,
                    launched=launched,
                    pid=int(match["pid"]) if match["pid"] else None,
                    node=match["node"],
                    gpu=match["gpu"],
                    line=line.number,
                )
            )

    def _read_group(self, match: re.Match[str], _line: Line) -> None:
        self._communicators += int(match["comms"])

    def _read_job(self, match: re.Match[str], _line: Line) -> None:
        self._processes_total = int(match["processes"])

    def reading(self, common: Common) -> NcclRas:
        """Return what was read; the heading of the warnings is its last one."""
        ranks = [
            rank.model_copy(update={"most": self._most.get((rank.communicator, rank.value.partition(" ")[0]))})
            if rank.launched is not None
            else rank
            for rank in self._ranks
        ]
        return NcclRas(
            **common,
            tool_version=self._version,
            **ending(None if self._has_warnings else "it ends before its warnings"),
            processes_total=self._processes_total,
            communicators=self._communicators,
            processes=tuple(self._processes),
            silent=self._silent,
            ranks=tuple(ranks),
            timeouts=self._timeouts,
        )
