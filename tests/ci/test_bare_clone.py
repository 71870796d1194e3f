"""A clone needs nothing beside it: no file of the repository reads a path outside of it.

Folders that the user or the system names (caches, homes, temporary files) are not meant: what is read there is written
by the program, or is the user's.
"""

import ast
import re
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Literal

import pytest

from tests.support.recorded import ROOT

Place = tuple[str, ...] | None
"""Segments of a path in the repository; None: outside of it."""

_PATH = re.compile(r"(?<![^\s\"'`=(,:)}])[^\s\"'`=(,:)}]*\.\./?[^\s\"'`),:}]*")
_BESIDE = re.compile(r"\.\./shared\b")
"""Reference material that its authors had beside the checkout."""
_SAME = {"resolve", "absolute"}
_RUN_IN_ROOT = ("Makefile", ".ci/", ".github/")
_BINARY = {".gz", ".png", ".zip", ".woff2"}


@cache
def _files() -> tuple[str, ...]:
    """Return the files of the repository, but this one, which has examples of what it refuses."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return tuple(name for name in listed if _is_text(ROOT / name) and not Path(__file__).samefile(ROOT / name))


def _is_text(file: Path) -> bool:
    return file.is_file() and file.suffix not in _BINARY


@cache
def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8", errors="replace")


@cache
def _constants() -> Mapping[str, Mapping[str, Place]]:
    """Return the paths that modules have as constants, by module and name."""
    constants: dict[str, dict[str, Place]] = {}
    for name in _files():
        if name.endswith(".py") and re.search(r"__file__|\bproject\.(?:FOLDER|PRODUCT)\b", _text(name)):
            module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            constants[module] = _assigned(ast.parse(_text(name)), name, {})
    return constants


def _assigned(tree: ast.Module, name: str, imported: Mapping[str, Place]) -> dict[str, Place]:
    paths = dict(imported)
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            value = _place(node.value, name, paths)
            if value is not False:
                paths[node.targets[0].id] = value
    return paths


def _imported(tree: ast.Module) -> dict[str, Place]:
    paths: dict[str, Place] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            constants = _constants().get(node.module, {})
            paths |= {
                alias.asname or alias.name: constants[alias.name] for alias in node.names if alias.name in constants
            }
    return paths


def _place(node: ast.expr, name: str, paths: Mapping[str, Place]) -> Place | Literal[False]:  # noqa: PLR0911
    """Return where an expression points to; False where that cannot be told from the text."""
    match node:
        case ast.Name(id=constant):
            return paths.get(constant, False)
        case ast.Call(func=ast.Name(id="Path" | "PurePath"), args=[ast.Name(id="__file__")]):
            return PurePosixPath(name).parts
        case ast.Attribute(value=ast.Name(id="project"), attr="FOLDER" | "PRODUCT"):
            return ()  # of core/project.py, in a checkout
        case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _SAME:
            return _place(inner, name, paths)
        case ast.Attribute(value=inner, attr="parent"):
            return _above(_place(inner, name, paths), 1)
        case ast.Subscript(value=ast.Attribute(value=inner, attr="parents"), slice=ast.Constant(value=int(number))):
            return _above(_place(inner, name, paths), number + 1)
        case ast.BinOp(left=inner, op=ast.Div(), right=right):
            place = _place(inner, name, paths)
            more = right.value if isinstance(right, ast.Constant) and isinstance(right.value, str) else "?"
            for segment in PurePosixPath(more).parts:
                if isinstance(place, tuple):
                    place = _above(place, 1) if segment == ".." else (*place, segment)
            return place
    return False


def _above(place: Place | Literal[False], levels: int) -> Place | Literal[False]:
    if not isinstance(place, tuple):
        return place
    return place[: len(place) - levels] if levels <= len(place) else None


def outside(name: str, text: str) -> Iterator[str]:
    """Yield the places of a file's text that lead out of the repository, each with its line."""
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if _BESIDE.search(line) or (".." in line and any(_leaves(name, match) for match in _PATH.finditer(line))):
            yield f"{name}:{number}: {line.strip()[:120]}"
    if name.endswith(".py") and re.search(r"\.parents?\b|\.\.", text):
        tree = ast.parse(text)
        paths = _assigned(tree, name, _imported(tree))
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute | ast.Subscript | ast.BinOp) and _place(node, name, paths) is None:
                yield f"{name}:{node.lineno}: {lines[node.lineno - 1].strip()[:120]}"


def _leaves(name: str, match: re.Match[str]) -> bool:
    """Return whether a relative path in a text goes above the repository's root, from the file's own folder."""
    path, before = match[0], match.string[: match.start()]
    # What a shell computes is taken for the file's own folder.
    computed = path.startswith("$") or (path.startswith("/") and before.endswith((")", "}", ')"')))
    if path.startswith(("/", "~")) and not computed:
        return False
    depth = (
        0
        if name.startswith(_RUN_IN_ROOT) and not name.endswith(".md") and not computed
        else len(PurePosixPath(name).parent.parts)
    )
    for segment in PurePosixPath(path.partition("/")[2] if computed else path).parts:
        depth += -1 if segment == ".." else 1
        if depth < 0:
            return True
    return False


def test_no_file_reads_a_path_outside_the_repository() -> None:
    """No file of the repository reads a path outside of it."""
    places = [place for name in _files() for place in outside(name, _text(name))]
    assert places == [], (
        "what a test or the program needs is committed, or fetched by a checksum (toolkit/engine/tools/data.py)"
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tests/a/test_b.py", 'FILE = Path(__file__).parents[3] / "x"'),
        ("tests/a/test_b.py", "FILE = Path(__file__).resolve().parent.parent.parent.parent"),
        ("tests/a/test_b.py", 'from toolkit.cli.shared.paths import ROOT\n\nFILE = ROOT.parent / "x"'),
        ("tests/a/test_b.py", 'from tests.support.recorded import ROOT\n\n\ndef f():\n    return ROOT / ".." / "x"'),
        ("tests/a/test_b.py", 'HERE = Path(__file__).parent\nFILE = HERE / "../../../x"'),
        ("tests/a/test_b.py", 'open("../shared/x")'),
        ("Makefile", "x:\n\tcat ../x/y"),
        (".github/workflows/a.yml", "run: cp ../x ."),
        (".ci/run", 'cd "$(dirname "$0")/../.."'),
        ("stacks/a.yaml", "file: ../../x"),
    ],
)
def test_a_path_outside_is_recognized(name: str, text: str) -> None:
    """A path above the root is recognized, whether it is computed or written."""
    assert list(outside(name, text)) != []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tests/a/test_b.py", 'FILE = Path(__file__).parents[2] / "x"'),
        ("tests/a/test_b.py", 'from toolkit.cli.shared.paths import ROOT\n\nFILE = (ROOT / "a" / "b").parent'),
        ("tests/a/test_b.py", "FILE = tmp_path.parent"),
        (".ci/run", 'cd "$(dirname "$0")/.."'),
        ("stacks/a.yaml", "file: ../x"),
        ("policies/a.yaml", "path: /var/lib/../../../etc"),
    ],
)
def test_a_path_inside_is_none(name: str, text: str) -> None:
    """A path in the repository is not reported, nor one that nobody can know, nor one of another machine."""
    assert list(outside(name, text)) == []
