"""The table of nvidia-smi: two lines a GPU in drivers of 2020, three in those since MIG."""

import re

from toolkit.evidence.parser import Taken
from toolkit.evidence.tools.nvidia_smi.model import Gpu, MigDevice

BANNER = r"\|\s*NVIDIA-SMI\s+\d[\d.]*\s"
"""How its first line with text begins."""

WIDEST = 300
"""Characters of a line of the table, at most; those of today have 91."""

_VERSIONS = re.compile(
    r"\|\s*NVIDIA-SMI\s+(\S+)\s+(?:Driver|KMD) Version:\s+(\S+)(?:\s+CUDA (?:UMD )?Version:\s+(\S+))?\s*\|$"
)
"""Drivers from branch 610 on call the versions those of the kernel-mode driver and of CUDA's user-mode driver."""
_FIRST = re.compile(
    r"\|\s*(\d+)\s+(\S.*?)\s+(?:On|Off|N/A)\s*\|\s*([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d)\s+(?:On|Off|N/A)"
    r"\s*\|\s*(\d+|N/A|On|Off)\s*\|$"
)
_SECOND = re.compile(
    r"\|\s*(?:\d+%|N/A|ERR!)\s+(\d+C|N/A|ERR!)\s+(?:P\d+|N/A|ERR!)\s+(\d+W|N/A|ERR!|Unknown Error)\s*/"
    r"\s*(\d+W|N/A|ERR!)\s*\|\s*(\d+)MiB\s*/\s*(\d+)MiB\s*\|\s*(\d+%|N/A|ERR!)\s+\S.*?\s*\|$"
)
_THIRD = re.compile(r"\|\s+\|\s+\|\s*(Enabled\*?|Disabled\*?|N/A)\s*\|$")
_MIG = re.compile(
    r"\|\s*(?P<gpu>\d+)\s+(?P<gpu_instance>\d+)\s+(?P<compute_instance>\d+)\s+(?P<device>\d+)\s*\|"
    r"\s*\d+MiB\s*/\s*(?P<memory_mib>\d+)MiB\s*\|.*\|$"
)
_MIG_SECOND = re.compile(r"\|\s+\|\s*\d+MiB\s*/\s*\d+MiB\s*\|.*\|$")
_PROCESS = re.compile(r"\|\s+\d+(?:\s+(?:\d+|N/A)\s+(?:\d+|N/A))?\s+\d+\s+[CGM+]+\s+\S.*?\s+(?:\d+MiB|N/A)\s*\|$")
_NO_PROCESS = re.compile(r"\|\s+(?:No running processes found|Not Supported|Insufficient Permissions)\s*\|$")
_FRAME = re.compile(r"[+|][-=+]{3,}[+|]$")
_HEADINGS = re.compile(
    r"\|\s*(?:GPU\s+(?:Name|GI|PID)|Fan\s+Temp|MIG devices:|ID\s+ID|Processes:|\|.*MIG M\.|\|[^|]*\|\s*ECC\|)"
)


def figure(text: str) -> int | None:
    """Return the whole number that a cell such as 58W or 0% begins with; None for N/A and ERR!."""
    match = re.match(r"\d+", text)
    return int(match[0]) if match else None


class Table:
    """Versions, GPUs, their parts, the number of processes."""

    def __init__(self) -> None:
        self.versions: tuple[str, str, str | None] | None = None
        self.rows: list[Gpu] = []
        self.parts: list[MigDevice] = []
        self.processes: int | None = None
        self.half: Gpu | None = None
        self._listing = False
        self.closed = False
        """Whether the table of processes has ended."""

    def read_line(self, text: str, line: int) -> Taken:
        """Read a line that begins with | or +."""
        if len(text) > WIDEST:
            return Taken.DAMAGED if self.versions and not self.closed else Taken.NO
        if re.match(BANNER, text):
            return self._banner(text)
        if self.closed:
            return Taken.NO
        if _FRAME.match(text):
            self.closed = self._listing and self.processes is not None and text[0] == "+"
            return Taken.YES
        if _HEADINGS.match(text):
            self._listing = self._listing or "Processes:" in text
            return Taken.YES
        return self._process(text) if self._listing else self._gpu(text, line)

    def _banner(self, text: str) -> Taken:
        match = _VERSIONS.match(text)
        if self.versions is not None:
            return Taken.AGAIN
        if match is None:
            return Taken.DAMAGED
        self.versions = (match[1], match[2], match[3])
        return Taken.YES

    def _process(self, text: str) -> Taken:
        if _NO_PROCESS.match(text):
            self.processes = 0
        elif _PROCESS.match(text):
            self.processes = (self.processes or 0) + 1
        else:
            return Taken.DAMAGED
        return Taken.YES

    def _gpu(self, text: str, line: int) -> Taken:
        """Read one of the lines of a GPU: it is a row when its first two are there."""
        half = self.half
        if (first := _FIRST.match(text)) is not None:
            self.half = Gpu(
                index=int(first[1]), name=first[2], bus=first[3], uncorrected_ecc=figure(first[4]), line=line
            )
            return Taken.YES if half is None else Taken.DAMAGED
        if (second := _SECOND.match(text)) is not None and half is not None:
            more = {
                "temperature_c": figure(second[1]),
                "power_w": figure(second[2]),
                "power_limit_w": figure(second[3]),
                "memory_used_mib": int(second[4]),
                "memory_mib": int(second[5]),
                "utilisation_percent": figure(second[6]),
            }
            self.rows.append(Gpu.model_validate({**half.model_dump(), **more}))
            self.half = None
            return Taken.YES
        if (third := _THIRD.match(text)) is not None and self.rows and half is None:
            divided = None if third[1] == "N/A" else third[1].startswith("Enabled")
            self.rows[-1] = self.rows[-1].model_copy(update={"mig": divided})
            return Taken.YES
        return self._part(text, line)

    def _part(self, text: str, line: int) -> Taken:
        if (part := _MIG.match(text)) is not None:
            self.parts.append(MigDevice.model_validate({**part.groupdict(), "line": line}))
            return Taken.YES
        recognised = _MIG_SECOND.match(text) or "No MIG devices found" in text or not text.strip("| ")
        return Taken.YES if recognised else Taken.DAMAGED
