"""Commands, options, targets, modules and links on pages exist."""

import re
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup
from typer.main import get_group

from tests.support.recorded import ROOT
from toolkit.cli.app import app
from toolkit.render.reference import markdown

PAGES = sorted(
    {
        path
        for pages in ("*.md", "*/README.md", "*/*/README.md", "docs/*.md", "docs/*/*.md")
        for path in ROOT.glob(pages)
    }
)
_COMMAND = re.compile(r"\./hpc ([^`\n#|>)]*)")
_OPTION = re.compile(r"--?[a-z][a-z-]*")
_MAKE = re.compile(r"\bmake((?: +[A-Za-z][\w=.]*)+)")
_MODULE = re.compile(r"\bpython3? -m ([\w.]+)([^`\n]*)")
_LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)")
_CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
PASSED_ON = {"pulumi"}
OF_ALL = {"--help", "--version"}
"""Options of `./hpc` itself."""


@cache
def command(*names: str) -> Any:
    """Return a command or a subcommand of `./hpc`; None where it does not exist."""
    group: Any = get_group(app) if len(names) == 1 else command(*names[:-1])
    return group.get_command(None, names[-1])


def faults(line: str) -> list[str]:
    """Return the words of a command line that name no command and no option."""
    words = line.split()
    if words and words[0] in OF_ALL:
        return words[1:]
    found = command(words[0]) if words else None
    if found is None:
        return words[:1]
    if isinstance(found, TyperGroup) and words[1:] and not words[1].startswith("-"):
        found = command(*words[:2])
        if found is None:
            return [words[1]]
    known = {"--help", *(name for one in found.params for name in (*one.opts, *one.secondary_opts))}
    return [word for word in words[1:] if _OPTION.fullmatch(word) and word not in known and words[0] not in PASSED_ON]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_are_those_that_exist(page: Path) -> None:
    """Every command on a page exists, with its options."""
    lines = _COMMAND.findall(page.read_text())
    assert {line: wrong for line in lines if (wrong := faults(line))} == {}


@cache
def targets() -> frozenset[str]:
    """Return the targets of the Makefile."""
    return frozenset(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def absent(text: str) -> Iterator[str]:
    """Yield what a page's code has of targets of make, modules and paths of tests that do not exist."""
    for code in _CODE.findall(text):
        for words in _MAKE.findall(re.sub(r" #.*", "", code)):
            yield from (f"make {word}" for word in words.split() if "=" not in word and word not in targets())
        for module, arguments in _MODULE.findall(code):
            if find_spec(module) is None:
                yield f"python -m {module}"
            paths = re.findall(r"\btests/[\w/.]+", arguments)
            yield from (path for path in paths if not (ROOT / path).exists())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_targets_and_modules_are_those_that_exist(page: Path) -> None:
    """Every target of make, module and path of a test in a page's code exists."""
    assert [*absent(page.read_text())] == []


def test_every_command_is_listed() -> None:
    """The page of commands names every command, and every one of a group."""
    lines = (ROOT / "docs" / "reference" / "commands.md").read_text().splitlines()
    rows = [re.findall(r"[\w-]+", line.split(" | ")[0]) for line in lines if line.startswith("| `./hpc ")]
    group: Any = get_group(app)
    for name in group.list_commands(None):
        words = {word for row in rows if row[1:2] == [name] for word in row[1:]}
        assert {name, *getattr(command(name), "commands", ())} <= words, name


def test_what_does_not_exist_is_found() -> None:
    """Unknown commands, subcommands, options, targets, modules and paths are found."""
    assert faults("verify -f LOG --against 3") == ["--against"]
    assert (faults("--version"), faults("--verson")) == ([], ["--verson"])
    page = "`make up tests STACK=dev`, `python -m bench.speed` and `python3 -m pytest -q tests/doc -k a`; make sense"
    assert [*absent(page)] == ["make tests", "python -m bench.speed", "tests/doc"]
    assert (faults("scc explian -f POD"), faults("verifi"), faults("sim up --raise -x")) == (
        ["explian"],
        ["verifi"],
        ["-x"],
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """Every link leads to an existing file and heading."""
    for target, fragment in _LINK.findall(_CODE.sub("", page.read_text())):
        file = page.parent / target if target else page
        assert file.exists(), target
        if fragment and file.suffix == ".md":
            headings = {markdown.anchor(line.lstrip("# ")) for line in file.read_text().splitlines() if line[:1] == "#"}
            assert fragment in headings, f"{target}#{fragment}"


def test_every_page_is_in_the_index() -> None:
    """The index of the documentation has a row for every page of the guide, of the reference and of the decisions."""
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / target).resolve() for target, _ in _LINK.findall(index.read_text())}
    parts = ("guide", "reference", "decisions")
    assert {page.name for part in parts for page in (index.parent / part).glob("*.md") if page not in linked} == set()


def test_the_guide_names_every_example() -> None:
    """The table of first-stack.md says of each example for which cluster it is, and names no other."""
    page = (ROOT / "docs" / "guide" / "first-stack.md").read_text()
    rows = re.findall(r"^\| [^|]+ \| (`.+) \|$", page.partition("## Examples")[2].partition("\n## ")[0], re.MULTILINE)
    named = [name for row in rows[1:] for name in re.findall(r"`([^`]+)`", row)]
    assert sorted(named) == sorted(path.stem for path in (ROOT / "stacks" / "examples").glob("*.yaml"))
