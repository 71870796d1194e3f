"""`nvidia-smi -q -x`: each GPU of a node, as XML; the text form is one of `toolkit/evidence/tools`."""

import re
from collections.abc import Iterable, Mapping
from typing import ClassVar

from toolkit.evidence.host_parser import typed
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.tools.nvidia_smi_query import AS_XML, BUS, QUERY, NvidiaSmiQueryParser, QueryParser, whole

_DEEPEST = 32
"""Elements of the XML within each other; it has six."""


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
