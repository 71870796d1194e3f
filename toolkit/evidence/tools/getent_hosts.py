"""getent hosts: the address of a name, as the RDMA test's client looks up its listener."""

import re
from collections.abc import Mapping

from pydantic import Field

from core.model import Model
from toolkit.evidence.criterion import Criterion
from toolkit.evidence.host_parser import HostReading, RowsParser, typed
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.wording import listed


class Address(Model):
    """An address of a name."""

    address: str = Field(description="IPv4 or IPv6")
    names: tuple[str, ...] = Field(description="the name, and its aliases")
    line: int


class GetentHosts(HostReading):
    """The addresses of one name; nothing is printed for a name that is not known."""

    name: str = Field(description="that was looked up")
    tries: int = Field(description="lookups until it was known")
    rows: tuple[Address, ...]

    def figures(self) -> str:
        """Return the few figures that a table has room for."""
        return f"{self.name} is {listed(row.address for row in self.rows) or 'not known'}"


_LOOKUP = re.compile(typed(r"getent hosts ([\w.-]{1,253})$"))
_ROW = re.compile(r"((?:\d{1,3}\.){3}\d{1,3}|[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7})\s+([\w.-]+(?:\s+[\w.-]+)*)$")


class GetentHostsParser(RowsParser):
    """Reads it in a loop, too, that waits for the name; without the command a line could be any table's."""

    tool = "getent-hosts"
    kind = GetentHosts
    starts = typed("getent hosts ")
    traced = True
    no_rows = "no address"

    def __init__(self) -> None:
        super().__init__()
        self._name = ""
        self._tries = 0

    def read_line(self, line: Line) -> Taken:
        """Read a line."""
        if (lookup := _LOOKUP.match(line.text)) is not None:
            if self.rows or self._name not in {"", lookup[1]}:
                return Taken.AGAIN
            self._name = lookup[1]
            self._tries += 1
            return Taken.YES
        row = _ROW.match(line.text)
        if row is None or self._name not in row[2].split():
            return Taken.NO
        names = tuple(row[2].split())
        return self.add(line.number, Address(address=row[1], names=names, line=line.number))

    def facts(self) -> Mapping[str, object]:
        """Return the queried names, and how often each."""
        return {"name": self._name, "tries": self._tries}


CRITERIA: tuple[Criterion, ...] = ()
"""None yet."""
