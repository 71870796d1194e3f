"""mlxconfig: settings of an HCA's firmware, of which ATS_ENABLED is one (N-3.6, N-3.7)."""

import re
from collections.abc import Iterable, Mapping
from typing import Literal

from pydantic import Field

from evidence.criterion import Criterion, Found, begins, of, passed
from evidence.host_parser import HostReading, RowsParser, typed
from evidence.parser import Taken
from evidence.text import Line
from evidence.verdict import Job, Status
from evidence.wording import listed
from hardware.model import Model

Ats = Literal["absent", "off", "on"]


class FirmwareSetting(Model):
    """A setting, in the columns that were printed. Values are as printed, e.g. False(0)."""

    name: str
    values: tuple[str, ...] = Field(description="one for each column")
    line: int


class MlxConfig(HostReading):
    """Settings of one HCA."""

    device: str | None = Field(description="e.g. /dev/mst/mt4123_pciconf0; None: unknown")
    kind: str | None = Field(description="device type, e.g. ConnectX6")
    columns: tuple[str, ...] = Field(description="e.g. Next Boot, New; empty when only lines of settings are there")
    rows: tuple[FirmwareSetting, ...]
    reboot_needed: bool = Field(description="whether settings were applied, which count from the next boot on")
    failed: str | None = Field(description="error that it printed")

    @property
    def ats(self) -> Ats | None:
        """Return whether address translation is on, in the last column: `absent` is firmware without it (N-3.6).

        None when that could not be determined: of a query of which nothing else was printed, or not all of it.
        """
        found = next((row.values[-1] for row in self.rows if row.name == "ATS_ENABLED"), None)
        if found is not None:
            return "on" if found == "True(1)" else "off"
        return "absent" if self.complete else None

    def figures(self) -> str:
        """Return the few figures that a table has room for."""
        return f"ATS {self.ats or 'unknown'}"


_COMMAND = typed(r"(?:mlxconfig|mstconfig)\b")
_ROW = re.compile(r"(?:\s{2,}|\s*\*\s+)?(?:RO\s+)?([A-Z][A-Z0-9_]{2,}(?:\[[\d.]+\])?)\s{2,}(\S.*)$")
_COLUMNS = re.compile(r"Configurations:\s+(\S.*)$")
_HEAD = re.compile(r"(Device type|Name|Description|Device):\s+(\S.*)$")
_VALUE = re.compile(r"[\w.+-]+(?:\([\w]+\))?|Array\[[\d.]+\]|N/A")
_KNOWN = re.compile(r"(?:\s*\*)?\s*ATS_ENABLED\b")
_ERROR = re.compile(r"-E- (.+)")
_OTHER = re.compile(
    r"Device #\d+:|-+$|\s*Apply new Configuration\?|Applying\.\.\.|The '\*' shows|-I- |\s*-I- |"
    r"Continue with|Failed to "
)


class MlxConfigParser(RowsParser):
    """Reads query and set, also filtered."""

    tool = "mlxconfig"
    kind = MlxConfig
    starts = rf"Device #\d+:$|Device type:\s+ConnectX|\s*(?:\*\s*)?ATS_ENABLED\s+(?:True|False)\(|{_COMMAND}"
    command = re.compile(_COMMAND)
    argument = re.compile(r"-d\s+(?P<device>\S+)")
    no_rows = "no setting"

    def __init__(self) -> None:
        super().__init__()
        self._head: dict[str, str] = {}
        self._columns: tuple[str, ...] = ()
        self._reboot = False
        self._failed: str | None = None

    def take(self, line: Line) -> Taken:
        """Read a line."""
        text = line.text
        if text.startswith("Device #") and (self._columns or self.rows):
            return Taken.AGAIN
        if (head := _HEAD.match(text)) is not None:
            self._head[head[1]] = head[2]
        elif (columns := _COLUMNS.match(text)) is not None:
            self._columns = tuple(re.split(r"\s{2,}", columns[1]))
        elif (error := _ERROR.match(text)) is not None:
            self._failed = error[1]
        elif (row := _ROW.match(text)) is not None:
            return self._row(row[1], row[2].split(), line.number)
        elif _OTHER.match(text):
            self._reboot = self._reboot or "Please reboot" in text
        else:
            return Taken.DAMAGED if _KNOWN.match(text) else Taken.NO
        return Taken.YES

    def _row(self, name: str, values: list[str], line: int) -> Taken:
        if not self._columns and not _KNOWN.match(name):
            return Taken.NO
        expected = len(self._columns) or len(values)
        if len(values) != expected or not all(map(_VALUE.fullmatch, values)):
            return Taken.DAMAGED
        if name == "ATS_ENABLED" and not all(re.fullmatch(r"True\(1\)|False\(0\)", value) for value in values):
            return Taken.DAMAGED
        return self.add(name, FirmwareSetting(name=name, values=tuple(values), line=line), Taken.DAMAGED)

    def facts(self) -> Mapping[str, object]:
        """Return the HCA, and what the command did."""
        return {
            "device": self._head.get("Device", self.arguments["device"]),
            "kind": self._head.get("Device type"),
            "columns": self._columns,
            "reboot_needed": self._reboot,
            "failed": self._failed,
        }

    def missing(self) -> Iterable[str | None]:
        """Return the error."""
        return (self._failed,)


def _ats_firmware(job: Job) -> Found | None:
    found = of(job, MlxConfig)
    if any(one.ats is None for one in found):
        return Found(Status.MISSING, "output is not whole", proofs=begins(found))
    waits = any(one.reboot_needed for one in found)
    seen = sorted({str(one.ats) for one in found})
    measured = f"{listed(seen)}{', from the next boot on' if waits else ''}"
    return Found(passed(seen == ["on"] and not waits), measured, proofs=begins(found))


CRITERIA = (
    Criterion(
        name="ats-firmware",
        title="The adapter's firmware has ATS on",
        limit="ATS_ENABLED on, now",
        applies="machines that show mlxconfig",
        source="N-3.6, N-3.7",
        look=_ats_firmware,
    ),
)
