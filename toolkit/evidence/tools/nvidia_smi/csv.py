"""The form of `nvidia-smi --query-gpu=... --format=csv`."""

import re
from collections.abc import Mapping

from toolkit.evidence.parser import Taken, number
from toolkit.evidence.tools.nvidia_smi.model import Gpu

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
    """Return the value of a cell, None when it is not of its kind."""
    if kind is str:
        return cell or None
    if kind is bool:
        return {"Enabled": True, "Disabled": False}.get(cell)
    match = _QUANTITY.fullmatch(cell)
    if match is None or (kind is int and not match[1].isdecimal()):
        return None
    return number(match[1]) if kind is float else int(match[1])
