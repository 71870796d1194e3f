"""The parser of nvidia-smi, and the form of `nvidia-smi --query-gpu=... --format=csv`."""

import re
from collections.abc import Iterable, Mapping
from typing import ClassVar

from toolkit.evidence.host_parser import HostParser, typed
from toolkit.evidence.parser import Taken, number
from toolkit.evidence.text import Line
from toolkit.evidence.tools.nvidia_smi.model import Gpu, NvidiaSmi
from toolkit.evidence.tools.nvidia_smi.table import BANNER, Table

FIELDS: Mapping[str, tuple[str, type]] = {
    "index": ("index", int),
    "name": ("name", str),
    "gpu_name": ("name", str),
    "uuid": ("uuid", str),
    "gpu_uuid": ("uuid", str),
    "pci.bus_id": ("bus", str),
    "gpu_bus_id": ("bus", str),
    "memory.total": ("memory_mib", int),
    "memory.used": ("memory_used_mib", int),
    "power.draw": ("power_w", float),
    "power.limit": ("power_limit_w", float),
    "temperature.gpu": ("temperature_c", int),
    "utilization.gpu": ("utilisation_percent", int),
    "ecc.errors.uncorrected.volatile.total": ("uncorrected_ecc", int),
    "mig.mode.current": ("mig", bool),
}
"""Columns that are read, and what they are here; others are allowed, and not stored."""

_GROUPS = "pci|memory|power|temperature|utilization|clocks|ecc|mig|pcie|fan"
_PLAIN = "index|count|timestamp|driver_version|compute_mode|compute_cap|persistence_mode|pstate|serial|vbios_version"
_COLUMN = rf"(?:(?:gpu_)?(?:name|uuid|bus_id)|{_PLAIN}|(?:{_GROUPS})\.[\w.]+)(?: \[[^\]]+\])?"
HEADER = rf"{_COLUMN}(?:, {_COLUMN})+$|(?:driver_version|uuid|gpu_name|memory\.\w+ \[MiB\])$"
"""The first line: names of columns, of which a single one must be unmistakable."""

_HEADER = re.compile(HEADER)
_UNIT = re.compile(r" \[[^\]]+\]$")
_NONE = frozenset({"N/A", "[N/A]", "[Not Supported]", "[Unknown Error]", "[GPU requires reset]"})
_VERSION = re.compile(r"\d+(?:\.\d+)+")
_QUANTITY = re.compile(r"(\d{1,12}(?:[.,]\d{1,6})?)(?: (?:MiB|W|%|MHz))?")


class Query:
    """Columns and rows."""

    def __init__(self) -> None:
        self.columns: tuple[str, ...] = ()
        self.rows: list[Gpu] = []
        self.driver: str | None = None

    def read_line(self, text: str, line: int) -> Taken:
        """Read a line."""
        cells = text.split(", ")
        if _HEADER.match(text):
            if self.columns:
                return Taken.AGAIN
            self.columns = tuple(_UNIT.sub("", cell) for cell in cells)
            return Taken.YES
        if not self.columns or (len(cells) == 1 and len(self.columns) > 1):
            return Taken.NO
        row = self._row(cells, line) if len(cells) == len(self.columns) else None
        if row is None:
            # One column has no commas that show whose a line is.
            return Taken.DAMAGED if len(self.columns) > 1 else Taken.NO
        self.rows.append(row)
        return Taken.YES

    def _row(self, cells: list[str], line: int) -> Gpu | None:
        """Return a row, None when one of its cells is not of its column's kind."""
        fields: dict[str, object] = {"line": line}
        driver: str | None = None
        for column, cell in zip(self.columns, cells, strict=True):
            if column == "driver_version":
                driver = cell if _VERSION.fullmatch(cell) else None
                if driver is None:
                    return None
            elif column in FIELDS and cell not in _NONE:
                field, kind = FIELDS[column]
                fields[field] = _value(cell, kind)
                if fields[field] is None:
                    return None
        self.driver = driver or self.driver
        return Gpu.model_validate(fields)


def _value(cell: str, kind: type) -> object | None:
    if kind is str:
        return cell or None
    if kind is bool:
        return {"Enabled": True, "Disabled": False}.get(cell)
    match = _QUANTITY.fullmatch(cell)
    if match is None or (kind is int and not match[1].isdecimal()):
        return None
    return number(match[1]) if kind is float else int(match[1])


_FAILED = (
    r"No devices were found$|Failed to initialize NVML: \S|NVIDIA-SMI has failed because \S|"
    r"Unable to determine the device handle |(?:\S*sh: (?:line )?(?:\d+: )?)?nvidia-smi: (?:command )?not found"
)
_COMMAND = typed(r"nvidia-smi(?! (?:topo|nvlink|-L|-q|dmon))\b")
_LEADS = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d \d{4}|\+-{5,}\+"
"""The date, and the frame above the banner."""
_QUERY = re.compile(r"--query-gpu[= ](\S+)")


class NvidiaSmiParser(HostParser):
    """Reads both forms, and the errors in their place."""

    tool = "nvidia-smi"
    kind = NvidiaSmi
    starts = rf"{BANNER}|{HEADER}|{_FAILED}|{_COMMAND}"
    leads = _LEADS
    command = re.compile(_COMMAND)
    _failure: ClassVar[re.Pattern[str]] = re.compile(_FAILED)

    def __init__(self) -> None:
        super().__init__()
        self._table = Table()
        self._query = Query()
        self._failed: str | None = None

    def _read_command(self, text: str) -> None:
        """Read the requested columns, where they are not printed above the rows."""
        match = _QUERY.search(text)
        if match is not None and "noheader" in text:
            self._query.columns = tuple(match[1].split(","))

    def _read_line(self, line: Line) -> Taken:
        if self._failure.match(line.text):
            if self._failed is not None or self._table.versions or self._query.rows:
                return Taken.AGAIN
            self._failed = line.text
            return Taken.YES
        if line.text[0] in "|+":
            return self._table.read_line(line.text, line.number)
        return Taken.NO if self._table.versions else self._query.read_line(line.text, line.number)

    def ignores(self, text: str) -> bool:
        """Return whether a line has nothing of the table, when there is one."""
        table = bool(self._table.versions) and text[:1] not in ("", "|", "+")
        return super().ignores(text) or (table and not self._failure.match(text) and not self.command.match(text))

    def _facts(self) -> Mapping[str, object]:
        own, driver, cuda = self._table.versions or (None, self._query.driver, None)
        return {
            "tool_version": own,
            "driver": driver,
            "cuda": cuda,
            "rows": (*self._table.rows, *self._query.rows),
            "mig_devices": tuple(self._table.parts),
            "processes": self._table.processes,
            "queries": self._query.columns,
            "failed": self._failed,
        }

    def _missing(self) -> Iterable[str | None]:
        table = self._table
        return (
            self._failed,
            None if table.rows or self._query.rows or self._failed else "no GPU",
            None if table.closed or table.versions is None else "no end of the table of processes",
            f"GPU {table.half.index}: no memory" if table.half is not None else None,
        )
