"""The rooms: who may import whom."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.support.recorded import ROOT

ALLOWED = {
    "core": set(),
    "components": {"core"},
    "stacks": {"components", "core"},
    "policies": {"core"},
    "toolkit/engine": {"core"},
    "toolkit/datasets": {"core"},
    "toolkit/evidence": {"core"},
    "toolkit/review": {"policies", "toolkit/datasets", "core"},
    "toolkit/site": {"stacks", "core"},
    "toolkit/simulator": {"toolkit/engine", "policies", "core"},
    "toolkit/render": {"stacks", "components", "toolkit/evidence", "core"},
}
ROOMS = {*ALLOWED, "toolkit/cli", "tests", "bench"}
PRODUCT = sorted(ROOMS - {"tests", "bench"} | {"__main__.py"})
BELOW_TESTS = re.compile(r"(?:\./|\.\./)*/?tests(?:/.*|(?:\.\w+)+)?")
"""A text that as a whole is a path of tests/, or a module there; links inside of a longer text are none."""


def imported(room: str, others: set[str]) -> Iterator[tuple[str, str]]:
    """Yield each file of a room with those of the other rooms that it imports."""
    # Only what names one is parsed: that of every file takes half a second.
    modules = {other.replace("/", "."): other for other in others}
    named = re.compile(rf"\b(?:from|import)\b.*\b(?:{'|'.join(map(re.escape, modules))})\b")
    for file in sorted((ROOT / room).rglob("*.py")):
        text = file.read_text()
        for node in ast.walk(ast.parse(text)) if named.search(text) else ():
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            for name in names:
                for module, other in modules.items():
                    if f"{name}.".startswith(f"{module}."):
                        yield f"{file.relative_to(ROOT)}", other


@pytest.mark.parametrize("room", sorted(ALLOWED))
def test_imports_go_one_way(room: str) -> None:
    """A room imports only the rooms that it may."""
    wrong = [f"{file} imports {other}" for file, other in imported(room, ROOMS - ALLOWED[room] - {room})]
    assert wrong == []


def read_below_tests(text: str) -> Iterator[str]:
    """Yield the paths below tests/ and the modules of tests that a file names."""
    if "tests" not in text:
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and BELOW_TESTS.fullmatch(node.value):
            yield node.value
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "tests")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "tests":
            yield str(node.module)


@pytest.mark.parametrize("room", PRODUCT)
def test_the_product_reads_nothing_below_tests(room: str) -> None:
    """No file of the program, its policies or its command line imports a test or names a path of tests/."""
    files = [ROOT / room] if room.endswith(".py") else sorted((ROOT / room).rglob("*.py"))
    found = [f"{file.relative_to(ROOT)}: {name!r}" for file in files for name in read_below_tests(file.read_text())]
    assert found == [], "paths or modules of tests/; a text that is 'tests' alone counts as one: use another word"


@pytest.mark.parametrize(
    "text",
    [
        'ROOT / "tests" / "evidence"',
        'open("tests/toolkit/evidence/logs/a.log")',
        'ROOT.glob("tests/**/*.log")',
        "from tests.support import recorded",
        "import tests.support",
        'import_module("tests.support.recorded")',
    ],
)
def test_a_path_below_tests_is_found(text: str) -> None:
    """Paths as a whole or in parts, patterns and imports are found, and a link in a page's text is not."""
    assert [*read_below_tests(text)]
    assert [*read_below_tests('PAGE = "each has a test ([tests](../tests/README.md)); /opt/nccl-tests/build"')] == []


@pytest.mark.parametrize("room", sorted(ALLOWED))
def test_rooms_say_what_they_may_import(room: str) -> None:
    """The page of a room names exactly the rooms that it may import."""
    (line,) = re.findall(r"^May import: (.*)\.$", (ROOT / room / "README.md").read_text(), re.MULTILINE)
    assert set(re.findall(r"`([\w/]+)/`", line)) == ALLOWED[room]


@pytest.mark.parametrize("room", sorted(set(ALLOWED) - {"core", "stacks", "toolkit/simulator"}))
def test_rooms_that_reach_no_cluster_have_no_client(room: str) -> None:
    """Rules, evidence, reviews and components stay functions of their input."""
    client = re.compile(
        r"^\s*(?:import|from) (?:urllib3|requests|core\.apis\.(?:client|kubeconfig))\b"
        r"|from core\.apis import .*kubeconfig",
        re.M,
    )
    assert [str(file) for file in (ROOT / room).rglob("*.py") if client.search(file.read_text())] == []


def test_the_rooms_are_seen() -> None:
    """Imports between rooms are found."""
    assert any(imported("stacks", {"components"}))


def test_components_load_no_api_group_to_be_read() -> None:
    """Annotations of API groups are quoted: evaluating one loads the Kubernetes SDK, half a second."""
    bare = re.compile(r"(?:->|:) (?:list\[)?k8s\.\w+\.")
    files = sorted((ROOT / "components").rglob("*.py"))
    assert [file.name for file in files if bare.search(file.read_text())] == [], "quote these annotations"


def test_no_test_module_imports_another() -> None:
    """What modules of tests share is in tests/support or in a kit.py, and not in one of them."""
    line = re.compile(r"^\s*(?:from (tests[\w.]*) import (\([^)]*\)|.*)|import (tests[\w.]*))", re.MULTILINE)
    wrong = [
        f"{file.relative_to(ROOT)} imports {name}"
        for file in sorted((ROOT / "tests").rglob("*.py"))
        for found in line.findall(file.read_text())
        for name in re.findall(r"\btest_\w+", " ".join((*found[0].split("."), *found[1:])))
    ]
    assert wrong == []


COMMAND_LINE, SIMULATED = "toolkit/cli", "toolkit/cli/shared/simulated"


def test_one_folder_of_the_command_line_knows_the_simulator() -> None:
    """Beside `./hpc sim` itself only one folder of the command line imports the simulator, even in functions."""
    imports = {file for file, _ in imported(COMMAND_LINE, {"toolkit/simulator"})}
    assert {file for file in imports if not file.startswith(f"{SIMULATED}/")} == {f"{COMMAND_LINE}/sim.py"}


def test_that_folder_is_imported_when_a_function_needs_it() -> None:
    """No module imports that folder when it is imported itself: on a real cluster nothing of the simulator is."""
    wrong = [
        str(file.relative_to(ROOT))
        for file in sorted((ROOT / COMMAND_LINE).rglob("*.py"))
        if not file.is_relative_to(ROOT / SIMULATED) and file != ROOT / COMMAND_LINE / "sim.py"
        for name in _imported_at_once(ast.parse(file.read_text()).body)
        if f"{name}.".startswith("toolkit.cli.shared.simulated.")
    ]
    assert wrong == []


def _imported_at_once(statements: list[ast.stmt]) -> Iterator[str]:
    """Yield what statements import when their module is imported, not in functions or for type checkers alone."""
    for statement in statements:
        if isinstance(statement, ast.ImportFrom):
            yield from (f"{statement.module}.{alias.name}" for alias in statement.names)
        elif isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            checked = isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING"
            inner = [] if checked else [node for node in ast.iter_child_nodes(statement) if isinstance(node, ast.stmt)]
            yield from _imported_at_once(inner)
