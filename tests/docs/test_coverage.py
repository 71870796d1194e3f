"""Every row of the source documents is answered on the coverage pages, and by what exists."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import yaml

from policies.rules import RULES
from tests.support.recorded import OURS, ROOT
from toolkit.cli.site.files import of_stack
from toolkit.evidence.criteria import COMPARISONS, CRITERIA
from toolkit.render.reference import coverage, markdown
from toolkit.render.reference.coverage import layers
from toolkit.render.reference.coverage_data import DOCUMENTS, Document, Entry, proof_file, rows, sections

INVENTORY = Path(__file__).with_name("rows.yaml")
_DATA = {".csv", ".j2", ".sh", ".yaml"}
_NAMED = {".csv", ".yaml"}
"""Data that is known by its name without the ending, as machines and programs are."""
_PARSERS = ("toolkit", "evidence", "tools")
ALL_RULES, ALL_CRITERIA = "tests/policies/test_rules.py", "tests/toolkit/evidence/criteria/test_criteria.py"
"""Run the fixtures of every rule, and a good and a bad log of every criterion, so they are tests of each."""
ENTRIES = dict(rows())
CRITERION_SOURCES = {one.name: markdown.sources(one.source) for one in (*CRITERIA, *COMPARISONS)}
RULE_SOURCES = {rule.name: markdown.sources(rule.source) for rule in RULES}


def test_every_row_is_accounted_for() -> None:
    """Every row and every fault of the inventory has an entry, and no other has."""
    inventory = yaml.safe_load(INVENTORY.read_text())
    assert sorted(ENTRIES) == sorted(row for rows in inventory.values() for row in rows.split())


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_a_row_is_in_the_file_of_its_document(document: Document) -> None:
    """Each file has the rows of its document, in the order of their ids."""
    names = [name for section in sections(document.name).values() for name in section]
    assert {name for name in names if not name.startswith(f"{document.letter}-")} == set()
    assert len(names) == len(set(names)), "a row stands under two titles"


def test_named_files_exist() -> None:
    """Files and tests that an entry names exist, and the latter have tests."""
    missing = {
        name: gone
        for name, entry in ENTRIES.items()
        if (gone := [file for file in (*entry.by, *map(proof_file, entry.proof)) if not (ROOT / file).is_file()])
    }
    assert missing == {}
    tests = {proof_file(proof) for entry in ENTRIES.values() for proof in entry.proof}
    assert [file for file in sorted(tests) if not layers(ROOT / file)] == []


def test_named_criteria_and_rules_exist() -> None:
    """An entry names criteria and rules that exist."""
    wrong = {
        name: gone
        for name, entry in ENTRIES.items()
        if (gone := {*entry.criteria} - CRITERION_SOURCES.keys() | {*entry.rules} - RULE_SOURCES.keys())
    }
    assert wrong == {}


def test_criteria_and_rules_are_listed_with_their_rows() -> None:
    """A criterion, or a rule, is listed with every row that is its source, and that row is not out of reach."""
    criteria = _untold(CRITERION_SOURCES, {name: entry.criteria for name, entry in ENTRIES.items()})
    rules = _untold(RULE_SOURCES, {name: entry.rules for name, entry in ENTRIES.items()})
    assert [*criteria, *rules] == [], "add them in docs/coverage/"
    judged = {name for name, entry in ENTRIES.items() if (entry.criteria or entry.rules) and entry.verdict == "out"}
    assert judged == set()


def _untold(sources: dict[str, list[str]], listed: dict[str, tuple[str, ...]]) -> Iterator[tuple[str, str]]:
    for one, cited in sources.items():
        yield from ((row, one) for row in cited if row in listed and one not in listed[row])


def test_a_test_that_is_named_as_proof_is_about_the_row() -> None:
    """A proof names one of its tests, or a criterion, rule or data of the row, or tests or imports what does it."""
    loose = [(name, file) for name, entry in ENTRIES.items() for file in entry.proof if not tied(name, entry, file)]
    assert loose == [], "name the test that proves the row, as file::test"


def tied(name: str, entry: Entry, proof: str) -> bool:
    """Return whether a file of tests has to do with a row, or has the test that the row names."""
    file, _, test = proof.partition("::")
    if test:
        return test in defined(file)
    if (file == ALL_RULES and entry.rules) or (file == ALL_CRITERIA and entry.criteria):
        return True
    if file in {mirror(one) for one in entry.by}:
        return True
    text = (ROOT / file).read_text()
    data = [PurePosixPath(one) for one in entry.by if PurePosixPath(one).suffix in _DATA]
    stems = (one.stem for one in data if one.suffix in _NAMED)
    quoted = (name, *entry.criteria, *entry.rules, *stems, *(one.name for one in data))
    return any(f'"{one}"' in text for one in quoted) or not imported(file).isdisjoint(
        name for one in entry.by for name in modules(one)
    )


def mirror(file: str) -> str:
    """Return the place of the tests of a file: they mirror the tree."""
    path = PurePosixPath(file)
    return str("tests" / path.with_name(f"test_{path.name}"))


@cache
def defined(file: str) -> frozenset[str]:
    """Return the names of the functions of a file."""
    tree = ast.parse((ROOT / file).read_text())
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


@cache
def imported(file: str) -> frozenset[str]:
    """Return the modules that a file imports, as far as its text has them."""
    found = set()
    for node in ast.walk(ast.parse((ROOT / file).read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(found)


def modules(file: str) -> Iterator[str]:
    """Yield the module of a file, that of a package for its `__init__.py`, and the package of a parser's parts."""
    path = PurePosixPath(file.removesuffix(".py").removesuffix("/__init__"))
    yield ".".join(path.parts)
    if path.parts[:3] == _PARSERS and len(path.parts) > len(_PARSERS) + 1:
        yield ".".join(path.parts[:-1])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"verdict": "done", "by": ["a.py"]}, "done without proof"),
        ({"verdict": "done", "by": ["a.py"], "proof": ["t.py"], "missing": "half"}, "done with missing"),
        ({"verdict": "partly", "by": ["a.py"], "proof": ["t.py"]}, "partly without missing"),
        ({"verdict": "site-file", "by": ["a.py"]}, "site-file without proof"),
        ({"verdict": "not", "missing": "all"}, "not without why"),
        ({"verdict": "out", "missing": "all", "why": "so"}, "out with missing"),
    ],
)
def test_a_verdict_needs_its_reasons(given: dict[str, object], message: str) -> None:
    """A verdict without what it rests on, or with what contradicts it, is refused."""
    with pytest.raises(ValueError, match=message):
        Entry.model_validate({"asks": "something", **given})


@pytest.mark.parametrize(
    ("proof", "entry", "tie"),
    [
        ("fabric/test_bond.py::test_nothing", {"by": ["components/fabric/bond.py"]}, False),
        ("fabric/test_bond.py", {"by": ["components/fabric/bond.py"]}, True),
        ("fabric/test_bond.py", {"by": ["components/bonded.py", "components/__init__.py"]}, False),
        ("fabric/test_bond.py", {"criteria": ["bond-up"]}, False),
    ],
)
def test_proof_is_tied_by_test_name_or_import(proof: str, entry: dict[str, Any], tie: bool) -> None:
    """Neither a test that does not exist nor another module of the room ties a file of tests to a row."""
    loose = Entry.model_construct(asks="a", verdict="done", **entry)
    assert tied("X-1", loose, f"tests/components/{proof}") is tie


def test_layers_are_those_of_the_markers() -> None:
    """A file's layer is that of its markers, and unit without one."""
    assert layers(ROOT / "tests/components/fabric/test_bond.py") == ("unit",)
    assert layers(ROOT / "tests/cluster/test_redpaper.py") == ("cluster",)


def test_the_summary_counts_all_rows() -> None:
    """The numbers of the overview are those of the entries."""
    assert sum(coverage.counts(document).total() for document in DOCUMENTS) == len(ENTRIES)


@cache
def rendered() -> dict[str, str]:
    """Return the rows that files of any stack name as their sources, each with one of these files."""
    return {
        source: f"{stack}: {file.path}"
        for stack in OURS
        for file in of_stack(stack).files
        for source in file.sources
        if source in ENTRIES
    }


def test_rows_that_files_serve_name_what_writes_and_what_proves_them() -> None:
    """A row that a rendered file names as its source has a module of `toolkit/site/`, and a test of it."""
    wrong = {
        row: file
        for row, file in rendered().items()
        if not any(one.startswith("toolkit/site/") for one in ENTRIES[row].by)
        or not any(one.startswith("tests/toolkit/site/") for one in ENTRIES[row].proof)
    }
    assert wrong == {}, "add both in docs/coverage/, or take the row from the sources of the file"


def test_a_site_file_is_written_for_a_stack() -> None:
    """No row is called a site file that no stack has."""
    claimed = {row for row, entry in ENTRIES.items() if entry.verdict == "site-file"}
    assert sorted(claimed - rendered().keys()) == []
