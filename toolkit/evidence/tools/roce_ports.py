"""How a host classes the packets of RoCE: cma_roce_tos and cma_roce_mode for RDMA CM, and mlnx_qos for a port."""

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

    def _figures(self) -> str:
        return f"{self.device}: {self.failed or self.mode or f'TOS {self.tos}'}"


_CMA_COMMAND = typed(r"cma_roce_(?:tos|mode)\b")
_TOS = re.compile(r"\d{1,3}$")
_MODE = re.compile(r"(?:IB/)?RoCE v[12]$")
_ERROR = re.compile(r"You must be root to run this|Module rdma_cm is not loaded.*|.*[Nn]o such device.*|Invalid .*")


class CmaRoceParser(HostParser):
    """Reads the command, without which a number alone is none of its output, and the line after it."""

    tool = "cma-roce"
    kind = CmaRoce
    starts = _CMA_COMMAND
    command = re.compile(_CMA_COMMAND)
    argument = re.compile(r"cma_roce_(?P<what>tos|mode)(?:.*-d (?P<device>\w+))?")
    contiguous = True

    def __init__(self) -> None:
        super().__init__()
        self._answer: dict[str, object] = {}

    def _read_line(self, line: Line) -> Taken:
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

    def _facts(self) -> Mapping[str, object]:
        return {"tos": None, "mode": None, "failed": None, **self._answer}

    def _missing(self) -> Iterable[str | None]:
        failed = self._answer.get("failed")
        return (str(failed) if failed else None if self._answer else "no answer",)


def _classed(job: Job) -> Outcome | None:
    answers = [answer for answer in readings_of(job, CmaRoce) if answer.tos is not None or answer.mode is not None]
    if not answers:
        return Outcome(Status.MISSING, "no answer")
    correct = [answer.tos == ROCE_TOS if answer.tos is not None else answer.mode == "RoCE v2" for answer in answers]
    measured = listed(sorted({answer.mode or f"TOS {answer.tos}" for answer in answers}))
    return Outcome(passed(all(correct)), measured, proofs=opening_proofs(answers))


ROCE_DSCP = 26
ROCE_PRIORITY = 3
"""Of RoCE, as the switches have it by default."""


class MlnxQos(HostReading):
    """The state of one interface."""

    interface: str | None = Field(description="of the command; None: unknown")
    trust: str | None = Field(description="dscp or pcp; None: not printed")
    priorities: Mapping[int, int] = Field(description="DSCP -> priority")
    pfc: tuple[int, ...] | None = Field(description="priorities with PFC; None: not printed")

    def _figures(self) -> str:
        return f"trust {self.trust}, PFC on {listed(map(str, self.pfc or ())) or 'none'}"


_QOS_COMMAND = typed(r"mlnx_qos\b")
_TRUST = re.compile(r"Priority trust state:\s*(dscp|pcp)$")
_MAP = re.compile(r"\s+prio:([0-7]) dscp:((?:\d\d,)+)$")
_PFC = re.compile(r"\s+enabled((?:\s+[01]){8})$")
_OTHER = re.compile(
    r"DCBX mode:|dscp2prio mapping:|default priority:|Receive buffer size|Cable len:|PFC configuration:|\s+priority[: ]"
    r"|\s+buffer\s+\d|tc: ?\d"
)


class MlnxQosParser(HostParser):
    """Reads what is printed without other options than -i."""

    tool = "mlnx-qos"
    kind = MlnxQos
    starts = rf"DCBX mode:|Priority trust state:|{_QOS_COMMAND}"
    command = re.compile(_QOS_COMMAND)
    argument = re.compile(r"(?:-i|--interface)[ =]?(?P<interface>[\w.-]+)")

    def __init__(self) -> None:
        super().__init__()
        self._trust: str | None = None
        self._map: dict[int, int] = {}
        self._pfc: tuple[int, ...] | None = None
        self._dcbx = False

    def _read_line(self, line: Line) -> Taken:
        text = line.text
        if (trust := _TRUST.match(text)) is not None:
            if self._trust is not None:
                return Taken.AGAIN
            self._trust = trust[1]
        elif (row := _MAP.match(text)) is not None:
            self._map |= {int(dscp): int(row[1]) for dscp in row[2].split(",") if dscp}
        elif (pfc := _PFC.match(text)) is not None:
            self._pfc = tuple(number for number, on in enumerate(pfc[1].split()) if on == "1")
        elif text.startswith("DCBX mode:"):
            again, self._dcbx = self._dcbx, True
            return Taken.AGAIN if again else Taken.YES
        else:
            return Taken.YES if _OTHER.match(text) else Taken.NO
        return Taken.YES

    def _facts(self) -> Mapping[str, object]:
        return {"trust": self._trust, "priorities": self._map, "pfc": self._pfc}

    def _missing(self) -> Iterable[str | None]:
        return (None if self._trust else "no trust state", None if self._pfc is not None else "no PFC configuration")


def _lossless(job: Job) -> Outcome | None:
    ports = [port for port in readings_of(job, MlnxQos) if port.trust and port.pfc is not None]
    if not ports:
        return Outcome(Status.MISSING, "no trust state, or no PFC configuration")
    faults = [text for port in ports for text in _faults(port)]
    return Outcome(passed(not faults), listed(faults, 4) or "as the switches", proofs=opening_proofs(ports))


def _faults(port: MlnxQos) -> Iterable[str]:
    name = port.interface or "port"
    if port.trust != "dscp":
        yield f"{name}: trust {port.trust}"
    if port.pfc != (ROCE_PRIORITY,):
        yield f"{name}: PFC on {listed(map(str, port.pfc or ())) or 'none'}"
    if port.priorities and port.priorities.get(ROCE_DSCP) != ROCE_PRIORITY:
        yield f"{name}: DSCP {ROCE_DSCP} has priority {port.priorities.get(ROCE_DSCP)}"


CRITERIA = (
    Criterion(
        name="connection-class",
        title="RDMA CM connections use the lossless traffic class",
        limit=f"TOS {ROCE_TOS} (DSCP 26 with ECN), RoCE v2",
        applies="hosts with cma_roce_tos or cma_roce_mode output",
        source="N-1.1, github.com/Mellanox/mlnx-tools",
        needs=("cma-roce",),
        judge=_classed,
    ),
    Criterion(
        name="host-lossless",
        title="RoCE ports of hosts classify packets as the switches do",
        limit=f"trust dscp, PFC on {ROCE_PRIORITY} alone, DSCP {ROCE_DSCP} to priority {ROCE_PRIORITY}",
        applies="hosts with mlnx_qos output",
        source="N-1.1",
        needs=("mlnx-qos",),
        judge=_lossless,
    ),
)
