"""Bytes to text, and text to the chunks between `---` lines, which are read one by one as kubectl does.

A chunk that cannot be read therefore does not take those after it along.
"""

import codecs
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from policies.manifests.documents import NotReadable

_SEPARATOR = re.compile(r"^---(?=[ \t\r\n]|\Z)", re.MULTILINE)
_CONTENT = re.compile(r"^(?!---(?:\s|\Z))[ \t]*[^\s#%]|^---[ \t]+[^\s#]", re.MULTILINE)
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
"""What YAML forbids, and byte order marks within a text, which this parser and that of Kubernetes read differently."""
_LINE_END = re.compile("\n")
_SURROGATES = re.compile(r"\\\\|\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


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
    """Yield the parts of a text that hold more than comments."""
    begins = [match.start() for match in _SEPARATOR.finditer(text)]
    if not begins or begins[0] > 0:
        begins.insert(0, 0)
    line = 1
    for begin, end in zip(begins, [*begins[1:], len(text)], strict=True):
        part = text[begin:end]
        if _CONTENT.search(part):
            yield Chunk(part, line)
        line += part.count("\n")
