"""Bytes to text, text to the chunks between `---` lines, and variables of templates that nothing has rendered."""

import codecs
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from policies.manifests.documents import NotReadable
from policies.manifests.objects import Obj
from policies.manifests.templates import VARIABLE, unrendered

_SEPARATOR = re.compile(r"^---(?=[ \t\r\n]|\Z)", re.MULTILINE)
_CONTENT = re.compile(r"^(?!---(?:\s|\Z))[ \t]*[^\s#%]|^---[ \t]+[^\s#]", re.MULTILINE)
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
"""What YAML forbids, and byte order marks within a text, which this parser and that of Kubernetes read differently."""
_LINE_END = re.compile("\n")
_SURROGATES = re.compile(r"\\\\|\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BEGIN, _END = "{{", "}}"
_BEGINS_A_VALUE = re.compile(r"[ \t]*(?:- +)*(?:[\w./-]+:[ \t]+)?\Z")
_IN_A_FLOW = re.compile(r"(?<!\$)[{\[][^\n]*?(\$\{\w)")
"""A variable with braces in a mapping or list with brackets, where YAML takes its braces for another one."""
_SHOWN = 5
_KINDS = frozenset({"PersistentVolumeClaim", "PersistentVolume", "StorageClass", "Namespace"})
"""Kinds beside those with pods in which a variable is a value that is not known yet. In others, such as roles, the text
of a variable is a name, and stays one."""
_OF_CONTROLLERS = ("argoproj.io", "tekton.dev", "kyverno.io")
"""Groups whose controllers fill in `{{ }}` themselves."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a text: `line` is the number of its first line, counted from 1."""

    text: str
    line: int

    def positions(self, offsets: Iterable[int]) -> list[tuple[int, int]]:
        """Return line and column, counted from 1, of characters of this chunk; it is read once for all of them."""
        begins = [0, *(match.end() for match in _LINE_END.finditer(self.text))]
        positions = []
        for offset in offsets:
            line = bisect_right(begins, min(offset, len(self.text)))
            positions.append((self.line + line - 1, min(offset, len(self.text)) - begins[line - 1] + 1))
        return positions

    def position(self, offset: int) -> tuple[int, int]:
        """Return line and column, counted from 1, of a character of this chunk."""
        return self.positions([offset])[0]


def decode(content: bytes) -> str:
    """Return the text of a file; raise NotReadable for what no YAML file may hold."""
    encoding = "utf-16" if content.startswith(_WIDE) else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        good = len(content[: error.start].decode(encoding))
        raise NotReadable(f"is not UTF-8: byte 0x{content[error.start]:02x}", good) from None
    wrong = _UNPRINTABLE.search(text)
    if wrong is not None:
        raise NotReadable(f"has a control character, U+{ord(wrong[0]):04X}", wrong.start())
    if text.lstrip()[:1] in ("{", "["):
        return _SURROGATES.sub(_character, text)
    return text


def _character(match: re.Match[str]) -> str:
    """JSON writes characters above U+FFFF as two escapes, each of which YAML refuses."""
    if match[1] is None:
        return match[0]
    return bytes.fromhex(match[1] + match[2]).decode("utf-16-be")


def chunks(text: str) -> Iterator[Chunk]:
    """Yield the parts of a text that hold more than comments, each to be read by itself, as kubectl does.

    One that cannot be read takes none of those after it along.
    """
    begins = [match.start() for match in _SEPARATOR.finditer(text)]
    if not begins or begins[0] > 0:
        begins.insert(0, 0)
    line = 1
    for begin, end in zip(begins, [*begins[1:], len(text)], strict=True):
        part = text[begin:end]
        if _CONTENT.search(part):
            yield Chunk(part, line)
        line += part.count("\n")


class Variables:
    """The variables of one file, each with line and column of its first place."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._places: dict[str, tuple[int, int]] = {}

    def left_open(self, subject: Obj, chunk: Chunk) -> Obj:
        """Return an object in which the variables of a template are unknown."""
        if subject.unknown or not VARIABLE.search(chunk.text) or not (subject.has_pods or subject.kind in _KINDS):
            return subject
        tree, unknown, names = unrendered(subject.tree)
        if not names or (subject.group in _OF_CONTROLLERS and all(name.startswith(_BEGIN) for name in names)):
            return subject
        for name in names:
            if name not in self._places:
                self._places[name] = chunk.position(max(chunk.text.find(name), 0))
        return Obj(tree, subject.origin, unknown=unknown)

    def explain(self, error: NotReadable, chunk: Chunk) -> bool:
        """Return whether a variable makes a text unreadable, which is then reported with the others."""
        offset = _offset(chunk.text, error)
        if offset is not None:
            braced = VARIABLE.match(chunk.text, offset) if chunk.text.startswith("$", offset) else None
            self._places.setdefault(braced[0] if braced else f"{_BEGIN} {_END}", chunk.position(offset))
        return offset is not None

    @property
    def place(self) -> tuple[int, int]:
        """Line and column of the first one."""
        return min(self._places.values())

    @property
    def message(self) -> str:
        """What is reported of the file; empty without any."""
        names = [*self._places]
        if not names:
            return ""
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        tool = "helm template" if any(name.startswith(_BEGIN) for name in names) else "envsubst"
        shown = f"{', '.join(names[:_SHOWN])}{more}"
        return f"is a template that is not rendered ({shown}): check what `{tool}` makes of it, e.g. with -f -"


def _offset(text: str, error: NotReadable) -> int | None:
    """Return where the variable is that makes a text unreadable; None when it is something else."""
    begin = text.rfind("\n", 0, error.begin) + 1
    end = text.find("\n", error.offset)
    here = text.find(_BEGIN, begin, end if end >= 0 else len(text))
    if here >= 0:
        return here
    if braced := _IN_A_FLOW.search(text, begin, end if end >= 0 else len(text)):
        return braced.start(1)
    last = text.rfind(_BEGIN, 0, begin)
    if last < 0 or text.find(_END, last, begin) >= 0:  # it ended on a line that was read
        return None
    return last if _BEGINS_A_VALUE.match(text, text.rfind("\n", 0, last) + 1, last) else None
