"""A pod's process: how much memory it may lock (`ulimit`, /proc/self/limits), and as whom it runs (whoami, id)."""

import re
from collections.abc import Iterable, Mapping

from pydantic import Field

from toolkit.evidence.criterion import Criterion, Outcome, opening_proofs, passed, readings_of, row_proofs
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

    def _figures(self) -> str:
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

    def _read_command(self, text: str) -> None:
        self._only = re.search(r"ulimit\s+-[HS]?l", text) is not None

    def _read_line(self, line: Line) -> Taken:
        text = line.text
        if (match := _ALL.match(text)) is not None:
            return self._set_limit(match[2], 1 if match[1] == "bytes" else 1024, line.number)
        if (match := _LIMITS.match(text)) is not None:
            return self._set_limit(match[1], 1, line.number)
        match_alone = _ALONE.match(text)
        if match_alone is not None and (self._only or text == "unlimited") and self._limit is None:
            return self._set_limit(match_alone[1], 1024, line.number)
        if re.match(r"[mM]ax locked|-l: locked|locked memory\(", text):
            return Taken.DAMAGED
        if (_OTHER.match(text) or _PROC.match(text)) and not self._only:
            begins = re.match(r"Limit\s|real-time non|core file size", text)
            return Taken.AGAIN if begins and self._limit is not None else Taken.YES
        return Taken.NO

    def _set_limit(self, limit: str, unit: int, line: int) -> Taken:
        if self._limit is not None:
            return Taken.AGAIN
        self._limit, self._unit, self.line = limit, unit, line
        return Taken.YES

    def _facts(self) -> Mapping[str, object]:
        return {
            "unlimited": None if self._limit is None else self._limit == "unlimited",
            "memlock_bytes": None if self._limit in (None, "unlimited") else int(self._limit or 0) * self._unit,
            "line": self.line,
        }

    def _missing(self) -> Iterable[str | None]:
        return (None if self._limit else "no limit of locked memory",)


def _memlock(job: Job) -> Outcome | None:
    outputs = readings_of(job, Ulimit)
    limits = [output for output in outputs if output.unlimited is not None]
    if not limits:
        return Outcome(Status.MISSING, "no limit", proofs=opening_proofs(outputs))
    limited = [output for output in limits if not output.unlimited]
    measured = listed({f"{output.memlock_bytes} bytes" for output in limited}) if limited else "unlimited"
    proofs = row_proofs((output.file, output) for output in limited or limits)
    return Outcome(passed(not limited), measured, proofs=proofs)


FIRST_UID, LAST_UID, UIDS_OF_NAMESPACE = 1_000_000_000, 1_999_999_999, 10_000
"""OpenShift gives each namespace 10,000 user ids of these; a pod runs as the first."""


class WhoAmI(HostReading):
    """The user of a pod."""

    user: str | None = Field(description="as printed: a name, or the id when it has none; None: not read")
    uid: int | None = Field(description="None: only a name was printed")
    line: int

    @property
    def of_namespace(self) -> bool | None:
        """Return whether the id is of the ranges that OpenShift gives to namespaces; None when no id is known."""
        return None if self.uid is None else FIRST_UID <= self.uid <= LAST_UID

    def _figures(self) -> str:
        return self.user or str(self.uid or "")


_FIRST_UID = r"1\d{5}0000$"
"""The first id of a namespace's range alone on a line: what whoami prints in a pod. Other figures may be anything."""
_ID = re.compile(r"uid=(\d+)(?:\(([^)]*)\))? gid=\d+")
_NAMELESS = re.compile(r"whoami: cannot find name for user ID (\d+)")
_NAME = re.compile(r"[a-z_][a-z0-9_.-]{0,31}\$?$|\d{1,10}$")


class WhoAmIParser(HostParser):
    """Reads the one line."""

    tool = "whoami"
    kind = WhoAmI
    rdma_test = frozenset({RDMA_TEST})
    starts = rf"{_FIRST_UID}|uid=\d+(?:\([^)]*\))? gid=|whoami: cannot find name|{typed('(?:whoami|id)$')}"
    command = re.compile(typed(r"(?:whoami|id)$"))

    def __init__(self) -> None:
        super().__init__()
        self._user: str | None = None
        self._uid: int | None = None
        self._done = False

    def _read_line(self, line: Line) -> Taken:
        if self._done:
            return Taken.NO
        self._done = True
        if (match := _ID.match(line.text)) is not None:
            self._uid, self._user = int(match[1]), match[2] or match[1]
        elif (match := _NAMELESS.match(line.text)) is not None:
            self._uid, self._user = int(match[1]), match[1]
        elif _NAME.match(line.text):
            self._user = line.text
            self._uid = int(line.text) if line.text.isascii() and line.text.isdecimal() else None
        else:
            return Taken.NO
        self.line = line.number
        return Taken.YES

    def _facts(self) -> Mapping[str, object]:
        return {"user": self._user, "uid": self._uid, "line": self.line}

    def _missing(self) -> Iterable[str | None]:
        return (None if self._user else "no user",)


_ROOT = ("0", "root")


def _user(job: Job) -> Outcome | None:
    outputs = [output for output in readings_of(job, WhoAmI) if output.user is not None or output.uid is not None]
    if not outputs:
        return Outcome(Status.MISSING, "no user")
    root = [output for output in outputs if output.uid == 0 or output.user in _ROOT]
    outside = [output for output in outputs if output.of_namespace is False]
    status = Status.FAIL if root else Status.WARN if outside else Status.PASS
    measured = listed(
        sorted({str(output.uid if output.uid is not None else output.user) for output in root or outside or outputs})
    )
    return Outcome(status, measured, proofs=row_proofs((output.file, output) for output in outputs))


CRITERIA = (
    Criterion(
        name="memlock-unlimited",
        title="Containers may lock any amount of memory",
        limit="unlimited",
        unit="bytes",
        applies="jobs over InfiniBand and RoCE with ulimit -l output",
        source="R-3.4.3-8, E-19a, E-64",
        needs=("ulimit",),
        judge=_memlock,
        when=lambda request: request.has_rdma_fabric,
    ),
    Criterion(
        name="unprivileged-user",
        title="The pod runs as a user of its namespace",
        limit="not root, in the range of the namespace",
        tolerance="an id outside the ranges that OpenShift assigns is a warning",
        applies="jobs with whoami or id output",
        source="R-4.1-3, E-17",
        needs=("whoami",),
        judge=_user,
    ),
)
