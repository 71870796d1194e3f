"""What is installed for whom: requirements.txt alone runs the program, its policies and the command line."""

import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import NamedTuple

from tests.support.recorded import ROOT

NOT_PRODUCT = {"tests", "bench"}
OF_IMAGES = ROOT / "stacks/scripts"
"""What jobs run, by the packages of their images."""
OF_SIMULATION = ("toolkit/simulator/", "toolkit/evidence/report/")
_IMPORT = re.compile(r"^( *)(?:from ([\w.]+) import (\([^)]*\)|[^\n]*)|import ([\w.]+))", re.MULTILINE)
_PINNED = re.compile(r"^([\w.-]+)==", re.MULTILINE)


class Import(NamedTuple):
    """A module that a file imports, and whether that is when the file is loaded."""

    module: str
    at_once: bool


@cache
def imports(file: Path) -> tuple[Import, ...]:
    """Return what a file imports; of `from a import b` a, and a.b where that is a module of the repository."""
    return tuple(_imports(file.read_text()))


def _imports(text: str) -> Iterator[Import]:
    for indent, package, names, module in _IMPORT.findall(text):
        yield Import(package or module, not indent)
        for name in re.findall(r"\w+", names):
            if of_repository(f"{package}.{name}"):
                yield Import(f"{package}.{name}", not indent)


@cache
def of_repository(module: str) -> Path | None:
    """Return the file of a module of the repository."""
    path = ROOT / module.replace(".", "/")
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


def pinned(name: str) -> set[str]:
    """Return the packages of a file of requirements."""
    return {package.lower().replace("_", "-") for package in _PINNED.findall((ROOT / name).read_text())}


def product() -> list[Path]:
    """Return the files of the product's rooms."""
    rooms = (path for path in ROOT.iterdir() if path.name[0] != "." and path.name not in NOT_PRODUCT)
    files = (file for room in rooms if room.is_dir() for file in room.rglob("*.py"))
    return [ROOT / "__main__.py", *(file for file in files if file.parent != OF_IMAGES)]


def packages(modules: set[str]) -> dict[str, set[str]]:
    """Return the distributions that foreign modules may be from."""
    known = packages_distributions()
    tops = {module.split(".")[0] for module in modules}
    return {top: {one.lower().replace("_", "-") for one in known.get(top, ())} for top in tops if foreign(top)}


def foreign(top: str) -> bool:
    """Return whether a module is neither Python's nor the repository's."""
    return top not in sys.stdlib_module_names and not (ROOT / top).is_dir()


def test_requirements_alone_run_all_but_simulation_and_plots() -> None:
    """Whoever installs requirements.txt can run every command that neither simulates a cluster nor plots."""
    files = [file for file in product() if not str(file.relative_to(ROOT)).startswith(OF_SIMULATION)]
    reached = set(files)
    needed = {one.module for file in files for one in imports(file)}
    while files:
        loaded = {one.module for one in imports(files.pop()) if one.at_once}
        needed |= loaded
        new = {file for module in loaded if (file := of_repository(module))} - reached
        reached |= new
        files += new
    assert ROOT / "core" / "files.py" in reached
    assert {top: by for top, by in packages(needed).items() if not by & pinned("requirements.txt")} == {}


def test_product_needs_no_developer_tool() -> None:
    """Simulated clusters and plots run without what tests and linters need."""
    needed = {one.module for file in product() for one in imports(file)}
    available = pinned("requirements.txt") | pinned("requirements/sim.txt")
    assert {top: by for top, by in packages(needed).items() if not by & available} == {}


def test_files_of_requirements_agree() -> None:
    """A package has one version, whichever of the files name it."""
    versions: dict[str, set[str]] = {}
    for name in ("requirements.txt", "requirements/sim.txt", "requirements/dev.txt"):
        for package, version in re.findall(r"^([\w.-]+==\S+)(.*)$", (ROOT / name).read_text(), re.MULTILINE):
            if ";" not in version:
                versions.setdefault(package.split("==")[0], set()).add(package)
    assert {package: found for package, found in versions.items() if len(found) > 1} == {}


def test_project_is_described() -> None:
    """The project's metadata names existing files, a licence, and the version of its policies and changelog."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project.keys() >= {"name", "version", "description", "requires-python", "license"}
    assert [name for name in (project["readme"], *project["license-files"]) if not (ROOT / name).is_file()] == []
    assert f"\n## [{project['version']}] - " in (ROOT / "CHANGELOG.md").read_text()
    assert f"version: {project['version']}" in (ROOT / "policies" / "PulumiPolicy.yaml").read_text()
