"""mlxconfig: settings of an HCA's firmware, of which ATS_ENABLED is one (N-3.6, N-3.7)."""

import re
from typing import ClassVar, Literal

from pydantic import Field

from evidence.blocks import HostParser, HostReading, typed
from evidence.parser import Common, Taken
from evidence.text import Line
from hardware.model import Model

Ats = Literal["absent", "off", "on"]


class FirmwareSetting(Model):
    """A setting, in the columns that were printed. Values are as printed, e.g. False(0)."""

    name: str
    values: tuple[str, ...] = Field(description="one for each column")
    line: int


class MlxConfig(HostReading):
    """Settings of one HCA."""

    device: str | None = Field(description="e.g. /dev/mst/mt4123_pciconf0; None: not told")
    kind: str | None = Field(description="device type, e.g. ConnectX6")
    columns: tuple[str, ...] = Field(description="e.g. Next Boot, New; empty when only lines of settings are there")
    rows: tuple[FirmwareSetting, ...]
    reboot_needed: bool = Field(description="whether settings were applied, which count from the next boot on")
    failed: str | None = Field(description="error that it printed")

    @property
    def ats(self) -> Ats | None:
        """Return whether address translation is on, in the last column: `absent` is firmware without it (N-3.6).

        None when that cannot be told: of a query of which nothing else was printed, or not all of it.
        """
        found = next((row.values[-1] for row in self.rows if row.name == "ATS_ENABLED"), None)
        if found is not None:
            return "on" if found == "True(1)" else "off"
        return "absent" if self.complete else None


_COMMAND = typed(r"(?:mlxconfig|mstconfig)\b")
_DEVICE = re.compile(r"-d\s+(\S+)")
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


class MlxConfigParser(HostParser):
    """Reads query and set, also filtered."""

    tool: ClassVar[str] = "mlxconfig"
    starts: ClassVar[str] = (
        rf"Device #\d+:$|Device type:\s+ConnectX|\s*(?:\*\s*)?ATS_ENABLED\s+(?:True|False)\(|{_COMMAND}"
    )
    command: ClassVar[re.Pattern[str] | None] = re.compile(_COMMAND)

    def __init__(self) -> None:
        super().__init__()
        self._told: dict[str, str] = {}
        self._columns: tuple[str, ...] = ()
        self._rows: dict[str, FirmwareSetting] = {}
        self._reboot = False
        self._failed: str | None = None

    def asked(self, text: str) -> None:
        """Read of which device."""
        if (device := _DEVICE.search(text)) is not None:
            self._told["Device"] = device[1]

    def take(self, line: Line) -> Taken:
        """Read a line."""
        text = line.text
        if text.startswith("Device #") and (self._columns or self._rows):
            return Taken.AGAIN
        if (head := _HEAD.match(text)) is not None:
            self._told[head[1]] = head[2]
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
        if len(values) != expected or name in self._rows or not all(map(_VALUE.fullmatch, values)):
            return Taken.DAMAGED
        if name == "ATS_ENABLED" and not all(re.fullmatch(r"True\(1\)|False\(0\)", value) for value in values):
            return Taken.DAMAGED
        self._rows[name] = FirmwareSetting(name=name, values=tuple(values), line=line)
        return Taken.YES

    def reading(self, common: Common) -> MlxConfig:
        """Return the settings."""
        missing = None if self._rows else "no setting"
        return MlxConfig(
            tool=self.tool,
            source=self.source,
            device=self._told.get("Device"),
            kind=self._told.get("Device type"),
            columns=self._columns,
            rows=tuple(self._rows.values()),
            reboot_needed=self._reboot,
            failed=self._failed,
            **self.ending(self._failed, missing),
            **common,
        )
