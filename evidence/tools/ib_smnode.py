"""`show ib smnode` of the switch: whether it runs the subnet manager (R-3.1-3)."""

import re
from typing import ClassVar

from pydantic import Field

from evidence.blocks import HostParser, HostReading
from evidence.parser import Common, Taken
from evidence.text import Line


class IbSmNode(HostReading):
    """What the switch says."""

    node: str | None = Field(description="switch that was asked for; None: not told")
    state: str | None = Field(description="enabled or disabled; None: not read")
    line: int

    @property
    def enabled(self) -> bool | None:
        """Whether the subnet manager is enabled there; None when it was not read."""
        return None if self.state is None else self.state == "enabled"


_COMMAND = r"(?:.*[#>]\s*)?show ib smnode\b"
_STATE = re.compile(r"\s*sm-state:?\s+(enabled|disabled)$")


class IbSmNodeParser(HostParser):
    """Reads the command and its answer."""

    tool: ClassVar[str] = "ib-smnode"
    starts: ClassVar[str] = rf"{_COMMAND}|\s*sm-state\b"
    command: ClassVar[re.Pattern[str] | None] = re.compile(_COMMAND)

    def __init__(self) -> None:
        super().__init__()
        self._node: str | None = None
        self._state: tuple[str, int] | None = None

    def asked(self, text: str) -> None:
        """Read of which switch."""
        found = re.search(r"smnode (\S+)", text)
        self._node = found[1] if found else None

    def take(self, line: Line) -> Taken:
        """Read a line."""
        if (state := _STATE.match(line.text)) is not None:
            if self._state is not None:
                return Taken.AGAIN
            self._state = (state[1], line.number)
            return Taken.YES
        return Taken.DAMAGED if re.match(r"\s*sm-state\b", line.text) else Taken.NO

    def reading(self, common: Common) -> IbSmNode:
        """Return the state."""
        state, line = self._state or (None, common["first_line"])
        ending = self.ending(None if state else "no sm-state")
        return IbSmNode(tool=self.tool, source=self.source, node=self._node, state=state, line=line, **ending, **common)
