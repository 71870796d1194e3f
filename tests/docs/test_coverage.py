"""What of the source documents is accounted for."""

import re
from collections.abc import Iterator

import pytest

from rendering.reference import coverage
from tests.support.recorded import ROOT, SHARED

INVENTORY = SHARED / "reference" / "inventory.md"
ENTRIES = [(name, entry) for section in coverage.data().values() for name, entry in section.items()]
_ROW = re.compile(r"^\| ([RSNDB]-[\d.]+(?:-\d+)?[a-z]?) \|.*(?<!\\)\|([^|]*)\|$", re.MULTILINE)


def demanded() -> Iterator[str]:
    """Yield the rows of the inventory whose last column has one of the verbs; what is in brackets explains only."""
    for name, verbs in _ROW.findall(INVENTORY.read_text()):
        if re.search(r"\b(?:declare|plan)\b", re.sub(r"\([^()]*\)", "", verbs)):
            yield name


@pytest.mark.skipif(not INVENTORY.exists(), reason="the inventory is beside the checkout, not part of it")
def test_every_row_is_accounted_for() -> None:
    """Prevents a demand of the source documents from being forgotten without a word."""
    assert sorted(name for name, _ in ENTRIES) == sorted(demanded())


def test_no_row_is_there_twice() -> None:
    """Prevents an entry that YAML drops in silence, since the last of two equal keys wins."""
    written = re.findall(r"^  ([RSNDB]-[\d.]+\S*):", coverage.DATA.read_text(), re.MULTILINE)
    assert sorted(written) == sorted(name for name, _ in ENTRIES)
    assert len(written) == len(set(written))


def test_every_row_has_files_that_exist_or_a_reason() -> None:
    """Prevents a claim that nothing stands behind."""
    for name, entry in ENTRIES:
        assert entry.keys() <= {"asks", "by", "note"}, name
        assert entry["asks"], name
        assert entry.get("by") or entry.get("note"), name
        missing = [file for file in entry.get("by", ()) if not (ROOT / file).is_file()]
        assert missing == [], f"{name}: {missing}"
