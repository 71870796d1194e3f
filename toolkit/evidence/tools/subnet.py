"""An InfiniBand subnet: whether a switch runs its manager (`show ib smnode`), and all cables (ibnetdiscover)."""

import re
from collections.abc import Iterable, Mapping

from pydantic import Field

from core.wording import plural
from toolkit.evidence.criterion import Criterion, Outcome, passed, readings_of, row_proofs
from toolkit.evidence.host_parser import HostParser, HostReading, RowsParser, record, typed
from toolkit.evidence.model import Record
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

    def _figures(self) -> str:
        return f"{self.node} {self.state}"


_SMNODE_COMMAND = r"(?:.*[#>]\s*)?show ib smnode\b"
_STATE = re.compile(r"\s*sm-state:?\s+(enabled|disabled)$")


class IbSmNodeParser(HostParser):
    """Reads the command and its answer."""

    tool = "ib-smnode"
    kind = IbSmNode
    starts = rf"{_SMNODE_COMMAND}|\s*sm-state\b"
    command = re.compile(_SMNODE_COMMAND)
    argument = re.compile(r"smnode (?P<node>\S+)")

    def __init__(self) -> None:
        super().__init__()
        self._state: str | None = None

    def _read_line(self, line: Line) -> Taken:
        if (state := _STATE.match(line.text)) is not None:
            if self._state is not None:
                return Taken.AGAIN
            self._state, self.line = state[1], line.number
            return Taken.YES
        return Taken.DAMAGED if re.match(r"\s*sm-state\b", line.text) else Taken.NO

    def _facts(self) -> Mapping[str, object]:
        return {"state": self._state, "line": self.line}

    def _missing(self) -> Iterable[str | None]:
        return (None if self._state else "no sm-state",)


def _manager_enabled(job: Job) -> Outcome | None:
    switches = [switch for switch in readings_of(job, IbSmNode) if switch.state is not None]
    if not switches:
        return Outcome(Status.MISSING, "no sm-state")
    enabled = [switch for switch in switches if switch.enabled]
    measured = listed(f"{switch.node or 'the switch'}: {switch.state}" for switch in switches)
    proofs = row_proofs((switch.file, switch) for switch in enabled or switches)
    return Outcome(passed(bool(enabled)), measured, proofs=proofs)


LANES = 4
"""Of a cable to a port of today's switches and adapters."""


class CableEnd(Record):
    """One end of a cable: a port of a switch or of an adapter, and what is at the other end."""

    node: str = Field(description="its description, e.g. MF0;leaf-1:MQM8700/U1, or of an adapter node02 HCA-3")
    node_id: str = Field(description="S- of a switch or H- of an adapter, with its GUID")
    port: int
    peer: str = Field(description="description of the other end")
    peer_id: str
    peer_port: int
    lanes: int
    speed: str = Field(description="of a lane: SDR to XDR")

    @property
    def of_switch(self) -> bool:
        """Return whether it is a switch's; each cable has at least one such end, and between switches two."""
        return self.node_id.startswith("S-")

    @property
    def to_switch(self) -> bool:
        """Return whether the other end is a switch's."""
        return self.peer_id.startswith("S-")

    @property
    def aggregation_node(self) -> bool:
        """Return whether it is not a cable, but the part of a switch that reduces (SHARP)."""
        return "Aggregation Node" in self.node or "Aggregation Node" in self.peer


class IbNetDiscover(HostReading):
    """The cables of a subnet."""

    rows: tuple[CableEnd, ...]

    def _figures(self) -> str:
        nodes = {row.node_id for row in self.rows}
        switches = sum(node.startswith("S-") for node in nodes)
        return f"{plural(switches, 'switch', 'switches')}, {len(nodes) - switches} CAs"


_DISCOVER_COMMAND = typed(r"ibnetdiscover\b")
_GENERATED = r"# Topology file: generated on "
_NODE = re.compile(r'(?:Switch|Ca|Rt)\s+\d{1,4} "(?P<id>[SHR]-[0-9a-f]{16})"\s+# "(?P<name>[^"]{0,64})"')
_OUTSIDE = r"(?:\[ext \d{1,4}\])?(?:\([0-9a-f]{1,16}\))?"
"""The port's number on the chassis, and its GUID."""
_END = re.compile(
    rf'\[(?P<port>\d{{1,3}})\]{_OUTSIDE}\s+"(?P<peer_id>[SHR]-[0-9a-f]{{16}})"\[(?P<peer_port>\d{{1,3}})\]{_OUTSIDE}'
    r'\s+#[^"]*"(?P<peer>[^"]{0,64})" lid \d{1,5} (?P<lanes>\d{1,2})x(?P<speed>[A-Z]{2,3}\d{0,2})\b'
)
_OTHER = re.compile(
    rf"{_GENERATED}|# Initiated from node |#\s*$|(?:vendid|devid|sysimgguid|(?:switch|ca|rt)guid)=0x|Chassis \d"
)


class IbNetDiscoverParser(RowsParser):
    """Reads the topology; an end that comes again begins another run."""

    tool = "ibnetdiscover"
    kind = IbNetDiscover
    starts = rf"{_GENERATED}|{_DISCOVER_COMMAND}"
    leads = r"#"
    command = re.compile(_DISCOVER_COMMAND)
    no_rows = "no cable"

    def __init__(self) -> None:
        super().__init__()
        self._node: re.Match[str] | None = None

    def _read_line(self, line: Line) -> Taken:
        if (node := _NODE.match(line.text)) is not None:
            self._node = node
            return Taken.YES
        if (end := _END.match(line.text)) is not None and self._node is not None:
            node_id = self._node["id"]
            row = record(CableEnd, end, line, node=self._node["name"], node_id=node_id)
            return self.add((node_id, row.port), row)
        if _OTHER.match(line.text):
            return Taken.AGAIN if self.rows and line.text.startswith("# Topology") else Taken.YES
        return Taken.DAMAGED if re.match(r'\[\d+\]\S*\s+"[SHR]-|(?:Switch|Ca|Rt)\s+\d+ "', line.text) else Taken.NO

    def _missing(self) -> Iterable[str | None]:
        """Return whether cables have one end alone: the other was cut off."""
        ends = [row for row in self.rows.values() if isinstance(row, CableEnd)]
        single = sum((row.peer_id, row.peer_port) not in self.rows for row in ends)
        return (f"{plural(single, 'cable')} without the other end" if single else None,)


def _all_lanes(job: Job) -> Outcome | None:
    ends = [(fabric.file, row) for fabric in readings_of(job, IbNetDiscover) for row in fabric.rows]
    cables = [(file, row) for file, row in ends if row.of_switch and not row.aggregation_node]
    if not cables:
        return Outcome(Status.MISSING, "no cable")
    narrow = [(file, row) for file, row in cables if row.lanes < LANES]
    measured = listed((f"{row.node} port {row.port}: {row.lanes}x{row.speed}" for _, row in narrow), 4)
    kinds = listed(sorted({f"{row.lanes}x{row.speed}" for _, row in cables}))
    return Outcome(passed(not narrow), measured or kinds, proofs=row_proofs(narrow or cables), short=True)


CRITERIA = (
    Criterion(
        name="subnet-manager-enabled",
        title="A switch runs the subnet manager",
        limit="sm-state enabled",
        tolerance="other switches may have it disabled",
        applies="switches with show ib smnode output",
        source="R-3.1-3",
        needs=("ib-smnode",),
        judge=_manager_enabled,
    ),
    Criterion(
        name="cable-lanes",
        title="Every fabric cable uses all its lanes",
        limit=f"{LANES} lanes",
        unit="lanes",
        applies="subnets with ibnetdiscover output",
        source="R-2.1-3",
        needs=("ibnetdiscover",),
        judge=_all_lanes,
    ),
)
