"""whoami and id: as whom a pod ran."""

import re
from collections.abc import Iterable, Mapping

from pydantic import Field

from toolkit.evidence.criterion import Criterion, Outcome, readings_of, row_proofs
from toolkit.evidence.host_parser import HostParser, HostReading, typed
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import RDMA_TEST, Job, Status
from toolkit.evidence.wording import listed

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

    def figures(self) -> str:
        """Return the few figures that a table has room for."""
        return self.user or str(self.uid or "")


_ALONE = r"1\d{5}0000$"
"""The first id of a namespace's range alone on a line: what whoami prints in a pod. Other figures may be anything."""
_ID = re.compile(r"uid=(\d+)(?:\(([^)]*)\))? gid=\d+")
_NAMELESS = re.compile(r"whoami: cannot find name for user ID (\d+)")
_NAME = re.compile(r"[a-z_][a-z0-9_.-]{0,31}\$?$|\d{1,10}$")


class WhoAmIParser(HostParser):
    """Reads the one line."""

    tool = "whoami"
    kind = WhoAmI
    rdma_test = frozenset({RDMA_TEST})
    starts = rf"{_ALONE}|uid=\d+(?:\([^)]*\))? gid=|whoami: cannot find name|{typed('(?:whoami|id)$')}"
    command = re.compile(typed(r"(?:whoami|id)$"))

    def __init__(self) -> None:
        super().__init__()
        self._user: str | None = None
        self._uid: int | None = None
        self._done = False

    def read_line(self, line: Line) -> Taken:
        """Read a line."""
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

    def facts(self) -> Mapping[str, object]:
        """Return the user."""
        return {"user": self._user, "uid": self._uid, "line": self.line}

    def missing(self) -> Iterable[str | None]:
        """Return whether there is no user."""
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
        name="unprivileged-user",
        title="The pod runs as a user of its namespace",
        limit="not root, in the range of the namespace",
        tolerance="an id outside the ranges that OpenShift assigns is a warning",
        applies="jobs with whoami or id output",
        source="R-4.1-3, E-17",
        judge=_user,
    ),
)
