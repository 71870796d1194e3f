"""Parsers of lists of devices: `nvidia-smi -L`, `nvidia-smi -q -x` (as text: toolkit/evidence/tools), ibv_devinfo."""

import re
from collections.abc import Iterable, Mapping
from typing import ClassVar

from pydantic import Field

from toolkit.evidence.host_parser import HostParser, HostReading, RowsParser, record, typed
from toolkit.evidence.model import Record
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.tools.nvidia_smi_query import AS_XML, BUS, QUERY, NvidiaSmiQueryParser, QueryParser, whole

_DEEPEST = 32
"""Elements of the XML within each other; it has six."""


class ListedGpu(Record):
    """A GPU of the list."""

    index: int
    name: str
    uuid: str | None = Field(description="None: not printed, as PyTorch's collect_env leaves it out")


class NvidiaSmiList(HostReading):
    """GPUs with their names."""

    rows: tuple[ListedGpu, ...]
    whole: bool = Field(description="whether it is known to have all GPUs of the host")


class NvidiaSmiListParser(RowsParser):
    """Reads `nvidia-smi -L`, also as tools quote it."""

    tool = "nvidia-smi -L"
    kind = NvidiaSmiList
    no_rows = "no GPU"
    _command = r"nvidia-smi (?:-L|--list-gpus)\b"
    command = re.compile(typed(_command))
    starts = rf"GPU \d+: [A-Z][\w .-]+(?: \(UUID: |$)|{command.pattern}"
    _row = re.compile(r"GPU (?P<index>\d{1,3}): (?P<name>[A-Z][\w .-]*[\w.])(?: \(UUID: (?P<uuid>GPU-[0-9a-f-]+)\))?$")

    def __init__(self) -> None:
        super().__init__()
        self._typed = False

    def _read_command(self, _text: str) -> None:
        """Read that it is the list of all GPUs: other tools print lines like these of some."""
        self._typed = True

    def _read_line(self, line: Line) -> Taken:
        if (row := self._row.match(line.text)) is not None:
            return self.add(row["index"], record(ListedGpu, row, line))
        return Taken.NO

    def _facts(self) -> Mapping[str, object]:
        return {"whole": self._typed}


class VerbsDevice(Record):
    """A device, with its first port."""

    device: str
    ca_type: str | None = Field(default=None, description="e.g. MT4129; None: not printed")
    link_layer: str | None = None


class IbvDevInfo(HostReading):
    """Devices of ibverbs."""

    rows: tuple[VerbsDevice, ...]


class IbvDevInfoParser(HostParser):
    """Reads ibv_devinfo; what it prints of a device is indented below it."""

    tool = "ibv_devinfo"
    kind = IbvDevInfo
    command = re.compile(typed(r"ibv_devinfo\b"))
    starts = rf"hca_id:\s+\S+$|{command.pattern}"
    _row = re.compile(r"\s*([a-z][\w.]*):\s*(.*)$")

    def __init__(self) -> None:
        super().__init__()
        self._rows: dict[str, VerbsDevice] = {}
        self._device = ""
        self._port = 0

    def _read_line(self, line: Line) -> Taken:
        row = self._row.match(line.text)
        if row is None:
            return Taken.YES if self._device and line.text[:1].isspace() else Taken.NO
        key, value = row[1], row[2].strip()
        if key == "hca_id":
            if value in self._rows:
                return Taken.AGAIN
            self._device, self._port = value, 0
            self._rows[value] = VerbsDevice(device=value, line=line.number)
        elif not self._device or not line.text[:1].isspace():
            return Taken.NO
        elif key == "port" and value.isdecimal():
            self._port = int(value[:4])
        elif key == "vendor_part_id" and value.isdecimal():
            self._update(ca_type=f"MT{value}")
        elif key == "link_layer" and self._port == 1 and value in ("InfiniBand", "Ethernet"):
            self._update(link_layer=value)
        return Taken.YES

    def _update(self, **fields: object) -> None:
        self._rows[self._device] = self._rows[self._device].model_copy(update=fields)

    def _facts(self) -> Mapping[str, object]:
        return {"rows": tuple(self._rows.values())}


LIST_PARSERS = (NvidiaSmiListParser, IbvDevInfoParser)


class NvidiaSmiXmlParser(QueryParser):
    """Reads the XML form, an element at a time: no entity is looked up, and a damaged file is read as far as it can."""

    tool = "nvidia-smi -q -x"
    command = re.compile(typed(rf"{QUERY}{AS_XML}"))
    starts = rf"<nvidia_smi_log>|{command.pattern}"
    leads = r"<\?xml .*|<!DOCTYPE nvidia_smi_log .*"
    _element = re.compile(
        rf'<(?P<name>\w+)(?: id="(?P<bus>{BUS})")?>(?P<text>[^<>]*)(?P<end></(?P=name)>)?|<(?P<empty>\w+) ?/>'
        r"|</(?P<close>\w+)>"
    )
    _fields_by_path: ClassVar[Mapping[tuple[str, ...], tuple[str, ...]]] = {
        ("gpu", "product_name"): ("Product Name",),
        ("gpu", "product_architecture"): ("Product Architecture",),
        ("gpu", "uuid"): ("GPU UUID",),
        ("gpu", "fb_memory_usage", "total"): ("FB Memory Usage", "Total"),
        ("gpu", "fb_memory_usage", "used"): ("FB Memory Usage", "Used"),
        ("gpu", "gpu_power_readings", "current_power_limit"): ("GPU Power Readings", "Current Power Limit"),
    }
    """Element -> section and key of the text form."""

    def __init__(self) -> None:
        super().__init__()
        self._open: list[str] = []
        """Elements that are open, without the document's own."""
        self._begun_xml = self._closed = False

    def _read_line(self, line: Line) -> Taken:
        text = line.text.strip()
        if self._closed:
            return Taken.NO
        if re.fullmatch(self.leads, text):
            return Taken.AGAIN if self._begun_xml else Taken.YES
        if "<" not in text:
            # What an element holds may be in lines of its own, which are indented.
            return Taken.YES if self._open and line.text[:1].isspace() else Taken.NO
        damaged = False
        for match in self._element.finditer(text):
            taken = self._take_element(match, line)
            if taken is Taken.AGAIN:
                return taken
            damaged = damaged or taken is Taken.DAMAGED
        return Taken.DAMAGED if damaged or self._element.sub("", text).strip() else Taken.YES

    def _take_element(self, match: re.Match[str], line: Line) -> Taken:
        name, close = match["name"], match["close"]
        if name == "nvidia_smi_log":
            again, self._begun_xml = self._begun_xml, True
            return Taken.AGAIN if again else Taken.YES
        if close is not None:
            return self._close(close)
        if match["end"]:
            return self._value(name, match["text"].strip())
        return Taken.YES if name is None else self._enter(name, match, line)

    def _enter(self, name: str, match: re.Match[str], line: Line) -> Taken:
        if name == "gpu" and match["bus"]:
            # Whatever is open was cut.
            self._open = [name]
            return self.begin(match["bus"], line)
        if match["text"].strip() or len(self._open) >= _DEEPEST:
            return Taken.DAMAGED
        self._open.append(name)
        return Taken.YES

    def _close(self, name: str) -> Taken:
        if name == "nvidia_smi_log":
            self._closed = True
            return Taken.YES
        if name not in self._open:
            return Taken.DAMAGED
        while self._open.pop() != name:
            pass
        return Taken.YES

    def _value(self, name: str, value: str) -> Taken:
        if not self._open and name == "attached_gpus":
            self.attached = whole(value)
        elif (path := self._fields_by_path.get((*self._open, name))) is not None:
            self.set_value(path, value)
        return Taken.YES

    def _missing(self) -> Iterable[str | None]:
        return (None if self._closed else "no end of the XML",)


QUERY_PARSERS = (NvidiaSmiQueryParser, NvidiaSmiXmlParser)
