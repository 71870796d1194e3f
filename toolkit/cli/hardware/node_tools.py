"""Parsers of what a node prints about itself, of tools that prove nothing about a job."""

import re
from collections.abc import Mapping

from pydantic import Field

from core.hardware import cpus
from toolkit.evidence.host_parser import HostParser, HostReading, RowsParser, record, typed
from toolkit.evidence.model import Record
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line

_LABEL = r"\s*(?:Labels:\s+)?\"?"
PCI = r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"


class NetDevOfIb(Record):
    """The network interface of a port of a verbs device."""

    device: str
    port: int
    interface: str
    pci: str | None = Field(default=None, description="PCI address; None: printed by -v only")
    ca_type: str | None = Field(default=None, description="e.g. MT4129; None: printed by -v only")


class IbDev2NetDev(HostReading):
    """Ports with a network interface."""

    rows: tuple[NetDevOfIb, ...]


class IbDev2NetDevParser(RowsParser):
    """Reads ibdev2netdev, also with -v, and with the columns that `column -t` makes of either."""

    tool = "ibdev2netdev"
    kind = IbDev2NetDev
    no_rows = "no interface"
    starts = rf"(?:{PCI} +)?[A-Za-z][\w.-]* +(?:port +\d|\(MT\d+ ).*==> |" + typed("ibdev2netdev")
    command = re.compile(typed("ibdev2netdev"))
    _row = re.compile(
        rf"(?:(?P<pci>{PCI}) )?(?P<device>[A-Za-z][\w.-]*) (?:\((?P<ca_type>MT\d+) [^)]*\).* )?port "
        r"(?P<port>\d{1,3}) (?:\([^)]*\) )?==> (?P<interface>[\w.@-]+) \((?:Up|Down)\)(?: #.*)?$"
    )

    def _read_line(self, line: Line) -> Taken:
        if (row := self._row.match(" ".join(line.text.split()))) is not None:
            return self.add((row["device"], row["port"]), record(NetDevOfIb, row, line))
        return Taken.DAMAGED if "==>" in line.text else Taken.NO


class RdmaLinkOfDevice(Record):
    """A port of a verbs device."""

    device: str
    port: int
    interface: str | None = Field(description="None: not printed, as for InfiniBand without IPoIB")
    subnet: str | None = Field(description="prefix of the subnet, which ports of InfiniBand have; None: not printed")


class RdmaLink(HostReading):
    """Ports of verbs devices, as iproute2 shows them."""

    rows: tuple[RdmaLinkOfDevice, ...]


class RdmaLinkParser(RowsParser):
    """Reads `rdma link`, also of releases that number the devices."""

    tool = "rdma link"
    kind = RdmaLink
    no_rows = "no port"
    command = re.compile(typed(r"rdma (?:-d )?link\b"))
    starts = rf"(?:link +|\d+/\d+: +)[A-Za-z][\w.-]*/\d+:? +.*\bstate [A-Z]|{command.pattern}"
    _row = re.compile(
        r"(?:link |\d+/\d+: )(?P<device>[A-Za-z][\w.-]*)/(?P<port>\d{1,3}):? "
        r"(?:subnet_prefix (?P<subnet>[0-9a-f:]+) )?.*\bstate [A-Z_]+\b"
        r"(?:.* netdev (?P<interface>[\w.@-]+))?"
    )

    def _read_line(self, line: Line) -> Taken:
        if (row := self._row.match(" ".join(line.text.split()))) is not None:
            return self.add((row["device"], row["port"]), record(RdmaLinkOfDevice, row, line))
        return Taken.DAMAGED if "physical_state" in line.text else Taken.NO


class SysfsDevice(Record):
    """A verbs device as sysfs links it."""

    device: str
    pci: str = Field(description="PCI address")


class SysfsDevices(HostReading):
    """Verbs devices with their PCI addresses, which a pod sees without the host's network."""

    rows: tuple[SysfsDevice, ...]


class SysfsDevicesParser(RowsParser):
    """Reads `ls -l /sys/class/infiniband`."""

    tool = "/sys/class/infiniband"
    kind = SysfsDevices
    no_rows = "no device"
    command = re.compile(typed(r"ls -\w*l\w* /sys/class/infiniband/?$"))
    starts = rf"l[rwx]{{9}}[.+]? .* -> (?:\.\./)+devices/\S+/infiniband/|{command.pattern}"
    _row = re.compile(
        rf"l[rwx]{{9}}[.+]? .* (?P<device>[\w.-]+) -> (?:\.\./)+devices/\S*/(?P<pci>{PCI})/infiniband/(?P=device)$"
    )

    def _read_line(self, line: Line) -> Taken:
        if (row := self._row.match(line.text)) is not None:
            return self.add(row["device"], record(SysfsDevice, row, line))
        if re.fullmatch(r"total \d+", line.text):
            return Taken.AGAIN if self.rows else Taken.YES
        return Taken.DAMAGED if "/infiniband/" in line.text else Taken.NO


class MemoryNode(Record):
    """A NUMA node of `numactl -H`."""

    node: int
    cpus: str | None = Field(default=None, description="list, e.g. 0-15; empty: a node with memory only")
    size_mib: int | None = Field(default=None, description="memory, MiB, which numactl calls MB")


class Numactl(HostReading):
    """NUMA nodes."""

    rows: tuple[MemoryNode, ...]


class NumactlParser(HostParser):
    """Reads `numactl -H`."""

    tool = "numactl"
    kind = Numactl
    starts = r"available: \d+ nodes? \(|node \d+ (?:cpus|size):|" + typed(r"numactl\b")
    command = re.compile(typed(r"numactl\b"))
    _of_node = re.compile(r"node (\d{1,4}) (?:cpus:((?: +\d{1,5})*)|size: (\d{1,12}) MB|free: \d+ MB)$")
    _other = re.compile(r"available: \d+ nodes? \([\d,-]+\)$|node distances:$|node(?:\s+\d+)+$|\s*\d+:(?:\s+\d+)+$")

    def __init__(self) -> None:
        super().__init__()
        self._nodes: dict[int, MemoryNode] = {}

    def _read_line(self, line: Line) -> Taken:
        match = self._of_node.match(line.text)
        if match is None:
            if self._other.match(line.text) is None:
                return Taken.DAMAGED if re.match(r"node \d+ (?:cpus|size)", line.text) else Taken.NO
            return Taken.AGAIN if self._nodes and line.text.startswith("available") else Taken.YES
        node = self._nodes.get(int(match[1]), MemoryNode(node=int(match[1]), line=line.number))
        update: dict[str, object] = {}
        if match[2] is not None:
            update["cpus"] = cpus.write(map(int, match[2].split()))
        elif match[3] is not None:
            update["size_mib"] = int(match[3])
        if any(getattr(node, name) is not None for name in update):
            return Taken.AGAIN
        self._nodes[node.node] = node.model_copy(update=update)
        return Taken.YES

    def _facts(self) -> Mapping[str, object]:
        return {"rows": tuple(self._nodes.values())}


class MemInfo(HostReading):
    """/proc/meminfo."""

    total_kib: int | None = Field(description="MemTotal, KiB: installed memory without what the firmware reserves")

    def _figures(self) -> str:
        return f"{self.total_kib} KiB"


class MemInfoParser(HostParser):
    """Reads /proc/meminfo."""

    tool = "/proc/meminfo"
    kind = MemInfo
    starts = r"MemTotal:\s+\d|" + typed(r"cat /proc/meminfo$")
    command = re.compile(typed(r"cat /proc/meminfo$"))
    contiguous = True
    _row = re.compile(r"([A-Z]\w*(?:\(\w+\))?):\s+(\d{1,15})(?: kB)?$")

    def __init__(self) -> None:
        super().__init__()
        self._total: int | None = None

    def _read_line(self, line: Line) -> Taken:
        row = self._row.match(line.text)
        if row is None:
            return Taken.DAMAGED if line.text.startswith("MemTotal") else Taken.NO
        if row[1] == "MemTotal":
            if self._total is not None:
                return Taken.AGAIN
            self._total, self.line = int(row[2]), line.number
        return Taken.YES

    def _facts(self) -> Mapping[str, object]:
        return {"total_kib": self._total}


class Label(Record):
    """A label of a node."""

    key: str
    value: str


class NodeLabels(HostReading):
    """Labels of a node, as node feature discovery and GPU feature discovery write them."""

    rows: tuple[Label, ...]


class NodeLabelsParser(RowsParser):
    """Reads labels, one a line: of `oc describe node`, or of the node as YAML or JSON."""

    tool = "node labels"
    kind = NodeLabels
    starts = rf"{_LABEL}(?:feature\.node\.kubernetes\.io|nvidia\.com|(?:beta\.)?kubernetes\.io)/[\w.-]+\"?[=:]"
    _row = re.compile(rf"{_LABEL}(?P<key>[a-z][\w.-]*/[\w.-]+)\"?(?:=|: ?)[\"']?(?P<value>[\w.-]*)[\"']?,?$")

    def _read_line(self, line: Line) -> Taken:
        row = self._row.match(line.text)
        return Taken.NO if row is None else self.add(row["key"], record(Label, row, line))


NODE_PARSERS = (IbDev2NetDevParser, RdmaLinkParser, SysfsDevicesParser, NumactlParser, MemInfoParser, NodeLabelsParser)
