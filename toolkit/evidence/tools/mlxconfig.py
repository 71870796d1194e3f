"""mlxconfig: settings of an HCA's firmware, of which ATS_ENABLED is one."""

import re
from collections.abc import Iterable, Mapping
from typing import Literal

from pydantic import Field

from toolkit.evidence.criterion import Criterion, Outcome, Row, opening_proofs, passed, readings_of, row_proofs
from toolkit.evidence.host_parser import HostReading, RowsParser, record, typed
from toolkit.evidence.model import Record
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import Job, Status
from toolkit.evidence.wording import listed

Ats = Literal["absent", "off", "on"]


class FirmwareSetting(Record):
    """A setting, in the columns that were printed. Values are as printed, e.g. False(0)."""

    name: str
    values: tuple[str, ...] = Field(description="one for each column")


class Mismatch(Record):
    """A setting that is not as it was to be, by `validate_system_conf`."""

    name: str
    expected: str
    actual: str


class MlxConfig(HostReading):
    """Settings of one HCA."""

    device: str | None = Field(description="e.g. /dev/mst/mt4123_pciconf0; None: unknown")
    kind: str | None = Field(description="device type, e.g. ConnectX6")
    columns: tuple[str, ...] = Field(description="e.g. Next Boot, New; empty when only lines of settings are there")
    rows: tuple[FirmwareSetting, ...]
    reboot_needed: bool = Field(description="whether settings were applied, which count from the next boot on")
    failed: str | None = Field(description="error that it printed")
    mismatches: tuple[Mismatch, ...] = Field(default=(), description="settings that are not as they were to be")
    matches: bool | None = Field(default=None, description="result of `validate_system_conf`; None: another command")

    @property
    def pending(self) -> tuple[FirmwareSetting, ...]:
        """Settings that the next boot changes, by `-e query`, which prints what is in force beside it."""
        if not {"Current", "Next Boot"} <= {*self.columns}:
            return ()
        now, then = self.columns.index("Current"), self.columns.index("Next Boot")
        return tuple(row for row in self.rows if row.values[now] != row.values[then])

    @property
    def ats(self) -> Ats | None:
        """Return whether address translation is on, in the last column: `absent` is firmware without it.

        None when that could not be determined: of a query of which nothing else was printed, or not all of it.
        """
        value = next((row.values[-1] for row in self.rows if row.name == "ATS_ENABLED"), None)
        if value is not None:
            return "on" if value == "True(1)" else "off"
        return "absent" if self.complete else None

    def _figures(self) -> str:
        if self.matches is not None:
            return "as it was to be" if self.matches else f"{len(self.mismatches)} settings differ"
        return f"ATS {self.ats or 'unknown'}"


_COMMAND = typed(r"(?:mlxconfig|mstconfig)\b")
_ROW = re.compile(r"(?:\s{2,}|\s*\*\s+)?(?:RO\s+)?([A-Z][A-Z0-9_]{2,}(?:\[[\d.]+\])?)\s{2,}(\S.*)$")
_COLUMNS = re.compile(r"Configurations:\s+(\S.*)$")
_HEAD = re.compile(r"(Device type|Name|Description|Device):\s+(\S.*)$")
_VALUE = re.compile(r"[\w.+-]+(?:\([\w]+\))?|Array\[[\d.]+\]|N/A")
_KNOWN = re.compile(r"(?:\s*\*)?\s*ATS_ENABLED\b")
_ERROR = re.compile(r"-E- (.+)")
_MISMATCH = re.compile(
    r"\s*MISMATCH:\s+(?P<name>[A-Z]\w+(?:\[[\d.]+\])?):?\s+Expected:\s*(?P<expected>[\w().-]+),?\s+Actual:\s*(?P<actual>[\w().-]+)$"
)
_RESULT = re.compile(r"\s*Result: Device configuration (MATCHES|does NOT match)\b")
_OTHER = re.compile(
    r"\s*OK:\s|Device #\d+:|-+$|\s*Apply new Configuration\?|Applying\.\.\.|The '\*' shows|-I- |\s*-I- |"
    r"Continue with|Failed to "
)


class MlxConfigParser(RowsParser):
    """Reads query and set, also filtered."""

    tool = "mlxconfig"
    kind = MlxConfig
    starts = (
        rf"Device #\d+:$|Device type:\s+ConnectX|\s*(?:\*\s*)?ATS_ENABLED\s+(?:True|False)\(|"
        rf"\s*(?:MISMATCH|Result: Device conf)|{_COMMAND}"
    )
    command = re.compile(_COMMAND)
    argument = re.compile(r"-d\s+(?P<device>\S+)")

    def __init__(self) -> None:
        super().__init__()
        self._head: dict[str, str] = {}
        self._columns: tuple[str, ...] = ()
        self._reboot = False
        self._failed: str | None = None
        self._mismatches: list[Mismatch] = []
        self._matches: bool | None = None

    def _read_line(self, line: Line) -> Taken:
        text = line.text
        if text.startswith("Device #") and (self._columns or self.rows):
            return Taken.AGAIN
        if (head := _HEAD.match(text)) is not None:
            self._head[head[1]] = head[2]
        elif (columns := _COLUMNS.match(text)) is not None:
            self._columns = tuple(re.split(r"\s{2,}", columns[1]))
        elif (mismatch := _MISMATCH.match(text)) is not None:
            self._mismatches.append(record(Mismatch, mismatch, line))
        elif (result := _RESULT.match(text)) is not None:
            self._matches = result[1] == "MATCHES"
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

    def _facts(self) -> Mapping[str, object]:
        return {
            "device": self._head.get("Device", self.arguments["device"]),
            "kind": self._head.get("Device type"),
            "columns": self._columns,
            "reboot_needed": self._reboot,
            "failed": self._failed,
            "mismatches": tuple(self._mismatches),
            "matches": self._matches,
        }

    def _missing(self) -> Iterable[str | None]:
        return (self._failed, None if self.rows or self._matches is not None else "no setting")


_LINK_TYPE = re.compile(r"LINK_TYPE_P\d$")


def _ats_firmware(job: Job) -> Outcome | None:
    queries = (output for output in readings_of(job, MlxConfig) if output.matches is None)
    outputs = [output for output in queries if not _is_of_links_alone(output)]
    if not outputs:
        return None
    if any(output.ats is None for output in outputs):
        return Outcome(Status.MISSING, "output is not whole", proofs=opening_proofs(outputs))
    waits = any(output.reboot_needed for output in outputs)
    states = sorted({str(output.ats) for output in outputs})
    measured = f"{listed(states)}{', from the next boot on' if waits else ''}"
    return Outcome(passed(states == ["on"] and not waits), measured, proofs=opening_proofs(outputs))


def _is_of_links_alone(output: MlxConfig) -> bool:
    return bool(output.rows) and all(_LINK_TYPE.match(row.name) for row in output.rows)


def _ethernet(job: Job) -> Outcome | None:
    """Return whether ports are set to Ethernet; those of adapters for Ethernet alone have no such setting."""
    settings = [(output.file, row) for output in readings_of(job, MlxConfig) for row in output.rows]
    rows = [(file, row) for file, row in settings if _LINK_TYPE.match(row.name)]
    if not rows or job.request.fabric in (None, "infiniband"):
        return None
    wrong = [(file, row) for file, row in rows if row.values[-1] != "ETH(2)"]
    measured = listed(sorted({row.values[-1] for _, row in rows}))
    return Outcome(passed(not wrong), measured, proofs=row_proofs(wrong or rows))


def _in_force(job: Job) -> Outcome | None:
    """Return whether a comparison found no difference, and whether no setting waits for the next boot."""
    checked = [
        output for output in readings_of(job, MlxConfig) if output.matches is not None or "Current" in output.columns
    ]
    if not checked:
        return None
    pending = [(output.file, row, f"{row.name}: from the next boot on") for output in checked for row in output.pending]
    mismatches = [
        (output.file, row, f"{row.name}: {row.actual}, not {row.expected}")
        for output in checked
        for row in output.mismatches
    ]
    differences: list[tuple[str, Row, str]] = [*pending, *mismatches]
    in_force = not differences and all(output.matches is not False for output in checked)
    measured = listed((text for *_, text in differences), 4) or ("all" if in_force else "does not match")
    proofs = row_proofs((file, row) for file, row, _ in differences) or opening_proofs(checked)
    return Outcome(passed(in_force), measured, proofs=proofs)


CRITERIA = (
    Criterion(
        name="ports-in-ethernet-mode",
        title="Adapters are in Ethernet mode",
        limit="LINK_TYPE ETH(2)",
        applies="machines on RoCE or Ethernet with mlxconfig output of adapters that have a LINK_TYPE setting",
        source="B-2.2",
        judge=_ethernet,
    ),
    Criterion(
        name="firmware-in-force",
        title="The adapter's firmware settings are in effect",
        limit="no difference, and no setting that waits for a reboot",
        applies="machines with output of mlxconfig -e query or validate_system_conf",
        source="N-3.8, github.com/Mellanox/nic-configuration-operator",
        judge=_in_force,
    ),
    Criterion(
        name="ats-firmware",
        title="ATS is enabled in the adapter's firmware",
        limit="ATS_ENABLED on, without a pending reboot",
        applies="machines with mlxconfig output",
        source="N-3.6, N-3.7",
        judge=_ats_firmware,
    ),
)
