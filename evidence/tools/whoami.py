"""whoami and id: as whom a pod ran (R-4.1-3)."""

import re
from typing import ClassVar

from pydantic import Field

from evidence.blocks import HostParser, HostReading, typed
from evidence.parser import Common, Taken
from evidence.text import Line

FIRST_UID, LAST_UID, UIDS_OF_NAMESPACE = 1_000_000_000, 1_999_999_999, 10_000
"""OpenShift gives each namespace 10,000 user ids of these; a pod runs as the first."""


class WhoAmI(HostReading):
    """The user of a pod."""

    user: str | None = Field(description="as printed: a name, or the id when it has none; None: not read")
    uid: int | None = Field(description="None: only a name was printed")
    line: int

    @property
    def of_namespace(self) -> bool | None:
        """Whether the id is of the ranges that OpenShift gives to namespaces; None when no id is known."""
        return None if self.uid is None else FIRST_UID <= self.uid <= LAST_UID


_ALONE = r"1\d{5}0000$"
"""The first id of a namespace's range alone on a line: what whoami prints in a pod. Other figures may be anything."""
_ID = re.compile(r"uid=(\d+)(?:\(([^)]*)\))? gid=\d+")
_NAMELESS = re.compile(r"whoami: cannot find name for user ID (\d+)")
_NAME = re.compile(r"[a-z_][a-z0-9_.-]{0,31}\$?$|\d{1,10}$")


class WhoAmIParser(HostParser):
    """Reads the one line."""

    tool: ClassVar[str] = "whoami"
    starts: ClassVar[str] = rf"{_ALONE}|uid=\d+(?:\([^)]*\))? gid=|whoami: cannot find name|{typed('(?:whoami|id)$')}"
    command: ClassVar[re.Pattern[str] | None] = re.compile(typed(r"(?:whoami|id)$"))

    def __init__(self) -> None:
        super().__init__()
        self._user: str | None = None
        self._uid: int | None = None
        self._line = 1
        self._done = False

    def take(self, line: Line) -> Taken:
        """Read a line."""
        if self._done:
            return Taken.NO
        self._done = True
        if (found := _ID.match(line.text)) is not None:
            self._uid, self._user = int(found[1]), found[2] or found[1]
        elif (found := _NAMELESS.match(line.text)) is not None:
            self._uid, self._user = int(found[1]), found[1]
        elif _NAME.match(line.text):
            self._user = line.text
            self._uid = int(line.text) if line.text.isascii() and line.text.isdecimal() else None
        else:
            return Taken.NO
        self._line = line.number
        return Taken.YES

    def reading(self, common: Common) -> WhoAmI:
        """Return the user."""
        line = self._line if self._user else common["first_line"]
        ending = self.ending(None if self._user else "no user")
        return WhoAmI(tool=self.tool, source=self.source, user=self._user, uid=self._uid, line=line, **ending, **common)
