"""`nvidia-smi -q`: each GPU of a node, as text and as XML (-x)."""

import re
from collections.abc import Iterable, Mapping
from typing import ClassVar

from pydantic import Field

from evidence.host_parser import HostParser, HostReading, typed
from evidence.parser import Taken
from evidence.text import Line
from hardware.model import Model

_QUERY = r"nvidia-smi (?=(?:.* )?(?:-q|-a|--query)(?: |$))"
_AS_XML = r"(?=(?:.* )?(?:-x|--xml-format)(?: |$))"
_BUS = r"[0-9A-Fa-f]{8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]"
_DEEPEST = 32
"""Elements of the XML within each other; it has six."""


class QueriedGpu(Model):
    """One GPU of `nvidia-smi -q`. None: not printed."""

    bus: str = Field(description="PCI address, e.g. 00000000:18:00.0")
    name: str | None = None
    architecture: str | None = Field(default=None, description="generation of the GPUs")
    uuid: str | None = None
    memory_mib: int | None = Field(default=None, description="in all, MiB")
    line: int


class NvidiaSmiQuery(HostReading):
    """What `nvidia-smi -q` prints."""

    attached: int | None = Field(description="GPUs of the node, of which -i may select some")
    rows: tuple[QueriedGpu, ...]


class _QueryParser(HostParser):
    """What both forms have in common."""

    kind = NvidiaSmiQuery

    def __init__(self) -> None:
        super().__init__()
        self._attached: int | None = None
        self._gpus: dict[str, QueriedGpu] = {}

    def _begin(self, bus: str, line: Line) -> Taken:
        if bus in self._gpus:
            return Taken.AGAIN
        self._gpus[bus] = QueriedGpu(bus=bus.lower(), line=line.number)
        return Taken.YES

    def _set(self, field: str, value: str) -> None:
        """Set a field of the last GPU."""
        if self._gpus and value != "N/A":
            bus, last = next(reversed(self._gpus.items()))
            known: object = _whole(value.removesuffix(" MiB")) if field == "memory_mib" else value
            self._gpus[bus] = last.model_copy(update={field: known})

    def facts(self) -> Mapping[str, object]:
        """Return the GPUs."""
        return {"attached": self._attached, "rows": tuple(self._gpus.values())}


class NvidiaSmiQueryParser(_QueryParser):
    """Reads the text form."""

    tool = "nvidia-smi -q"
    command = re.compile(typed(rf"{_QUERY}(?!{_AS_XML})"))
    starts = rf"=+NVSMI LOG=+$|{command.pattern}"
    _gpu = re.compile(rf"GPU ({_BUS})$")
    _head = re.compile(r"(?:Timestamp|Driver Version|CUDA Version|Attached GPUs)\s+: (.*)$")
    # A matrix that was copied with blanks is indented as well, and begins with GPU0; labels of a node have a slash.
    _inner = re.compile(r"((?: {4})+)(?!GPU\d)[A-Za-z][^/=:]*(?::|$)")
    _names: ClassVar[Mapping[str, str]] = {
        "Product Name": "name",
        "Product Architecture": "architecture",
        "GPU UUID": "uuid",
    }

    def __init__(self) -> None:
        super().__init__()
        self._section = ""

    def take(self, line: Line) -> Taken:
        """Read a line."""
        text = line.text
        if text.startswith("="):
            return Taken.AGAIN if self._gpus else Taken.YES
        if (gpu := self._gpu.match(text)) is not None:
            return self._begin(gpu[1], line)
        if (head := self._head.match(text)) is not None:
            if text.startswith("Attached"):
                self._attached = _whole(head[1])
            return Taken.YES
        inner = self._inner.match(text)
        return Taken.NO if inner is None else self._value(len(inner[1]), *map(str.strip, text.split(":", 1)))

    def _value(self, indent: int, key: str, value: str = "") -> Taken:
        if not value:
            self._section = key
        elif indent == 4 and key in self._names:  # noqa: PLR2004 - below the GPU
            self._set(self._names[key], value)
        elif self._section == "FB Memory Usage" and key == "Total":
            self._set("memory_mib", value)
        return Taken.YES


class NvidiaSmiXmlParser(_QueryParser):
    """Reads the XML form, an element at a time: no entity is looked up, and a damaged file is read as far as it can."""

    tool = "nvidia-smi -q -x"
    command = re.compile(typed(rf"{_QUERY}{_AS_XML}"))
    starts = rf"<nvidia_smi_log>|{command.pattern}"
    leads = r"<\?xml .*|<!DOCTYPE nvidia_smi_log .*"
    _element = re.compile(
        rf'<(?P<name>\w+)(?: id="(?P<bus>{_BUS})")?>(?P<text>[^<>]*)(?P<end></(?P=name)>)?|<(?P<empty>\w+) ?/>'
        r"|</(?P<close>\w+)>"
    )
    _wanted: ClassVar[Mapping[tuple[str, ...], str]] = {
        ("gpu", "product_name"): "name",
        ("gpu", "product_architecture"): "architecture",
        ("gpu", "uuid"): "uuid",
        ("gpu", "fb_memory_usage", "total"): "memory_mib",
    }

    def __init__(self) -> None:
        super().__init__()
        self._open: list[str] = []
        """Elements that are open, without the document's own."""
        self._begun_xml = self._closed = False

    def take(self, line: Line) -> Taken:
        """Read a line."""
        text = line.text.strip()
        if self._closed:
            return Taken.NO
        if re.fullmatch(self.leads, text):
            return Taken.AGAIN if self._begun_xml else Taken.YES
        if "<" not in text:
            # What an element holds may be in lines of its own, which are indented.
            return Taken.YES if self._open and line.text[:1].isspace() else Taken.NO
        damaged = False
        for each in self._element.finditer(text):
            taken = self._take_element(each, line)
            if taken is Taken.AGAIN:
                return taken
            damaged = damaged or taken is Taken.DAMAGED
        return Taken.DAMAGED if damaged or self._element.sub("", text).strip() else Taken.YES

    def _take_element(self, found: re.Match[str], line: Line) -> Taken:
        name, close = found["name"], found["close"]
        if name == "nvidia_smi_log":
            again, self._begun_xml = self._begun_xml, True
            return Taken.AGAIN if again else Taken.YES
        if close is not None:
            return self._close(close)
        if found["end"]:
            return self._value(name, found["text"].strip())
        return Taken.YES if name is None else self._enter(name, found, line)

    def _enter(self, name: str, found: re.Match[str], line: Line) -> Taken:
        if name == "gpu" and found["bus"]:
            # Whatever is open was cut.
            self._open = [name]
            return self._begin(found["bus"], line)
        if found["text"].strip() or len(self._open) >= _DEEPEST:
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
            self._attached = _whole(value)
        elif (field := self._wanted.get((*self._open, name))) is not None:
            self._set(field, value)
        return Taken.YES

    def missing(self) -> Iterable[str | None]:
        """Return whether the end is missing."""
        return (None if self._closed else "no end of the XML",)


QUERY_PARSERS = (NvidiaSmiQueryParser, NvidiaSmiXmlParser)


def _whole(text: str) -> int | None:
    """Return a number of up to nine digits; None for anything else."""
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text.strip()) else None
