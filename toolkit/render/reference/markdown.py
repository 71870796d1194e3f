"""Pieces of Markdown, and the ids in fields of sources."""

import re
from collections.abc import Iterable, Sequence

from core import wording

_RANGE = r"(?: to (?:[RSNDBE]-\d[\d.]*(?:-\d+)?|-\d+))?"
_ID = rf"\b(?:[RSNDB]-\d[\d.]*\d(?:-\d+)?[a-z]?{_RANGE}|[RSNDB]-\d+{_RANGE}|E-\d+[a-z]?|platform-facts \d+(?:\.\d+)?)"
_SOURCE = re.compile(_ID)
_CONSTANTS = re.compile(r"\b(?:None|True|False)\b")
_YAML = {"None": "`null`", "True": "`true`", "False": "`false`"}
_NUMBERS = re.compile(r"(\d+)")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; cells may have line breaks and bars."""
    return wording.table(heads, ([cell(text) for text in row] for row in rows))


def cell(text: str) -> str:
    """Return text escaped for a table's cell."""
    return prose(text).replace("|", "\\|").replace("\n", " ")


def prose(text: str) -> str:
    """Return a docstring or a description as Markdown: no HTML, and Python's constants as YAML has them."""
    parts = text.split("`")
    parts[::2] = (_CONSTANTS.sub(lambda match: _YAML[match[0]], part.replace("<", "\\<")) for part in parts[::2])
    return "`".join(parts)


def anchor(heading: str) -> str:
    """Return the fragment by which a heading of words is linked."""
    return re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-")


def sources(*texts: str) -> list[str]:
    """Return the ids of source rows in the texts, each once, in their natural order."""
    ids = {match.group() for text in texts for match in _SOURCE.finditer(text)}
    return sorted(ids, key=natural)


def natural(name: str) -> list[int | str]:
    """Return the key by which ids are sorted naturally: 2 before 10."""
    return [int(part) if part.isdecimal() else part for part in _NUMBERS.split(name)]


def flowing(text: str) -> str:
    """Return paragraphs of a docstring, each in one line."""
    paragraphs = re.split(r"\n\s*\n", text.strip())
    return prose("\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs))
