"""cma_roce_tos and cma_roce_mode: the class and the version of RoCE of connections that RDMA CM makes."""

import re
from collections.abc import Iterable, Mapping
from typing import Literal

from pydantic import Field

from toolkit.evidence.criterion import Criterion, Outcome, opening_proofs, passed, readings_of
from toolkit.evidence.host_parser import HostParser, HostReading, typed
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import Job, Status
from toolkit.evidence.wording import listed

ROCE_TOS = 106
"""DSCP 26 with ECN, which the switches do not drop by default."""


class CmaRoce(HostReading):
    """What one of the two commands printed."""

    what: Literal["tos", "mode"] | None = Field(description="which of them")
    device: str | None = Field(description="of the command; None: unknown")
    tos: int | None = Field(description="type of service; None: the other command, or an error")
    mode: str | None = Field(description="RoCE v2, or IB/RoCE v1; None: the other command, or an error")
    failed: str | None = Field(description="error that it printed")

    def figures(self) -> str:
        """Return the few figures that a table has room for."""
        return f"{self.device}: {self.failed or self.mode or f'TOS {self.tos}'}"


_COMMAND = typed(r"cma_roce_(?:tos|mode)\b")
_TOS = re.compile(r"\d{1,3}$")
_MODE = re.compile(r"(?:IB/)?RoCE v[12]$")
_ERROR = re.compile(r"You must be root to run this|Module rdma_cm is not loaded.*|.*[Nn]o such device.*|Invalid .*")


class CmaRoceParser(HostParser):
    """Reads the command, without which a number alone is none of its output, and the line after it."""

    tool = "cma-roce"
    kind = CmaRoce
    starts = _COMMAND
    command = re.compile(_COMMAND)
    argument = re.compile(r"cma_roce_(?P<what>tos|mode)(?:.*-d (?P<device>\w+))?")
    contiguous = True

    def __init__(self) -> None:
        super().__init__()
        self._answer: dict[str, object] = {}

    def read_line(self, line: Line) -> Taken:
        """Read a line."""
        text = line.text
        if self._answer:
            return Taken.NO
        if _ERROR.fullmatch(text):
            self._answer = {"failed": text}
        elif self.arguments["what"] == "tos" and _TOS.match(text):
            self._answer = {"tos": int(text)}
        elif self.arguments["what"] == "mode" and _MODE.match(text):
            self._answer = {"mode": text}
        return Taken.YES if self._answer else Taken.NO

    def facts(self) -> Mapping[str, object]:
        """Return the answer."""
        return {"tos": None, "mode": None, "failed": None, **self._answer}

    def missing(self) -> Iterable[str | None]:
        """Return the error, or that there is no answer."""
        failed = self._answer.get("failed")
        return (str(failed) if failed else None if self._answer else "no answer",)


def _classed(job: Job) -> Outcome | None:
    answers = [answer for answer in readings_of(job, CmaRoce) if answer.tos is not None or answer.mode is not None]
    if not answers:
        return Outcome(Status.MISSING, "no answer")
    correct = [answer.tos == ROCE_TOS if answer.tos is not None else answer.mode == "RoCE v2" for answer in answers]
    measured = listed(sorted({answer.mode or f"TOS {answer.tos}" for answer in answers}))
    return Outcome(passed(all(correct)), measured, proofs=opening_proofs(answers))


CRITERIA = (
    Criterion(
        name="connection-class",
        title="RDMA CM connections use the lossless traffic class",
        limit=f"TOS {ROCE_TOS} (DSCP 26 with ECN), RoCE v2",
        applies="hosts with cma_roce_tos or cma_roce_mode output",
        source="N-1.1, github.com/Mellanox/mlnx-tools",
        judge=_classed,
    ),
)
