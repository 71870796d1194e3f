"""docs/coverage.md: what of the source documents is declared, planned or verified, and by which files."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from apis import yaml_text
from evidence.criteria import COMPARISONS, CRITERIA
from rendering.reference import markdown, tables

FOLDER = tables.ROOT / "docs"
DATA = FOLDER / "coverage.yaml"
VERIFIED = FOLDER / "coverage-verified.yaml"
INTRODUCTION = """# Coverage

What the source documents require, and where it is; where nothing does it, or not all of it, the reason. Two parts: what
is [declared or planned](#declared-or-planned), and what is [verified](#verified). A row that requires both is in both.
Demands on policies are in [policies/coverage.md](policies/coverage.md). Written from `coverage.yaml` and
`coverage-verified.yaml` by `make docs`.
"""
_DECLARED = "Resources, and calculations; `done by` are files."
_TESTED = """The [criteria](criteria.md) are those of [`./hpc verify`](evidence.md); `read or tested by` are files that
read the evidence, or that test the row in another way: a rule before it runs, a wait, a command."""
Entry = Mapping[str, Any]
Section = Mapping[str, Entry]
Row = tuple[str, ...]


def data() -> dict[str, dict[str, dict[str, Any]]]:
    """Return what is declared or planned by title and id: `asks`, `by` (files, from the root) and `note`."""
    return dict(yaml_text.read(DATA.read_text()))


def verified() -> dict[str, dict[str, dict[str, Any]]]:
    """Return what is verified, likewise, with `criteria`: those named there, and those whose source is the row."""
    found = dict(yaml_text.read(VERIFIED.read_text()))
    for one in (*CRITERIA, *COMPARISONS):
        for section in found.values():
            for row in {*markdown.sources(one.source)} & section.keys():
                section[row]["criteria"] = [*dict.fromkeys([*section[row].get("criteria", ()), one.name])]
    return found


def pages() -> dict[Path, str]:
    """Return the text of the page, by its file."""
    declared, proven = data(), verified()
    parts = (
        INTRODUCTION.rstrip(),
        f"## Declared or planned\n\n{_DECLARED} {_counted(declared)}.",
        *_sections(declared, ("id", "requirement", "done by", "note"), _row),
        f"## Verified\n\n{_TESTED} {_counted(proven)}.",
        *_sections(proven, ("id", "requirement", "criteria", "read or tested by", "note"), _tested_row),
    )
    return {FOLDER / "coverage.md": "\n\n".join(parts) + "\n"}


def _counted(sections: Mapping[str, Section]) -> str:
    every = [entry for section in sections.values() for entry in section.values()]
    judged = sum("criteria" in entry for entry in every)
    held = sum("by" in entry and "criteria" not in entry for entry in every)
    summary = f"{judged} with criteria, {held} with files alone" if judged else f"{held} with files"
    return f"{len(every)} rows; {summary}, {len(every) - judged - held} with a reason only"


def _sections(sections: Mapping[str, Section], heads: Row, row: Callable[[str, Entry], Row]) -> Iterator[str]:
    for title, section in sections.items():
        rows = (row(name, entry) for name, entry in section.items())
        yield f"### {title}\n\n{markdown.table(heads, rows)}"


def _row(name: str, entry: Entry) -> Row:
    return name, entry["asks"], _files(entry), entry.get("note", "")


def _tested_row(name: str, entry: Entry) -> Row:
    return name, entry["asks"], ", ".join(entry.get("criteria", ())), _files(entry), entry.get("note", "")


def _files(entry: Entry) -> str:
    return ", ".join(f"[{file}](../{file})" for file in entry.get("by", ()))
