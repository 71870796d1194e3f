"""docs/coverage.md: what of the source documents is declared or planned, and by which files."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from apis import yaml_text
from rendering.reference import markdown, tables

FOLDER = tables.ROOT / "docs"
DATA = FOLDER / "coverage.yaml"
INTRODUCTION = """# Coverage

What the source documents ask to be declared as resources or planned by calculation, and the files that do it; where
none does, or not all of it, the reason. Demands on policies are in [policies/coverage.md](policies/coverage.md).
Written from `coverage.yaml` by `make docs`.
"""


def data() -> dict[str, dict[str, dict[str, Any]]]:
    """Return the entries by title and id: `asks`, `by` (files, from the root) and `note`."""
    return dict(yaml_text.read(DATA.read_text()))


def pages() -> dict[Path, str]:
    """Return the text of the page, by its file."""
    entries = data()
    every = [entry for section in entries.values() for entry in section.values()]
    missing = sum(not entry.get("by") for entry in every)
    counted = f"{len(every)} rows; {len(every) - missing} with files, {missing} with a reason only."
    sections = (f"## {title}\n\n{_table(section)}" for title, section in entries.items())
    return {FOLDER / "coverage.md": "\n\n".join((INTRODUCTION.rstrip(), counted, *sections)) + "\n"}


def _table(section: Mapping[str, Mapping[str, Any]]) -> str:
    return markdown.table(("id", "what it asks for", "done by", "note"), _rows(section))


def _rows(section: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, ...]]:
    for name, entry in section.items():
        files = ", ".join(f"[{file}](../{file})" for file in entry.get("by", ()))
        yield name, entry["asks"], files, entry.get("note", "")
