"""docs/coverage: every row of the source documents, what does it, what proves that; and what each cited id asks for."""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from core.yaml import text as yaml_text
from toolkit.render.reference import markdown, tables
from toolkit.render.reference.coverage_data import (
    DOCUMENTS,
    FOLDER,
    VERDICTS,
    Document,
    Entry,
    proof_file,
    rows,
    sections,
)

LAYERS = ("unit", "engine", "cluster", "browser")
"""As pyproject.toml declares them; a test without a marker is a unit test."""
INTRODUCTION = """# Coverage

What the source documents require, row by row, and what of it is here. Each document has a page, and so have their
faults; ids are those of [sources](sources.md). Written from the files beside it by `make docs`; tests hold them to
the rows of the documents, and to the files, tests, criteria and rules that they name.

| verdict | meaning |
|---|---|
| done | files do all of it, and a test would fail without them |
| partly | files do a part of it, which a test proves; what is missing is said |
| site-file | `./hpc site render` writes it for whoever administers the site, tested; nothing here applies it |
| not | nothing does it; what would have to be there is said, and why it is not |
| out | nothing here can do it, or it asks for nothing |
"""
_DOCUMENT = """Generated from `{name}.yaml`; the [overview](README.md) explains the verdicts. `judged by` names
criteria of `./hpc verify` and policies; the layer of a test is `unit` (no cluster), `engine` (real programs) or
`cluster` (the simulated cluster)."""
_GAPS = (
    "Rows that are done in part or not at all; those that are out of reach are on the documents' pages with the reason."
)
_HEADS = ("id", "what it asks for", "verdict", "done by", "judged by", "proved by", "missing, or why; notes")
DATA, POLICIES = FOLDER / "sources.yaml", FOLDER / "policies.yaml"
_SOURCES = """# Sources

Fields named source, and the pages generated from them, cite the source of a demand, a figure or a limit by an id. This
page explains every cited id in our own words, by document. Which files meet a demand is in [coverage](README.md), and
which rules hold the suggested policies in [their coverage](policies.md). Written from `sources.yaml` and the
data of these two by `make docs`.
"""


def pages() -> dict[Path, str]:
    """Return the text of the pages, by their files."""
    lines = ((name, entry.asks, entry.verdict, entry.missing) for name, entry in rows() if entry.missing)
    gaps = markdown.table(("id", "what it asks for", "verdict", "missing"), lines)
    overview = "\n\n".join((INTRODUCTION.rstrip(), _summary(), f"## What is missing\n\n{_GAPS}\n\n{gaps}"))
    explained = "\n\n".join((_SOURCES.rstrip(), *map(_source, documents())))
    return {FOLDER / "README.md": overview + "\n", FOLDER / "sources.md": explained + "\n"} | {
        FOLDER / f"{document.name}.md": "\n\n".join(_page(document)) + "\n" for document in DOCUMENTS
    }


def counts(document: Document) -> Counter[str]:
    """Return the number of a document's rows by verdict."""
    return Counter(entry.verdict for section in sections(document.name).values() for entry in section.values())


def _summary() -> str:
    total: Counter[str] = Counter()
    lines = []
    for document in DOCUMENTS:
        document_counts = counts(document)
        total += document_counts
        lines.append((f"[{document.title}]({document.name}.md)", *_numbers(document_counts)))
    return markdown.table(("document", "rows", *VERDICTS), (*lines, ("together", *_numbers(total))))


def _numbers(counts: Counter[str]) -> tuple[str, ...]:
    return (str(counts.total()), *(str(counts[verdict]) for verdict in VERDICTS))


def _page(document: Document) -> Iterator[str]:
    yield f"# Coverage: {document.title}"
    yield _DOCUMENT.format(name=document.name)
    for title, section in sections(document.name).items():
        yield f"## {title}\n\n{markdown.table(_HEADS, (_row(*row) for row in section.items()))}"


def _row(name: str, entry: Entry) -> tuple[str, ...]:
    judged = (*entry.criteria, *(f"[{rule}](../reference/policies/{rule}.md)" for rule in entry.rules))
    proved = (
        f"[{proof}](../../{(file := proof_file(proof))}) ({', '.join(layers(tables.ROOT / file))})"
        for proof in entry.proof
    )
    notes = filter(None, (entry.missing, entry.why, entry.note))
    done = (f"[{file}](../../{file})" for file in entry.by)
    return name, entry.asks, entry.verdict, ", ".join(done), ", ".join(judged), ", ".join(proved), "; ".join(notes)


@cache
def layers(file: Path) -> tuple[str, ...]:
    """Return the layers of a file's tests, in the order of LAYERS; none for a file without tests."""
    tree = ast.parse(file.read_text())
    whole = {layer for node in tree.body if _is_pytestmark(node) for layer in _marked([node])}
    found = {layer for test in _tests(tree) for layer in whole | {*_marked(test.decorator_list)} or {"unit"}}
    return tuple(layer for layer in LAYERS if layer in found)


def _is_pytestmark(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and any(
        isinstance(target, ast.Name) and target.id == "pytestmark" for target in node.targets
    )


def _tests(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield node


def _marked(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in (one for root in nodes for one in ast.walk(root)):
        if isinstance(node, ast.Attribute) and node.attr in LAYERS:
            yield node.attr


class Source(NamedTuple):
    """A source: its title, what it is, and what its ids require."""

    title: str
    about: str
    rows: Mapping[str, str]


def documents() -> list[Source]:
    """Return the sources with their ids in natural order, those of the coverage pages among them."""
    explained = from_coverage()
    return [
        Source(document["title"], document["about"], _sorted(_of(letter, explained) | document["rows"]))
        for letter, document in yaml_text.read(DATA.read_text()).items()
    ]


def from_coverage() -> dict[str, str]:
    """Return what the data of the coverage pages require, by id."""
    policies: dict[str, dict[str, str]] = yaml_text.read(POLICIES.read_text())
    return {name: entry.asks for name, entry in rows()} | {name: entry["asks"] for name, entry in policies.items()}


def _source(document: Source) -> str:
    return f"## {document.title}\n\n{document.about}\n\n{markdown.table(('id', 'what'), document.rows.items())}"


def _of(letter: str, explained: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in explained.items() if name.startswith(f"{letter}-")}


def _sorted(rows: Mapping[str, str]) -> dict[str, str]:
    return dict(sorted(rows.items(), key=lambda row: markdown.natural(row[0])))
