"""`oc get nodes -o wide`."""

import re

from pydantic import Field

from toolkit.evidence.criterion import Criterion
from toolkit.evidence.host_parser import HostReading, RowsParser, typed
from toolkit.evidence.model import Record
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line


class ClusterNode(Record):
    """A node."""

    name: str
    status: str = Field(description="e.g. Ready, NotReady,SchedulingDisabled")
    roles: str = Field(description="e.g. worker")
    age: str = Field(description="as printed, e.g. 6d3h")
    version: str = Field(description="of the kubelet, e.g. v1.17.1")
    internal_ip: str | None = None
    os_image: str | None = None
    kernel: str | None = None
    runtime: str | None = Field(default=None, description="e.g. cri-o://1.17.4")

    @property
    def ready(self) -> bool:
        """Return whether it is ready, also when no pods are scheduled to it."""
        return self.status.split(",")[0] == "Ready"


class Nodes(HostReading):
    """Nodes of the cluster."""

    rows: tuple[ClusterNode, ...]


_COLUMNS = {
    "NAME": "name",
    "STATUS": "status",
    "ROLES": "roles",
    "AGE": "age",
    "VERSION": "version",
    "INTERNAL-IP": "internal_ip",
    "OS-IMAGE": "os_image",
    "KERNEL-VERSION": "kernel",
    "CONTAINER-RUNTIME": "runtime",
}
_HEADER = r"NAME\s+STATUS\s+ROLES\s+AGE\s+VERSION\b"
_COMMAND = typed(r"(?:oc|kubectl)\s+get\s+nodes?\b")
_ROW = re.compile(r"[a-z0-9][a-z0-9.-]*\s+(?:Not)?(?:Ready|Unknown)(?:,[A-Za-z,]+)?(?:\s|$)")
_KINDS = {
    "age": re.compile(r"(?:\d+[ydhms])+|<(?:unknown|invalid)>"),
    "version": re.compile(r"v\d+(?:\.\d+)+\S*"),
    "internal_ip": re.compile(r"[0-9a-fA-F.:]+|<none>"),
}


class NodesParser(RowsParser):
    """Reads the table by the columns of its heading."""

    tool = "nodes"
    kind = Nodes
    starts = rf"{_HEADER}|{_COMMAND}"
    command = re.compile(_COMMAND)
    contiguous = True
    no_rows = "no node"

    def __init__(self) -> None:
        super().__init__()
        self._columns: tuple[str, ...] = ()

    def _read_line(self, line: Line) -> Taken:
        if re.match(_HEADER, line.text):
            again, self._columns = bool(self._columns), tuple(line.text.split())
            return Taken.AGAIN if again else Taken.YES
        if not self._columns or not _ROW.match(line.text):
            return Taken.NO
        # Columns are padded with two blanks or more; names of operating systems have single ones.
        cells = re.split(r"\s{2,}", line.text)
        if len(cells) != len(self._columns):
            return Taken.DAMAGED
        fields = {_COLUMNS[key]: cell for key, cell in zip(self._columns, cells, strict=True) if key in _COLUMNS}
        if not all(_KINDS[key].fullmatch(fields[key]) for key in _KINDS if key in fields):
            return Taken.DAMAGED
        return self.add(cells[0], ClusterNode.model_validate({**fields, "line": line.number}), Taken.DAMAGED)


CRITERIA: tuple[Criterion, ...] = ()
"""None yet."""
