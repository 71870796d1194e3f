"""The limit of locked memory: `ulimit -l`, `ulimit -a`, /proc/self/limits."""

import re
from collections.abc import Iterable, Mapping

from pydantic import Field

from toolkit.evidence.criterion import Criterion, Found, begins, lines_of, of, passed
from toolkit.evidence.host_parser import HostParser, HostReading, typed
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import RDMA_TEST, Job, Status
from toolkit.evidence.wording import listed


class Ulimit(HostReading):
    """How much memory a process may lock: a registration for RDMA needs all of its buffers locked."""

    unlimited: bool | None = Field(description="None: not read")
    memlock_bytes: int | None = Field(description="bytes; None: unlimited, or not read")
    line: int

    def figures(self) -> str:
        """Return the few figures that a table has room for."""
        return "unlimited" if self.unlimited else f"{self.memlock_bytes} bytes"


_ALL = re.compile(
    r"(?:max locked memory|-l: locked-in-memory size|locked memory)\s*\((kbytes|kb|bytes)(?:, -l)?\)\s+(unlimited|\d+)$"
)
"""As bash, busybox and dash print it."""
_LIMITS = re.compile(r"Max locked memory\s+(unlimited|\d+)\s+(?:unlimited|\d+)\s+(bytes)\s*$")
_ALONE = re.compile(r"(unlimited|\d+)$")
_COMMAND = typed(r"ulimit\s+-\w*[la]|(?:cat|grep)\b.*/proc/\S+/limits|sh -c .*ulimit -l")
_OTHER = re.compile(r"[a-zA-Z-]+(?: [a-zA-Z-]+)*\s+\((?:[\w -]+, )?-[a-zA-Z]\)\s+(?:unlimited|-?\d+)$")
_PROC = re.compile(r"Limit\s+Soft Limit|Max [a-z]+(?: [a-z]+){0,3}\s+(?:unlimited|\d+)\s+(?:unlimited|\d+)\s")


class UlimitParser(HostParser):
    """Reads all three; a figure alone is a limit only after the command, `unlimited` alone is always one."""

    tool = "ulimit"
    kind = Ulimit
    rdma_test = frozenset({RDMA_TEST})
    starts = (
        r"[mM]ax locked memory\s|-l: locked-in-memory|locked memory\(kbytes|core file size\s+\(blocks|"
        rf"real-time non-blocking|Limit\s+Soft Limit\s+Hard Limit|unlimited$|{_COMMAND}"
    )
    command = re.compile(_COMMAND)

    def __init__(self) -> None:
        super().__init__()
        self._limit: str | None = None
        self._unit = 1
        self._only = False

    def read_command(self, text: str) -> None:
        """Read whether the limit is the only line."""
        self._only = re.search(r"ulimit\s+-[HS]?l", text) is not None

    def take(self, line: Line) -> Taken:
        """Read a line."""
        text = line.text
        if (found := _ALL.match(text)) is not None:
            return self._found(found[2], 1 if found[1] == "bytes" else 1024, line.number)
        if (found := _LIMITS.match(text)) is not None:
            return self._found(found[1], 1, line.number)
        alone = _ALONE.match(text)
        if alone is not None and (self._only or text == "unlimited") and self._limit is None:
            return self._found(alone[1], 1024, line.number)
        if re.match(r"[mM]ax locked|-l: locked|locked memory\(", text):
            return Taken.DAMAGED
        if (_OTHER.match(text) or _PROC.match(text)) and not self._only:
            begins = re.match(r"Limit\s|real-time non|core file size", text)
            return Taken.AGAIN if begins and self._limit is not None else Taken.YES
        return Taken.NO

    def _found(self, limit: str, unit: int, line: int) -> Taken:
        if self._limit is not None:
            return Taken.AGAIN
        self._limit, self._unit, self.line = limit, unit, line
        return Taken.YES

    def facts(self) -> Mapping[str, object]:
        """Return the limit."""
        return {
            "unlimited": None if self._limit is None else self._limit == "unlimited",
            "memlock_bytes": None if self._limit in (None, "unlimited") else int(self._limit or 0) * self._unit,
            "line": self.line,
        }

    def missing(self) -> Iterable[str | None]:
        """Return whether there is no limit."""
        return (None if self._limit else "no limit of locked memory",)


def _memlock(job: Job) -> Found | None:
    found = of(job, Ulimit)
    known = [one for one in found if one.unlimited is not None]
    if not known:
        return Found(Status.MISSING, "no limit", proofs=begins(found))
    bad = [one for one in known if not one.unlimited]
    measured = listed({f"{one.memlock_bytes} bytes" for one in bad}) if bad else "unlimited"
    return Found(passed(not bad), measured, proofs=lines_of((one.file, one) for one in bad or known))


CRITERIA = (
    Criterion(
        name="memlock-unlimited",
        title="Containers may lock any amount of memory",
        limit="unlimited",
        unit="bytes",
        applies="jobs over InfiniBand and RoCE with ulimit -l output",
        source="R-3.4.3-8, E-19a, E-64",
        look=_memlock,
        when=lambda request: request.has_rdma_fabric,
    ),
)
