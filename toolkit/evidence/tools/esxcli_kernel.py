"""`esxcli system settings kernel list`: options of ESXi's kernel, of which atsSupport is one."""

import re

from pydantic import Field

from core.model import Model
from toolkit.evidence.criterion import Criterion, Outcome, opening_proofs, passed, readings_of, row_proofs
from toolkit.evidence.host_parser import HostReading, RowsParser, record
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import Job, Status


class KernelOption(Model):
    """An option."""

    name: str
    kind: str = Field(description="e.g. Bool")
    configured: str = Field(description="from the next boot on, e.g. TRUE")
    runtime: str = Field(description="now, e.g. TRUE")
    default: str
    line: int


class EsxcliKernel(HostReading):
    """Options of one host."""

    rows: tuple[KernelOption, ...]

    def option(self, name: str) -> KernelOption | None:
        """Return an option, None when it is not listed."""
        return next((row for row in self.rows if row.name == name), None)


_COMMAND = r"(?:\[[^\]]*\]\s*)?(?:[#$]\s*)?esxcli system settings kernel (list|set)\b"
_HEADER = re.compile(r"Name\s+Type\s+Configured\s+Runtime\s+Default\s+Description$")
_RULE = re.compile(r"-+(?:\s+-+){5}$")
_ROW = re.compile(
    r"(?P<name>\w+)\s+(?P<kind>Bool|String|u?int(?:8|16|32|64))\s+(?P<configured>\S+)\s+(?P<runtime>\S+)"
    r"\s+(?P<default>\S+)\s+\S.*$",
    re.IGNORECASE,
)


class EsxcliKernelParser(RowsParser):
    """Reads the table."""

    tool = "esxcli-kernel"
    kind = EsxcliKernel
    starts = rf"{_HEADER.pattern}|{_COMMAND.replace('(list|set)', 'list')}"
    contiguous = True
    no_rows = "no option"

    def __init__(self) -> None:
        super().__init__()
        self._headed = self._ruled = False

    def read_line(self, line: Line) -> Taken:
        """Read a line."""
        text = line.text
        if (command := re.match(_COMMAND, text)) is not None:
            return Taken.AGAIN if self._headed else Taken.YES if command[1] == "list" else Taken.NO
        if _HEADER.match(text):
            again, self._headed = self._headed, True
            return Taken.AGAIN if again else Taken.YES
        if self._headed and not self._ruled and _RULE.match(text):
            self._ruled = True
            return Taken.YES
        if not self._ruled or (row := _ROW.match(text)) is None:
            cut = self._headed and re.match(r"\w+\s+(?:Bool|String|u?int)", text)
            return Taken.DAMAGED if cut else Taken.NO
        return self.add(row["name"], record(KernelOption, row, line), Taken.DAMAGED)


def _ats_host(job: Job) -> Outcome | None:
    listings = readings_of(job, EsxcliKernel)
    options = [(listing.file, option) for listing in listings if (option := listing.option("atsSupport")) is not None]
    if not options:
        return Outcome(Status.MISSING, "atsSupport is not listed", proofs=opening_proofs(listings))
    enabled = all((option.configured, option.runtime) == ("TRUE", "TRUE") for _, option in options)
    _, last = options[-1]
    proofs = row_proofs(options)
    return Outcome(passed(enabled), f"configured {last.configured}, runtime {last.runtime}", proofs=proofs)


CRITERIA = (
    Criterion(
        name="ats-host",
        title="The host's kernel supports ATS",
        limit="Configured TRUE, Runtime TRUE",
        applies="hosts with esxcli system settings kernel output",
        source="N-2.2",
        judge=_ats_host,
    ),
)
