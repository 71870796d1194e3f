"""getent hosts: which address a name has, as the RDMA test's client asks for its listener."""

import re
from typing import ClassVar

from pydantic import Field

from evidence.blocks import HostParser, HostReading, typed
from evidence.parser import Common, Taken
from evidence.text import Line
from hardware.model import Model


class Address(Model):
    """An address of a name."""

    address: str = Field(description="IPv4 or IPv6")
    names: tuple[str, ...] = Field(description="the name, and its aliases")
    line: int


class GetentHosts(HostReading):
    """The addresses of one name; nothing is printed for a name that is not known."""

    name: str = Field(description="that was asked for")
    tries: int = Field(description="times that it was asked for until it was known")
    rows: tuple[Address, ...]


_ASKED = re.compile(typed(r"getent hosts ([\w.-]{1,253})$"))
_ROW = re.compile(r"((?:\d{1,3}\.){3}\d{1,3}|[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7})\s+([\w.-]+(?:\s+[\w.-]+)*)$")


class GetentHostsParser(HostParser):
    """Reads it in a loop, too, that waits for the name; without the command a line could be any table's."""

    tool: ClassVar[str] = "getent-hosts"
    starts: ClassVar[str] = typed("getent hosts ")
    traced: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self._name = ""
        self._tries = 0
        self._rows: list[Address] = []

    def take(self, line: Line) -> Taken:
        """Read a line."""
        if (asked := _ASKED.match(line.text)) is not None:
            if self._rows or self._name not in {"", asked[1]}:
                return Taken.AGAIN
            self._name = asked[1]
            self._tries += 1
            return Taken.YES
        row = _ROW.match(line.text)
        if row is None or self._name not in row[2].split():
            return Taken.NO
        self._rows.append(Address(address=row[1], names=tuple(row[2].split()), line=line.number))
        return Taken.YES

    def reading(self, common: Common) -> GetentHosts:
        """Return the addresses."""
        return GetentHosts(
            tool=self.tool,
            source=self.source,
            name=self._name,
            tries=self._tries,
            rows=tuple(self._rows),
            **self.ending(None if self._rows else "no address"),
            **common,
        )
