"""The parser of nvidia-smi."""

import re
from collections.abc import Iterable, Mapping
from typing import ClassVar

from toolkit.evidence.host_parser import HostParser, typed
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.tools.nvidia_smi.csv import HEADER, Query
from toolkit.evidence.tools.nvidia_smi.model import NvidiaSmi
from toolkit.evidence.tools.nvidia_smi.table import BANNER, Table

_FAILED = (
    r"No devices were found$|Failed to initialize NVML: \S|NVIDIA-SMI has failed because \S|"
    r"Unable to determine the device handle |(?:\S*sh: (?:line )?(?:\d+: )?)?nvidia-smi: (?:command )?not found"
)
_COMMAND = typed(r"nvidia-smi(?! (?:topo|nvlink|-L|-q|dmon))\b")
_LEADS = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d \d{4}|\+-{5,}\+"
"""The date, and the frame above the banner."""
_QUERY = re.compile(r"--query-gpu[= ](\S+)")


class NvidiaSmiParser(HostParser):
    """Reads both forms, and the errors in their place."""

    tool = "nvidia-smi"
    kind = NvidiaSmi
    starts = rf"{BANNER}|{HEADER}|{_FAILED}|{_COMMAND}"
    leads = _LEADS
    command = re.compile(_COMMAND)
    _failure: ClassVar[re.Pattern[str]] = re.compile(_FAILED)

    def __init__(self) -> None:
        super().__init__()
        self._table = Table()
        self._query = Query()
        self._failed: str | None = None

    def read_command(self, text: str) -> None:
        """Read the requested columns, where they are not printed above the rows."""
        match = _QUERY.search(text)
        if match is not None and "noheader" in text:
            self._query.columns = tuple(match[1].split(","))

    def read_line(self, line: Line) -> Taken:
        """Read a line."""
        if self._failure.match(line.text):
            if self._failed is not None or self._table.versions or self._query.rows:
                return Taken.AGAIN
            self._failed = line.text
            return Taken.YES
        if line.text[0] in "|+":
            return self._table.read_line(line.text, line.number)
        return Taken.NO if self._table.versions else self._query.read_line(line.text, line.number)

    def ignores(self, text: str) -> bool:
        """Return whether a line has nothing of the table, when there is one."""
        table = bool(self._table.versions) and text[:1] not in ("", "|", "+")
        return super().ignores(text) or (table and not self._failure.match(text) and not self.command.match(text))

    def facts(self) -> Mapping[str, object]:
        """Return the GPUs."""
        own, driver, cuda = self._table.versions or (None, self._query.driver, None)
        return {
            "tool_version": own,
            "driver": driver,
            "cuda": cuda,
            "rows": (*self._table.rows, *self._query.rows),
            "mig_devices": tuple(self._table.parts),
            "processes": self._table.processes,
            "queries": self._query.columns,
            "failed": self._failed,
        }

    def missing(self) -> Iterable[str | None]:
        """Return the error, or what the table lacks."""
        table = self._table
        return (
            self._failed,
            None if table.rows or self._query.rows or self._failed else "no GPU",
            None if table.closed or table.versions is None else "no end of the table of processes",
            f"GPU {table.half.index}: no memory" if table.half is not None else None,
        )
