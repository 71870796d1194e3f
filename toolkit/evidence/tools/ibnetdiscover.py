"""ibnetdiscover: the cables of an InfiniBand subnet, from both of their ends."""

import re
from collections.abc import Iterable

from pydantic import Field

from core.model import Model
from core.wording import plural
from toolkit.evidence.criterion import Criterion, Outcome, passed, readings_of, row_proofs
from toolkit.evidence.host_parser import HostReading, RowsParser, record, typed
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import Job, Status
from toolkit.evidence.wording import listed

LANES = 4
"""Of a cable to a port of today's switches and adapters."""


class CableEnd(Model):
    """One end of a cable: a port of a switch or of an adapter, and what is at the other end."""

    node: str = Field(description="its description, e.g. MF0;leaf-1:MQM8700/U1, or of an adapter node02 HCA-3")
    node_id: str = Field(description="S- of a switch or H- of an adapter, with its GUID")
    port: int
    peer: str = Field(description="description of the other end")
    peer_id: str
    peer_port: int
    lanes: int
    speed: str = Field(description="of a lane: SDR to XDR")
    line: int

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

    def figures(self) -> str:
        """Return the few figures that a table has room for."""
        nodes = {row.node_id for row in self.rows}
        switches = sum(node.startswith("S-") for node in nodes)
        return f"{plural(switches, 'switch', 'switches')}, {len(nodes) - switches} CAs"


_COMMAND = typed(r"ibnetdiscover\b")
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
    starts = rf"{_GENERATED}|{_COMMAND}"
    leads = r"#"
    command = re.compile(_COMMAND)
    no_rows = "no cable"

    def __init__(self) -> None:
        super().__init__()
        self._node: re.Match[str] | None = None

    def read_line(self, line: Line) -> Taken:
        """Read a line."""
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

    def missing(self) -> Iterable[str | None]:
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
        name="cable-lanes",
        title="Every fabric cable uses all its lanes",
        limit=f"{LANES} lanes",
        unit="lanes",
        applies="subnets with ibnetdiscover output",
        source="R-2.1-3",
        judge=_all_lanes,
    ),
)
