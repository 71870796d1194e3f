"""The network of a pod: devices (ls, grep, ifconfig, `ip link`, `ip addr`), and addresses of names (getent hosts)."""

import re
from collections.abc import Iterable, Mapping

from pydantic import Field

from core.wording import plural
from toolkit.evidence.criterion import Criterion, Outcome, opening_proofs, passed, readings_of
from toolkit.evidence.host_parser import HostParser, HostReading, RowsParser, typed
from toolkit.evidence.model import Record
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import RDMA_TEST, Job, Status
from toolkit.evidence.wording import listed


class NetDevice(Record):
    """A network device."""

    name: str = Field(description="e.g. eth0")
    mtu: int | None = Field(description="bytes; None: the tool does not print it (ls)")
    up: bool | None = Field(description="whether it is up; None: not printed (ls, sysfs)")
    address: str | None = Field(description="first IPv4 address, without mask; None: none, or not printed")


class NetDevices(HostReading):
    """Devices, each once."""

    rows: tuple[NetDevice, ...]

    def _figures(self) -> str:
        return listed(f"{row.name}{f' MTU {row.mtu}' if row.mtu else ''}" for row in self.rows)


_LINK = re.compile(r"l[rwx]{9}[.+]?\s.*\s([\w.@-]+) -> (?:\.\./)+devices/\S+/net/([\w.@-]+)$")
_OLD = re.compile(r"([\w.@:-]+)\s+Link encap:\S")
_OLD_STATE = re.compile(r"\s+(?:(UP) )?.*\bMTU:(\d+)\s+Metric:\d+$")
_NEW = re.compile(r"([\w.@-]+): flags=\d+<([A-Z_,0-9]*)>\s+mtu (\d+)$")
_IP = re.compile(r"\d+: ([\w.-]+)(?:@[\w.-]+)?: <([A-Z_,0-9-]*)> mtu (\d+)\s")
_SYSFS = re.compile(r"/sys/class/net/([\w.@-]+)/mtu:(\d+)$")
_ADDRESS = re.compile(r"\s+inet (?:addr:)?(\d{1,3}(?:\.\d{1,3}){3})(?:/\d+)?(?:\s|$)")
_WITHIN = re.compile(
    r"\s+(?:inet6? |link/|valid_lft |RX |TX |collisions:|altname |ether |loop |unspec |infiniband |vlan |bridge |bond |"
    r"veth |macvlan |vxlan |alias |UP |device |vf \d|inet6 addr|Interrupt:|Memory:|Base address)"
)
_DEVICE_BEGUN = re.compile(r"\d+: [\w.-]+(?:@[\w.-]+)?: <|[\w.@-]+: flags=\d|l[rwx]{9}.* -> .*/net/")
_BEGINS = (
    r"/sys/class/net:$|[\w.@:-]+\s+Link encap:|[\w.@-]+: flags=\d+<|\d+: [\w.-]+(?:@[\w.-]+)?: <[A-Z_,0-9-]*> mtu |"
    r"l[rwx]{9}[.+]?\s.* -> (?:\.\./)+devices/\S+/net/|/sys/class/net/[\w.@-]+/mtu:\d"
)


class NetDevicesParser(HostParser):
    """Reads any of the five forms; a device that comes again begins another run."""

    tool = "net-devices"
    kind = NetDevices
    rdma_test = frozenset({RDMA_TEST})
    _COMMANDS = r"(?:(?:ls|grep)\b.*/sys/class/net|ifconfig\b|ip (?:-\S+ )*(?:link|addr|a|l|address)\b)"
    starts = rf"{_BEGINS}|{typed(_COMMANDS)}"
    leads = r"total \d+"
    command = re.compile(typed(_COMMANDS))

    def __init__(self) -> None:
        super().__init__()
        self._rows: dict[str, NetDevice] = {}
        self._old: tuple[str, str | None, int] | None = None
        self._last: str | None = None
        self._listed = False

    def _read_line(self, line: Line) -> Taken:
        text = line.text
        if (match := _SYSFS.match(text)) is not None:
            return self._mtu(match[1], int(match[2]), line.number)
        if text.startswith("/"):
            self._listed = text == "/sys/class/net:"
            return Taken.NO if not self._listed else Taken.AGAIN if self._rows else Taken.YES
        if self._listed and re.match(r"total \d+$", text):
            return Taken.YES
        if text[:1].isspace():
            return self._more(text)
        for pattern in (_LINK, _OLD, _NEW, _IP):
            if (match := pattern.match(text)) is not None:
                return self._device(pattern, match, line.number)
        return Taken.DAMAGED if _DEVICE_BEGUN.match(text) else Taken.NO

    def _device(self, pattern: re.Pattern[str], match: re.Match[str], line: int) -> Taken:
        name = match[1]
        if name in self._rows or (self._old is not None and self._old[0] == name):
            return Taken.AGAIN
        if pattern is _OLD:
            self._old = (name, None, line)
            self._last = None
            return Taken.YES
        mtu, up = (None, None) if pattern is _LINK else (int(match[3]), "UP" in match[2].split(","))
        self._rows[name] = NetDevice(name=name, mtu=mtu, up=up, address=None, line=line)
        self._old, self._last = None, name
        return Taken.YES

    def _mtu(self, name: str, mtu: int, line: int) -> Taken:
        """Read a device's file `mtu`, which does not show whether it is up."""
        # A listing of the same folder, whose rows have none, is another run.
        if name in self._rows or self._old is not None or any(row.mtu is None for row in self._rows.values()):
            return Taken.AGAIN
        self._rows[name] = NetDevice(name=name, mtu=mtu, up=None, address=None, line=line)
        self._last = None
        return Taken.YES

    def _more(self, text: str) -> Taken:
        """Read an indented line: of the device before it."""
        if self._old is None and self._last is None:
            return Taken.NO
        if (address := _ADDRESS.match(text)) is not None:
            self._address(address[1])
            return Taken.YES
        if self._old is not None and (state := _OLD_STATE.match(text)) is not None:
            name, at, line = self._old
            self._rows[name] = NetDevice(name=name, mtu=int(state[2]), up=state[1] is not None, address=at, line=line)
            self._old, self._last = None, name
            return Taken.YES
        if "MTU:" in text:
            return Taken.DAMAGED
        return Taken.YES if _WITHIN.match(text) else Taken.NO

    def _address(self, address: str) -> None:
        if self._old is not None:
            name, at, line = self._old
            self._old = (name, at or address, line)
        elif self._last is not None and self._rows[self._last].address is None:
            self._rows[self._last] = self._rows[self._last].model_copy(update={"address": address})

    def _facts(self) -> Mapping[str, object]:
        return {"rows": tuple(self._rows.values())}

    def _missing(self) -> Iterable[str | None]:
        return (f"{self._old[0]}: no MTU" if self._old else None, None if self._rows else "no device")


def _interfaces(job: Job) -> Outcome | None:
    outputs = readings_of(job, NetDevices)
    # Each pod by itself: one that lacks a port is not made whole by another.
    names = [{row.name for row in output.rows} - {"lo"} for output in outputs]
    ports = [port_names - {"eth0"} for port_names in names]
    if job.request.fabric == "roce":
        count = len(job.request.hcas)
        least = min(names, key=len)
        enough = all(len(port_names) >= count for port_names in ports)
        limit = f"eth0, and {plural(count, 'port')}"
        return Outcome(passed(enough), listed(sorted(least)), limit, opening_proofs(outputs), short=True)
    status = Status.PASS if not any(ports) and any(names) else Status.WARN
    return Outcome(status, listed(sorted(set().union(*names))), "eth0 alone", opening_proofs(outputs))


class Address(Record):
    """An address of a name."""

    address: str = Field(description="IPv4 or IPv6")
    names: tuple[str, ...] = Field(description="the name, and its aliases")


class GetentHosts(HostReading):
    """The addresses of one name; nothing is printed for a name that is not known."""

    name: str = Field(description="that was looked up")
    tries: int = Field(description="lookups until it was known")
    rows: tuple[Address, ...]

    def _figures(self) -> str:
        return f"{self.name} is {listed(row.address for row in self.rows) or 'not known'}"


_LOOKUP = re.compile(typed(r"getent hosts ([\w.-]{1,253})$"))
_FOUND_ADDRESS = re.compile(
    r"((?:\d{1,3}\.){3}\d{1,3}|[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7})\s+([\w.-]+(?:\s+[\w.-]+)*)$"
)


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

    def _read_line(self, line: Line) -> Taken:
        if (lookup := _LOOKUP.match(line.text)) is not None:
            if self.rows or self._name not in {"", lookup[1]}:
                return Taken.AGAIN
            self._name = lookup[1]
            self._tries += 1
            return Taken.YES
        row = _FOUND_ADDRESS.match(line.text)
        if row is None or self._name not in row[2].split():
            return Taken.NO
        names = tuple(row[2].split())
        return self.add(line.number, Address(address=row[1], names=names, line=line.number))

    def _facts(self) -> Mapping[str, object]:
        return {"name": self._name, "tries": self._tries}


CRITERIA = (
    Criterion(
        name="pod-interfaces",
        title="The pod has the interfaces that its fabric requires",
        limit="InfiniBand: eth0 alone; RoCE: eth0, and one for each HCA",
        unit="interfaces",
        tolerance="additional ones are a warning",
        applies="the RDMA test",
        source="R-4.1-5, B-7.2",
        needs=("net-devices",),
        judge=_interfaces,
        when=lambda request: request.is_rdma_test and request.has_rdma_fabric,
    ),
)
