"""A run of a perftest program while it is being read, from its command line to what it amounts to in the end."""

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from pydantic import Field

from core.model import Model
from core.wording import plural
from toolkit.evidence.model import Unread
from toolkit.evidence.parser import Common, ending
from toolkit.evidence.tools.perftest.model import (
    GB_PRINTED_BYTES,
    MB_BYTES,
    Bandwidth,
    Contradiction,
    CpuFrequency,
    End,
    Latency,
    Perftest,
    Unit,
)

COMMAND = (
    r"(?:[+$]\s+|\S*[$#]\s+)?(?:(?:sudo|env|\w+=\S*|(?:numactl|taskset)(?:\s+-\S+(?:\s+[\d,-]+)?)+)\s+)*(?:\S*/)?"
    r"(?:ib_(?:write|send|read|atomic)_(?:bw|lat))(?=\s|$)"
)
_command = re.compile(COMMAND)
_WITHOUT_VALUE = frozenset("abeFRgHUCNhVzvPZO")
"""Short options of perftest that take no value."""
_WITH_VALUE = frozenset(
    {
        "--CPU-freq", "--connection", "--cq-mod", "--duration", "--gid-index", "--ib-dev", "--ib-port", "--inline_size",
        "--iters", "--mtu", "--outs", "--port", "--qp", "--qp-timeout", "--report-both", "--rx-depth", "--size", "--sl",
        "--tos", "--tx-depth", "--use_cuda", "--use_cuda_bus_id", "--out_json_file",
    }
)  # fmt: skip


class Command(Model):
    """The options of a command that decide how its output is read."""

    program: str = Field(description="e.g. ib_write_bw")
    device: str | None = Field(description="HCA")
    peer: str | None = Field(description="host to connect to; None: the program listens")
    all_sizes: bool
    bidirectional: bool
    gpu: bool

    @classmethod
    def of(cls, text: str) -> "Command | None":
        """Return the command that a line shows, None when it shows none."""
        match = _command.match(text)
        if match is None:
            return None
        try:
            words = shlex.split(text[match.end() :], comments=False)
        except ValueError:
            words = text[match.end() :].split()
        device, hosts, before = None, [], ""
        for word in words:
            takes = before in _WITH_VALUE or (len(before) == 2 and before[1] not in _WITHOUT_VALUE)  # noqa: PLR2004
            if takes and before.startswith("-"):
                device = word if before in ("-d", "--ib-dev") else device
                before = ""
                continue
            if word.startswith("--ib-dev="):
                device = word.removeprefix("--ib-dev=")
            elif not word.startswith("-"):
                hosts.append(word)
            elif word.startswith("-d") and len(word) > 2 and word[1] != "-":  # noqa: PLR2004
                device = word[2:]
            before = word
        options = {word.partition("=")[0] for word in words}
        return cls(
            program=match[0].split()[-1].rpartition("/")[2],
            device=device,
            peer=hosts[0] if hosts else None,
            all_sizes=bool(options & {"-a", "--all"}),
            bidirectional=bool(options & {"-b", "--bidirectional"}),
            gpu=bool(options & {"--use_cuda", "--use_cuda_bus_id"}),
        )


KEPT = 100
LARGEST = 8_388_608
"""Bytes of the last size of -a."""
_MILLION = 1e6
_VERBS = {"Send": "send", "RDMA_Write": "write", "RDMA_Write_imm": "write", "RDMA_Read": "read", "Atomic": "atomic"}


class Measured(NamedTuple):
    """A row, and how far its average and its rate may be off by rounding."""

    row: Bandwidth
    average: float
    rate: float


@dataclass
class Run:
    """What was read so far."""

    command: Command | None = None
    title: str | None = None
    waited: bool = False
    settings: dict[str, object] = field(default_factory=dict)
    ends: dict[Literal["local", "remote"], list[End]] = field(default_factory=lambda: {"local": [], "remote": []})
    last_end: Literal["local", "remote"] | None = None
    frequency: CpuFrequency | None = None
    gpu: bool = False
    gpu_name: str | None = None
    unit: Unit | None = None
    has_table: bool = False
    headings: int = 0
    """Of the results: two where both sides write to one terminal, line by line."""
    closed: int = 0
    """Lines behind results."""
    measured: list[Measured] = field(default_factory=list)
    latencies: list[Latency] = field(default_factory=list)
    warnings: list[Unread] = field(default_factory=list)
    failures: list[Unread] = field(default_factory=list)
    damaged: int = 0
    ended: bool = False
    faults: list[str] = field(default_factory=list)

    @staticmethod
    def add(lines: list[Unread], line: Unread) -> None:
        """Add a line to a list, up to a limit."""
        if len(lines) < KEPT:
            lines.append(line)

    def has_rows(self) -> bool:
        """Return whether results, or what is left of them, are there."""
        return bool(self.measured or self.latencies) or (self.has_table and self.damaged > 0)

    def _program(self) -> str | None:
        if self.command is not None:
            return self.command.program
        if self.title is None:
            return None
        verb = _VERBS.get(self.title.partition(" ")[0])
        kind = "bw" if " BW " in self.title else "lat" if " Latency " in self.title else None
        return f"ib_{verb}_{kind}" if verb and kind else None

    def _role(self, *, bidirectional: bool) -> Literal["server", "client"] | None:
        if self.headings > 1:
            return None
        if self.waited:
            return "server"
        if self.command is not None:
            return "client" if self.command.peer else "server"
        return "client" if "tx_depth" in self.settings and not bidirectional else None

    def reading(self, common: Common) -> Perftest:
        """Return what the run amounts to."""
        command = self.command
        bidirectional = "Bidirectional" in (self.title or "") or bool(command and command.bidirectional)
        contradictions = [
            Contradiction(row=measured.row, why=why)
            for measured in self.measured
            if (why := contradiction(measured)) is not None
        ]
        wrong = {contradiction.row.line for contradiction in contradictions}
        rows = [measured.row for measured in self.measured if measured.row.line not in wrong]
        sizes = [row.bytes for row in rows] + [row.bytes for row in self.latencies]
        connection = self.settings.get("connection_type")
        missing = _missing(sizes, every=bool(command and command.all_sizes) and connection != "UD")
        role = self._role(bidirectional=bidirectional)
        faults = self._faults(role, len(sizes), missing, len(contradictions))
        settings = dict(self.settings)
        device = settings.pop("device", None) or (command.device if command else None)
        return Perftest.model_validate(
            {
                **common,
                **settings,
                **ending(*faults),
                "program": self._program(),
                "title": self.title,
                "role": role,
                "peer": command.peer if command else None,
                "bidirectional": bidirectional,
                "device": device,
                "gpu": self.gpu or bool(command and command.gpu),
                "gpu_name": self.gpu_name,
                "local": tuple(self.ends["local"]),
                "remote": tuple(self.ends["remote"]),
                "unit": self.unit,
                "bandwidth": tuple(rows),
                "latency": tuple(self.latencies),
                "missing_bytes": tuple(missing),
                "contradictions": tuple(contradictions),
                "cpu_frequency": self.frequency,
                "warnings": tuple(self.warnings),
                "failures": tuple(self.failures),
            }
        )

    def _faults(self, role: str | None, rows: int, missing: Sequence[int], contradictions: int) -> list[str]:
        faults = list(self.faults)
        if self.failures:
            faults.append(f"the program failed: {self.failures[0].text.strip()}")
        if self.title is None:
            faults.append("no title")
        if not rows and role == "server" and not self.damaged:
            faults.append("no results: the side that listens may print none, the client does")
        elif not rows:
            faults.append("no results" if self.has_table else "no table")
        elif not self.ended:
            faults.append("no line behind the results")
        if missing:
            faults.append(f"sizes are missing: {', '.join(str(size) for size in missing)} B")
        if self.damaged:
            faults.append(f"{self.damaged} damaged lines")
        if contradictions:
            faults.append(plural(contradictions, "row contradicts itself", "rows contradict themselves"))
        return faults


def contradiction(measured: Measured) -> str | None:
    """Return why a row cannot be right, None when it can: bandwidth is rate times size."""
    row = measured.row
    if row.message_rate_mpps is None:
        return None
    divisor = MB_BYTES if row.unit == "MB/s" else GB_PRINTED_BYTES
    by_rate = row.message_rate_mpps * _MILLION * row.bytes / divisor
    allowed = measured.average + measured.rate * _MILLION * row.bytes / divisor
    if abs(by_rate - row.average_printed) <= allowed * (1 + 1e-6) + 1e-9 * by_rate:
        return None
    return f"{row.average_printed:g} {row.unit} are not {row.message_rate_mpps:g} Mpps of {row.bytes} B"


def _missing(sizes: Iterable[int], *, every: bool) -> list[int]:
    """Return the powers of two that are not there, between the sizes of a table of several, or of all."""
    printed = set(sizes)
    if not printed or (len(printed) == 1 and not every):
        return []
    size, last = (2, LARGEST) if every else (min(printed), min(max(printed), LARGEST))
    missing: list[int] = []
    while 0 < size <= last:
        if size not in printed:
            missing.append(size)
        size *= 2
    return missing
