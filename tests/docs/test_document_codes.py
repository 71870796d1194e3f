"""Codes of the source documents are in fields named source and in docs/coverage, and in no sentence."""

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from itertools import chain

import pytest
import yaml

from core.yaml import text as yaml_text
from tests.support.recorded import ROOT
from toolkit.render.reference import coverage

CODE = re.compile(
    r"(?<![\w.-])(?:[RSNDBEP]-\d+(?:\.\d+)*(?:-\d+)?[a-z]?|RD-\d[\d.]*|(?:platform|pulumi)-facts\s+(?:#\s+)?\d[\d.]*"
    r"|audit [A-Z]?\d+(?:\.\d+)*|today [a-z]\.\d+)(?![\w-])"
)
_FIELD = re.compile(r"(?:\w*_)?sources?", re.IGNORECASE)
"""Names of keywords, keys, columns and variables that hold sources."""
_LABEL = re.compile(r"^(?:- )?Sources?: .*$", re.MULTILINE)
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*$", re.MULTILINE)
_NO_PROSE = (".csv", ".log")
_ABOUT_CODES = ("docs/coverage", "tests/docs/")
"""Data and pages that explain the codes or count what follows them, and their tests."""

_ID = re.compile(r"(?<![\w-])(?:[RSNDBEP]-\d+(?:\.\d+)*(?:-\d+)?[a-z]?|platform-facts\s+\d+(?:\.\d+)?)(?![\w-])")
_FOLDERS = [path for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")]
_OWN = {"sources.md", "sources.yaml"}


def codes(path: str, text: str) -> list[str]:
    """Return the codes in a file's prose, in the order of their places, each with its line."""
    if not CODE.search(text):
        return []
    rest = prose(path, text)
    return [f"{path}:{rest.count(chr(10), 0, match.start()) + 1}: {match[0]}" for match in CODE.finditer(rest)]


def prose(path: str, text: str) -> str:
    """Return a file's text with its fields of sources blanked; of tests only comments and docstrings."""
    tests = path.startswith("tests/")
    if path.endswith(".py"):
        return _blanked(text, _python(text, tests=tests))
    if path.endswith((".yaml", ".yml")):
        return "\n".join(_COMMENT.findall(text)) if tests else _blanked(text, _yaml(text))
    return "\n".join(_cells(_LABEL.sub("", text).splitlines())) if path.endswith(".md") else text


def _blanked(text: str, spans: Iterator[tuple[int, int]]) -> str:
    letters = list(text)
    for start, end in spans:
        letters[start:end] = ("\n" if letter == "\n" else " " for letter in text[start:end])
    return "".join(letters)


def _python(text: str, *, tests: bool) -> Iterator[tuple[int, int]]:
    """Yield where values of sources are in Python, and of tests every string that is no docstring."""
    lines = text.splitlines(keepends=True)
    begins = [0]
    for line in lines:
        begins.append(begins[-1] + len(line))

    def place(line: int, column: int) -> int:
        return begins[line - 1] + len(lines[line - 1].encode()[:column].decode())

    tree = ast.parse(text)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        values = list(_values(node))
        if tests and isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in docstrings:
            values.append(node)
        for value in values:
            end = place(value.end_lineno or value.lineno, value.end_col_offset or value.col_offset)
            yield place(value.lineno, value.col_offset), end


def _values(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.keyword(arg=str(name), value=value) if _FIELD.fullmatch(name):
            yield value
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if _FIELD.fullmatch(name):
            yield value
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                if isinstance(key, ast.Constant) and _FIELD.fullmatch(str(key.value)):
                    yield value


def _yaml(text: str) -> Iterator[tuple[int, int]]:
    """Yield where values of keys named source are in YAML; comments beside them are prose."""
    nodes = [node for node in yaml.compose_all(text, Loader=yaml.CSafeLoader) if node]
    while nodes:
        node = nodes.pop()
        if isinstance(node, yaml.SequenceNode):
            nodes.extend(node.value)
        elif isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if not _FIELD.fullmatch(str(key.value)) or isinstance(value, yaml.MappingNode):
                    nodes.append(value)
                    continue
                for item in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                    yield item.start_mark.index, item.end_mark.index


def _cells(lines: list[str]) -> Iterator[str]:
    """Yield the lines of a page without the cells of tables below a head named source."""
    hidden: set[int] = set()
    within = False
    for line in lines:
        cells = re.split(r"(?<!\\)\|", line)
        if not within:
            hidden = {index for index, cell in enumerate(cells) if _FIELD.fullmatch(cell.strip())}
        within = line.startswith("|")
        yield "|".join(cell for index, cell in enumerate(cells) if index not in hidden)


def files() -> Iterator[str]:
    """Yield the files of the repository that have prose and are not about the codes themselves."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True)
    for name in filter(None, listed.stdout.split("\0")):
        if not name.startswith(_ABOUT_CODES) and not name.endswith(_NO_PROSE) and (ROOT / name).is_file():
            yield name


def test_no_sentence_has_a_code() -> None:
    """No comment, docstring, message, description or page has the code of a document."""
    texts = ((name, (ROOT / name).read_bytes().decode(errors="replace")) for name in files())
    wrong = [code for name, text in texts for code in codes(name, text)]
    assert wrong == [], "name the document in words, and write its code into a field named source or docs/coverage"


@pytest.mark.parametrize(
    ("path", "text", "planted"),
    [
        ("a.py", '"""Lift the limit (R-3.4.3-9)."""\n', ["a.py:1: R-3.4.3-9"]),
        ("a.py", "x = 1\n# As in E-17.\n", ["a.py:2: E-17"]),
        ("a.py", 'Field(description="S-7.3", source="S-7.4")\n', ["a.py:1: S-7.3"]),
        ("a.py", '_SOURCE = "D-3.3"\nRow(sources=("B-2.3", "N-1"), é={"source": "P-4"})\n', []),
        ("a.py", "# (platform-facts\n# 1.12)\n", ["a.py:1: platform-facts\n# 1.12"]),
        ("tests/a.py", 'def test() -> None:\n    """E-17."""\n    assert row("E-18")\n', ["tests/a.py:2: E-17"]),
        ("a.yaml", "source: S-4.1\nimage: x  # as in S-4.2\n", ["a.yaml:2: S-4.2"]),
        ("a.yaml", "rows: [{sources: [E-21, E-22], about: see E-23}]\n", ["a.yaml:1: E-23"]),
        ("a.yaml", "sources: {registry: x, about: see E-23}\n", ["a.yaml:1: E-23"]),
        (
            "a.md",
            "| name | source |\n|---|---|\n| E-21 | E-22 |\n\n| E-23 | E-24 |\n",
            ["a.md:3: E-21", "a.md:5: E-23", "a.md:5: E-24"],
        ),
        ("a.md", "- Source: E-21, E-22\n\nAs E-23 has it.\n", ["a.md:3: E-23"]),
        ("Containerfile", "# Perftest (N-5.3)\nFROM x\n", ["Containerfile:1: N-5.3"]),
        ("a.md", "DGX-1, UTF-8, HCA-1, REDP-5610, 1E-5 and today 16 GPUs\n", []),
    ],
)
def test_a_code_in_prose_is_named_with_its_place(path: str, text: str, planted: list[str]) -> None:
    """A code is found in every sort of prose, and not where it is a source."""
    assert codes(path, text) == planted


@cache
def explained() -> dict[str, str]:
    """Return the lines of the page by id."""
    return {name: text for document in coverage.documents() for name, text in document.rows.items()}


@cache
def cited() -> dict[str, str]:
    """Return the ids that are cited, each with a file; of parts of a row (E-13a) that of the row."""
    found: dict[str, str] = {}
    files = chain(ROOT.glob("*.*"), *(folder.rglob("*.*") for folder in _FOLDERS))
    for file in sorted(file for file in files if file.suffix in {".py", ".md", ".yaml"} and file.name not in _OWN):
        for name in map(_spaced, _ID.findall(file.read_text())):
            row = name if name in explained() else name.rstrip("abcdefghijklmnopqrstuvwxyz")
            found.setdefault(row, str(file.relative_to(ROOT)))
    return found


def _spaced(name: str) -> str:
    return " ".join(name.split())


def test_every_cited_id_is_explained() -> None:
    """An id that a reader meets anywhere in the repository has a line in docs/coverage/sources.md."""
    assert {name: file for name, file in cited().items() if name not in explained()} == {}, "add them to sources.yaml"


def test_every_explained_id_is_cited() -> None:
    """The page has no line that nothing refers to."""
    assert sorted(explained().keys() - cited().keys()) == []


def test_no_id_is_explained_twice() -> None:
    """An id that the coverage data explains is not explained in sources.yaml as well."""
    own = chain.from_iterable(one["rows"] for one in yaml_text.read(coverage.DATA.read_text()).values())
    assert sorted(set(own) & coverage.from_coverage().keys()) == []


def test_an_id_is_found_in_prose() -> None:
    """Ids are recognised beside punctuation and across lines, and product names are not taken for them."""
    assert _ID.findall("(R-3.4.3-2, E-19a; N-5.6a) P-4.") == ["R-3.4.3-2", "E-19a", "N-5.6a", "P-4"]
    assert _ID.findall("(platform-facts\n1.9)") == ["platform-facts\n1.9"]
    assert _ID.findall("DGX-1, UTF-8, HCA-1, REDP-5610") == []
