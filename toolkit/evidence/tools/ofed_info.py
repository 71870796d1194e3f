"""`ofed_info -s`: the version of NVIDIA's own network driver on a host."""

import re
from collections.abc import Iterable, Mapping

from pydantic import Field

from toolkit.evidence.criterion import Criterion, Outcome, opening_proofs, passed, readings_of
from toolkit.evidence.host_parser import HostParser, HostReading, typed
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import Job
from toolkit.evidence.wording import listed


class OfedInfo(HostReading):
    """What a host has."""

    version: str | None = Field(description="e.g. 4.7-3.2.9.0; None: the output is not whole")

    def figures(self) -> str:
        """Return the version."""
        return self.version or ""


_VERSION = re.compile(r"(?:MLNX_OFED_LINUX|OFED-internal)-(\d+\.\d+-\d+(?:\.\d+)*):?$")


class OfedInfoParser(HostParser):
    """Reads the one line."""

    tool = "ofed-info"
    kind = OfedInfo
    starts = rf"(?:MLNX_OFED_LINUX|OFED-internal)-\d|{typed('ofed_info')}\b"
    command = re.compile(typed(r"ofed_info\b"))
    contiguous = True

    def __init__(self) -> None:
        super().__init__()
        self._version: str | None = None

    def read_line(self, line: Line) -> Taken:
        """Read a line."""
        if (match := _VERSION.match(line.text)) is None:
            return Taken.DAMAGED if re.match(r"(?:MLNX_OFED_LINUX|OFED-internal)-", line.text) else Taken.NO
        if self._version is not None:
            return Taken.AGAIN
        self._version = match[1]
        return Taken.YES

    def facts(self) -> Mapping[str, object]:
        """Return the version."""
        return {"version": self._version}

    def missing(self) -> Iterable[str | None]:
        """Return that there is none."""
        return (None if self._version else "no version",)


def _one_version(job: Job) -> Outcome | None:
    outputs = [output for output in readings_of(job, OfedInfo) if output.version]
    versions = sorted({output.version for output in outputs if output.version})
    return Outcome(passed(len(versions) == 1), listed(versions), proofs=opening_proofs(outputs)) if versions else None


CRITERIA = (
    Criterion(
        name="one-ofed",
        title="All hosts have the same version of MLNX_OFED",
        limit="one version",
        applies="machines with ofed_info -s output",
        source="R-3.2.2-1",
        judge=_one_version,
    ),
)
