"""`esxcli system settings kernel list`: options of ESXi's kernel, of which atsSupport is one (N-2.2)."""

import re
from typing import ClassVar

from pydantic import Field

from evidence.blocks import HostParser, HostReading
from evidence.parser import Common, Taken
from evidence.text import Line
from hardware.model import Model


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
_ROW = re.compile(r"(\w+)\s+(Bool|String|u?int(?:8|16|32|64))\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S.*)$", re.IGNORECASE)


class EsxcliKernelParser(HostParser):
    """Reads the table."""

    tool: ClassVar[str] = "esxcli-kernel"
    starts: ClassVar[str] = rf"{_HEADER.pattern}|{_COMMAND.replace('(list|set)', 'list')}"
    contiguous: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self._rows: dict[str, KernelOption] = {}
        self._headed = self._ruled = False

    def take(self, line: Line) -> Taken:
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
            known = self._headed and re.match(r"\w+\s+(?:Bool|String|u?int)", text)
            return Taken.DAMAGED if known else Taken.NO
        if row[1] in self._rows:
            return Taken.DAMAGED
        name, kind, configured, runtime, default = row.groups()[:5]
        self._rows[name] = KernelOption(
            name=name, kind=kind, configured=configured, runtime=runtime, default=default, line=line.number
        )
        return Taken.YES

    def reading(self, common: Common) -> EsxcliKernel:
        """Return the options."""
        ending = self.ending(None if self._rows else "no option")
        return EsxcliKernel(tool=self.tool, source=self.source, rows=tuple(self._rows.values()), **ending, **common)
