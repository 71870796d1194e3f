"""`show ib smnode` of the switch: whether it runs the subnet manager."""

import re
from collections.abc import Iterable, Mapping

from pydantic import Field

from toolkit.evidence.criterion import Criterion, Outcome, passed, readings_of, row_proofs
from toolkit.evidence.host_parser import HostParser, HostReading
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import Job, Status
from toolkit.evidence.wording import listed


class IbSmNode(HostReading):
    """The answer of the switch."""

    node: str | None = Field(description="switch that was queried; None: unknown")
    state: str | None = Field(description="enabled or disabled; None: not read")
    line: int

    @property
    def enabled(self) -> bool | None:
        """Return whether the subnet manager is enabled there; None when it was not read."""
        return None if self.state is None else self.state == "enabled"

    def figures(self) -> str:
        """Return the few figures that a table has room for."""
        return f"{self.node} {self.state}"


_COMMAND = r"(?:.*[#>]\s*)?show ib smnode\b"
_STATE = re.compile(r"\s*sm-state:?\s+(enabled|disabled)$")


class IbSmNodeParser(HostParser):
    """Reads the command and its answer."""

    tool = "ib-smnode"
    kind = IbSmNode
    starts = rf"{_COMMAND}|\s*sm-state\b"
    command = re.compile(_COMMAND)
    argument = re.compile(r"smnode (?P<node>\S+)")

    def __init__(self) -> None:
        super().__init__()
        self._state: str | None = None

    def read_line(self, line: Line) -> Taken:
        """Read a line."""
        if (state := _STATE.match(line.text)) is not None:
            if self._state is not None:
                return Taken.AGAIN
            self._state, self.line = state[1], line.number
            return Taken.YES
        return Taken.DAMAGED if re.match(r"\s*sm-state\b", line.text) else Taken.NO

    def facts(self) -> Mapping[str, object]:
        """Return the state."""
        return {"state": self._state, "line": self.line}

    def missing(self) -> Iterable[str | None]:
        """Return whether the state is missing."""
        return (None if self._state else "no sm-state",)


def _manager_enabled(job: Job) -> Outcome | None:
    switches = [switch for switch in readings_of(job, IbSmNode) if switch.state is not None]
    if not switches:
        return Outcome(Status.MISSING, "no sm-state")
    enabled = [switch for switch in switches if switch.enabled]
    measured = listed(f"{switch.node or 'the switch'}: {switch.state}" for switch in switches)
    return Outcome(
        passed(bool(enabled)), measured, proofs=row_proofs((switch.file, switch) for switch in enabled or switches)
    )


CRITERIA = (
    Criterion(
        name="subnet-manager-enabled",
        title="A switch runs the subnet manager",
        limit="sm-state enabled",
        tolerance="other switches may have it disabled",
        applies="switches with show ib smnode output",
        source="R-3.1-3",
        judge=_manager_enabled,
    ),
)
