"""docs/coverage/sources.md: what each id asks for that fields of sources cite, by document."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from core.yaml import text as yaml_text
from toolkit.render.reference import coverage_data, markdown, tables

FOLDER = tables.ROOT / "docs" / "coverage"
DATA = FOLDER / "sources.yaml"
POLICIES = FOLDER / "policies.yaml"
INTRODUCTION = """# Sources

Fields named source, and the pages generated from them, cite the source of a demand, a figure or a limit by an id. This
page explains every cited id in our own words, by document. Which files meet a demand is in [coverage](README.md), and
which rules hold the suggested policies in [their coverage](policies.md). Written from `sources.yaml` and the
data of these two by `make docs`.
"""


class Document(NamedTuple):
    """A source: its title, what it is, and what its ids require."""

    title: str
    about: str
    rows: Mapping[str, str]


def documents() -> list[Document]:
    """Return the sources with their ids in natural order, those of the coverage pages among them."""
    explained = from_coverage()
    return [
        Document(document["title"], document["about"], _sorted(_of(letter, explained) | document["rows"]))
        for letter, document in yaml_text.read(DATA.read_text()).items()
    ]


def from_coverage() -> dict[str, str]:
    """Return what the data of the coverage pages require, by id."""
    policies: dict[str, dict[str, str]] = yaml_text.read(POLICIES.read_text())
    return {name: entry.asks for name, entry in coverage_data.rows()} | {
        name: entry["asks"] for name, entry in policies.items()
    }


def pages() -> dict[Path, str]:
    """Return the text of the page, by its file."""
    return {FOLDER / "sources.md": "\n\n".join((INTRODUCTION.rstrip(), *map(_section, documents()))) + "\n"}


def _section(document: Document) -> str:
    return f"## {document.title}\n\n{document.about}\n\n{markdown.table(('id', 'what'), document.rows.items())}"


def _of(letter: str, explained: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in explained.items() if name.startswith(f"{letter}-")}


def _sorted(rows: Mapping[str, str]) -> dict[str, str]:
    return dict(sorted(rows.items(), key=lambda row: markdown.natural(row[0])))
