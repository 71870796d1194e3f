"""lsmod: kernel modules, with those that use them (R-3.2.3-3)."""

import re
from typing import ClassVar

from pydantic import Field

from evidence.blocks import HostParser, HostReading, typed
from evidence.parser import Common, Taken
from evidence.text import Line
from hardware.model import Model


class Module(Model):
    """A loaded module."""

    name: str
    size_bytes: int
    users: int = Field(description="references, of modules and others; -1 or -2: the kernel cannot count them")
    used_by: tuple[str, ...] = Field(description="modules")
    line: int


class LsMod(HostReading):
    """Loaded modules."""

    rows: tuple[Module, ...]
    filtered: bool = Field(description="whether a part was shown (grep): a module that is not there may be loaded")

    def module(self, name: str) -> Module | None:
        """Return a module, None when it is not shown."""
        return next((row for row in self.rows if row.name == name), None)


_HEADER = re.compile(r"Module\s+Size\s+Used by$")
_ROW = re.compile(r"([a-z0-9][\w-]*)\s+(\d+)\s+(-?\d+)(?:\s+([A-Za-z0-9][\w,-]*))?$", re.IGNORECASE)
_KNOWN = r"(?:nv_peer_mem|nvidia\w*|gdrdrv|ib_\w+|iw_cm|rdma_\w+|mlx[45]_\w+|mlx_compat|mlxfw)"
"""Modules that show without a heading what a list is: those that are looked for."""


class LsModParser(HostParser):
    """Reads lsmod, whole or filtered."""

    tool: ClassVar[str] = "lsmod"
    starts: ClassVar[str] = rf"Module\s+Size\s+Used by$|{_KNOWN}\s+\d+\s+-?\d+(?:\s+[\w,-]+)?$|{typed('lsmod')}\b"
    command: ClassVar[re.Pattern[str] | None] = re.compile(typed(r"lsmod\b"))
    contiguous: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self._rows: dict[str, Module] = {}
        self._headed = False

    def take(self, line: Line) -> Taken:
        """Read a line."""
        if _HEADER.match(line.text):
            again = self._headed or bool(self._rows)
            self._headed = True
            return Taken.AGAIN if again else Taken.YES
        if (row := _ROW.match(line.text)) is None:
            return Taken.DAMAGED if re.match(rf"{_KNOWN}\s+\d+(?:\s+\S|$)", line.text) else Taken.NO
        if row[1] in self._rows:
            return Taken.AGAIN
        self._rows[row[1]] = Module(
            name=row[1],
            size_bytes=int(row[2]),
            users=int(row[3]),
            used_by=tuple(one for one in (row[4] or "").split(",") if one and one != "-"),
            line=line.number,
        )
        return Taken.YES

    def reading(self, common: Common) -> LsMod:
        """Return the modules."""
        ending = self.ending(None if self._rows else "no module")
        rows = tuple(self._rows.values())
        return LsMod(tool=self.tool, source=self.source, rows=rows, filtered=not self._headed, **ending, **common)
