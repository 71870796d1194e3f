"""Every demand of the source documents is answered on the coverage page."""

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

import pytest

from evidence.criteria import COMPARISONS, CRITERIA
from rendering.reference import coverage, markdown
from tests.support.recorded import ROOT, SHARED

INVENTORY = SHARED / "reference" / "inventory.md"
_ROW = re.compile(r"^\| ([RSNDB]-[\d.]+(?:-\d+)?[a-z]?) \|.*(?<!\\)\|([^|]*)\|$", re.MULTILINE)
SOURCES = {one.name: one.source for one in (*CRITERIA, *COMPARISONS)}


class Part(NamedTuple):
    """A part of the page: its file, its verbs in the inventory, its fields, and its entries."""

    file: str
    verbs: str
    fields: frozenset[str]
    sections: Mapping[str, Mapping[str, Mapping[str, Any]]]

    @property
    def entries(self) -> list[tuple[str, Mapping[str, Any]]]:
        """Return rows with their entries."""
        return list(chain.from_iterable(section.items() for section in self.sections.values()))


_FIELDS = frozenset({"asks", "by", "note"})
DECLARED = Part(coverage.DATA.name, "declare|plan", _FIELDS, coverage.data())
_DATA = re.compile(r"R-(?:5\.3|5\.4)-")
_OPERATED = "operate|render|out"
"""Verbs of the rows on data, which commands do; in other chapters these are the user's work."""
VERIFIED = Part(coverage.VERIFIED.name, "verify", _FIELDS | {"criteria"}, coverage.verified())
PARTS = pytest.mark.parametrize("part", [DECLARED, VERIFIED], ids=lambda part: part.file)


def demanded(verbs: str) -> Iterator[str]:
    """Yield the rows of the inventory whose last column has one of the verbs; what is in brackets explains only."""
    for name, words in _ROW.findall(INVENTORY.read_text()):
        everything = f"|{_OPERATED}" if _DATA.match(name) and verbs == DECLARED.verbs else ""
        if re.search(rf"\b(?:{verbs}{everything})\b", re.sub(r"\([^()]*\)", "", words)):
            yield name


@pytest.mark.skipif(not INVENTORY.exists(), reason="the inventory is beside the checkout, not part of it")
@PARTS
def test_every_row_is_accounted_for(part: Part) -> None:
    """Every row of the inventory that asks for a declaration or a verification has an entry, and no other has."""
    assert sorted(name for name, _ in part.entries) == sorted(demanded(part.verbs))


@PARTS
def test_no_row_is_there_twice(part: Part) -> None:
    """No key is written twice: YAML keeps the last of two equal keys silently."""
    written = re.findall(r"^  ([RSNDB]-[\d.]+\S*):", (coverage.FOLDER / part.file).read_text(), re.MULTILINE)
    assert sorted(written) == sorted(name for name, _ in part.entries)
    assert len(written) == len(set(written))


@PARTS
def test_every_row_has_files_that_exist_or_a_reason(part: Part) -> None:
    """An entry names what the row asks for, and existing files or a reason."""
    for name, entry in part.entries:
        assert entry.keys() <= part.fields, name
        assert entry["asks"], name
        assert entry.get("by") or entry.get("note"), name
        missing = [file for file in entry.get("by", ()) if not (ROOT / file).is_file()]
        assert missing == [], f"{name}: {missing}"


def test_criteria_are_those_that_exist() -> None:
    """An entry names criteria that exist."""
    named = {name: set(entry.get("criteria", ())) for name, entry in VERIFIED.entries}
    assert {name: gone for name, criteria in named.items() if (gone := criteria - SOURCES.keys())} == {}


def test_criteria_are_listed_with_their_rows() -> None:
    """A criterion is listed with every row that it names as its source."""
    named = {name: set(entry.get("criteria", ())) for name, entry in VERIFIED.entries}
    untold = [
        (row, criterion)
        for criterion, source in SOURCES.items()
        for row in markdown.sources(source)
        if row in named and criterion not in named[row]
    ]
    assert untold == [], f"add them to {VERIFIED.file}"
