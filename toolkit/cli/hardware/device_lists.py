"""Parsers of lists of devices: `nvidia-smi -L`, and `ibv_devinfo`."""

import re
from collections.abc import Mapping

from pydantic import Field

from core.model import Model
from toolkit.evidence.host_parser import HostParser, HostReading, RowsParser, record, typed
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line


class ListedGpu(Model):
    """A GPU of the list."""

    index: int
    name: str
    uuid: str | None = Field(description="None: not printed, as PyTorch's collect_env leaves it out")
    line: int


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

    def read_command(self, _text: str) -> None:
        """Read that it is the list of all GPUs: other tools print lines like these of some."""
        self._typed = True

    def read_line(self, line: Line) -> Taken:
        """Read a line."""
        if (row := self._row.match(line.text)) is not None:
            return self.add(row["index"], record(ListedGpu, row, line))
        return Taken.NO

    def facts(self) -> Mapping[str, object]:
        """Return whether the list is whole."""
        return {"whole": self._typed}


class VerbsDevice(Model):
    """A device, with its first port."""

    device: str
    ca_type: str | None = Field(default=None, description="e.g. MT4129; None: not printed")
    link_layer: str | None = None
    line: int


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

    def read_line(self, line: Line) -> Taken:
        """Read a line."""
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

    def facts(self) -> Mapping[str, object]:
        """Return the devices."""
        return {"rows": tuple(self._rows.values())}


LIST_PARSERS = (NvidiaSmiListParser, IbvDevInfoParser)
